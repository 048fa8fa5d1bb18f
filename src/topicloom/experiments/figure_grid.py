"""Figures as a grid: their cells, running what is left of them, and the rows that a figure is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.experiments.figure import Figure, Parameters
from topicloom.experiments.graph_samples import Graphs
from topicloom.experiments.runs import run_cell
from topicloom.model import Interest
from topicloom.spark.grid import FOLDER, Cell, Grid, GridWatch, NeedError, kept, plan_grid, run_grid

# Its type is pyspark's, which only the pipeline imports.
SparkSession = Any


@dataclass(frozen=True)
class PlannedFigures:
    """Figures before they run, and the cells of each, by its id."""

    figures: tuple[Figure, ...]
    folder: Path
    graphs: Graphs
    cells: Mapping[str, tuple[Cell, ...]]
    grid: Grid


def plan_figures(figures: Sequence[Figure], folder: Path, graphs: Graphs) -> PlannedFigures:
    """Find which cells are still to run. Writes nothing."""
    cells = {figure.id: tuple(_cell(figure, graphs, each) for each in figure.cells) for figure in figures}
    grid = plan_grid((cell for each in cells.values() for cell in each), folder / FOLDER)
    return PlannedFigures(tuple(figures), folder, graphs, cells, grid)


def run_figures(
    spark: SparkSession, plan: PlannedFigures, watch: GridWatch, progress: Callable[[str], None] = lambda _: None
) -> dict[Cell, str]:
    """Run what is left, make samples of social graphs meanwhile, and keep the rows of each cell as soon as it has any.

    Gives the errors of the cells that failed.
    """

    def needed(cell: Cell) -> tuple[Hashable, Callable[[], Interest]] | None:
        return None if cell.fingerprint is None else (_sample(cell), lambda: made(cell))

    def made(cell: Cell) -> Interest:
        try:
            plan.graphs.prepare(spark, cell.parameters, lambda step: progress(f"runs; {step}"))
            return plan.graphs.interest(cell.parameters)
        except InputError as error:
            # The graph's fault, and no other figure's.
            raise NeedError(str(error)) from None
        finally:
            progress("runs")

    progress("runs")
    return run_grid(spark, plan.grid, run_cell, watch, needed)


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
    rows = kept(plan.grid.folder, cell)
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
