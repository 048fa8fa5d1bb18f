"""Figures as cells: those still to run, running them on Spark, and the rows that a figure is drawn from.

The rows of a cell that is done are one Arrow file, named after a hash of all that they depend on and written whole. So
a reproduction that was stopped goes on where it was, and figures of one folder share cells.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from topicloom.errors import InputError
from topicloom.experiments.figure import Figure, Parameters
from topicloom.experiments.graph_samples import Graphs
from topicloom.experiments.runs import run_cell
from topicloom.io.whole import replacing
from topicloom.model import Interest
from topicloom.spark.cells import FOLDER, Cell, GridStopped, GridWatch, run_cells
from topicloom.spark.shared import WITH_A_CELL_BYTES, Shared, shared

# Its type is pyspark's, which only the pipeline imports.
SparkSession = Any


@dataclass(frozen=True)
class PlannedFigures:
    """Figures before they run, and the cells of each, by its id."""

    figures: tuple[Figure, ...]
    folder: Path
    graphs: Graphs
    cells: Mapping[str, tuple[Cell, ...]]

    @property
    def all_cells(self) -> tuple[Cell, ...]:
        """The cells of all figures, each once."""
        return tuple(dict.fromkeys(cell for cells in self.cells.values() for cell in cells))

    @cached_property
    def pending(self) -> tuple[Cell, ...]:
        """Cells that had no rows when this was first asked: those that need no graph first, then the longest first."""
        lacking = [cell for cell in self.all_cells if self.rows_of(cell) is None]
        return tuple(sorted(lacking, key=lambda cell: (cell.fingerprint is not None, -cell.cost)))

    def rows_of(self, cell: Cell) -> pa.Table | None:
        """The rows of a cell; None if it has none, or a damaged file."""
        try:
            with pa.OSFile(str(self._file(cell))) as source:
                return pa.ipc.open_file(source).read_all()
        except (OSError, pa.ArrowException):
            return None

    def keep(self, done: Sequence[tuple[Cell, pa.Table]]) -> None:
        """Keep the rows of some cells."""
        for cell, rows in done:
            with (
                replacing(self._file(cell)) as temporary,
                pa.OSFile(str(temporary), "wb") as sink,
                pa.ipc.new_file(sink, rows.schema) as writer,
            ):
                writer.write_table(rows)

    def _file(self, cell: Cell) -> Path:
        return self.folder / FOLDER / f"{cell.key}.arrow"


def plan_figures(figures: Sequence[Figure], folder: Path, graphs: Graphs) -> PlannedFigures:
    """Find the cells of figures. Writes nothing."""
    cells = {figure.id: tuple(_cell(figure, graphs, each) for each in figure.cells) for figure in figures}
    return PlannedFigures(tuple(figures), folder, graphs, cells)


def run_figures(
    spark: SparkSession, plan: PlannedFigures, watch: GridWatch, progress: Callable[[str], None] = lambda _: None
) -> dict[Cell, str]:
    """Run what is left and keep its rows; samples of social graphs are made when the first cell needs them.

    Returns the errors of the cells that failed.
    """
    try:
        (plan.folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=plan.folder) from None
    lock, samples = threading.Lock(), dict[Any, "Shared[Interest] | InputError"]()

    def task(cell: Cell) -> Callable[[], pa.Table]:
        if cell.fingerprint is None:
            return partial(run_cell, cell, None)
        with lock:
            if watch.stopped:
                raise GridStopped("asked to stop")
            if _sample(cell) not in samples:
                samples[_sample(cell)] = made(cell)
            found = samples[_sample(cell)]
        if isinstance(found, InputError):
            raise found
        return partial(_run_on, cell, found)

    def made(cell: Cell) -> Shared[Interest] | InputError:
        try:
            plan.graphs.prepare(spark, cell.parameters, lambda step: progress(f"runs; {step}"))
            return stack.enter_context(shared(spark, plan.graphs.interest(cell.parameters), WITH_A_CELL_BYTES))
        except InputError as error:
            return error
        finally:
            progress("runs")

    progress("runs")
    with ExitStack() as stack:
        return run_cells(spark, plan.pending, task, plan.keep, watch)


def _run_on(cell: Cell, sent: Shared[Interest]) -> pa.Table:
    return run_cell(cell, sent.value)


def rows_of(plan: PlannedFigures, figure: Figure) -> dict[str, pa.Table]:
    """All rows of a figure under each of its readings, with their parameters, in the order of its cells.

    Where readings have names, a column `reading` tells them. Cells that failed have no rows.
    """
    found = {pairs: _rows(plan, cell) for pairs, cell in zip(figure.cells, plan.cells[figure.id], strict=True)}
    return {
        reading.name: _joined([rows for pairs in reading.cells if (rows := found[pairs]) is not None], reading.name)
        for reading in figure.readings
    }


def _rows(plan: PlannedFigures, cell: Cell) -> pa.Table | None:
    rows = plan.rows_of(cell)
    return None if rows is None else with_parameters(cell, rows)


def _joined(tables: Sequence[pa.Table], reading: str) -> pa.Table:
    rows = pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
    return rows.append_column("reading", pa.array([reading] * len(rows), pa.string())) if reading else rows


def with_parameters(cell: Cell, rows: pa.Table) -> pa.Table:
    """The rows with the parameters and `repetition` beside them."""
    for name, value in beside(cell, rows.column_names).items():
        rows = rows.append_column(name, pa.array([value] * len(rows)))
    return rows


def beside(cell: Cell, results: Collection[str]) -> dict[str, Any]:
    """What stands beside these results: the parameters, as `parameter_NAME` where a result has that name, and
    `repetition`. A result that has even that name stays."""
    named = {f"parameter_{name}" if name in results else name: value for name, value in cell.parameters.items()}
    others = {name: value for name, value in named.items() if name not in results}
    return {**others, "repetition": cell.parameters["seed"]}


def _cell(figure: Figure, graphs: Graphs, pairs: Parameters) -> Cell:
    parameters: dict[str, Any] = dict(pairs)
    graph = parameters.get("graph")
    # About what it costs: designers look at pairs of nodes, maintainers at all nodes in every round. Distributions cost
    # nothing but a sample, for which others should not wait.
    size = 1 if figure.run == "ccdf" else int(parameters.get("nodes") or parameters.get("users") or 1)
    cost = size * (size + 100 * int(parameters.get("rounds", 0)))
    return Cell(figure.run, parameters, None if graph is None else graphs.fingerprint(graph), cost)


def _sample(cell: Cell) -> tuple[tuple[str, Any], ...]:
    """What decides which part of a graph a cell runs on."""
    deciding = ("graph", "nodes", "seed", "order", "followers")
    return tuple((name, value) for name, value in cell.parameters.items() if name in deciding)
