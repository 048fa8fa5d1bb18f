"""What is left to do of some figures, and doing it on Spark."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.experiments.cells import FOLDER, Cell, keep, kept, with_parameters
from topicloom.experiments.figure import Figure
from topicloom.experiments.graph_samples import Graphs
from topicloom.experiments.runs.registry import run_cell
from topicloom.model import InputError, Interest
from topicloom.pipeline.grids.jobs import Jobs
from topicloom.pipeline.grids.sweep_watch import SweepWatch

# Its type is pyspark's, which only the pipeline imports.
SparkSession = Any


@dataclass(frozen=True)
class Plan:
    """Figures before they run: the cells of each, by its id, and those still to run, the longest first."""

    figures: tuple[Figure, ...]
    folder: Path
    graphs: Graphs
    cells: Mapping[str, tuple[Cell, ...]]
    pending: tuple[Cell, ...]


def plan_figures(figures: Sequence[Figure], folder: Path, graphs: Graphs) -> Plan:
    """Find which cells are still to run. Writes nothing."""
    cells = {figure.id: tuple(_cell(figure, graphs, each) for each in figure.cells) for figure in figures}
    unique = dict.fromkeys(cell for each in cells.values() for cell in each)
    pending = [cell for cell in unique if kept(folder, cell) is None]
    # So that no long one is left over when the others are done. Sorting keeps the order of equals.
    pending.sort(key=lambda cell: -cell.cost)
    return Plan(tuple(figures), folder, graphs, cells, tuple(pending))


def run_pending(
    spark: SparkSession, plan: Plan, watch: SweepWatch, progress: Callable[[str], None] = lambda _: None
) -> dict[Cell, str]:
    """Run what is left, samples of social graphs first, and keep the rows of each cell as soon as they are there.

    Gives the errors of the cells that failed.
    """
    try:
        (plan.folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{plan.folder}: cannot be written ({error.strerror})") from None
    errors: dict[Cell, str] = {}
    for sample in dict.fromkeys(_sample(cell) for cell in plan.pending if cell.fingerprint is not None):
        try:
            plan.graphs.prepare(spark, dict(sample), progress)
        except InputError as error:
            # The graph's fault, and no other figure's.
            errors |= {cell: str(error) for cell in plan.pending if cell.fingerprint and _sample(cell) == sample}

    def keep_one(cell: Cell, result: pa.Table | str) -> None:
        if isinstance(result, str):
            errors[cell] = " ".join(result.split())
        else:
            keep(plan.folder, cell, result)

    def needed(cell: Cell) -> tuple[Hashable, Callable[[], Interest]] | None:
        if cell.fingerprint is None:
            return None
        sample = _sample(cell)
        return sample, lambda: plan.graphs.interest(dict(sample))

    def work(cell: Cell) -> Callable[[Interest | None], pa.Table]:
        return partial(run_cell, cell.run, dict(cell.parameters))

    jobs: Jobs[Cell, pa.Table | str] = Jobs(work, str, keep_one, needed)
    jobs.run(spark.sparkContext, [cell for cell in plan.pending if cell not in errors], watch)
    return errors


def rows_of(plan: Plan, figure: Figure) -> pa.Table:
    """All rows of a figure, with their parameters, in the order of its cells; cells that failed have none."""
    kept_rows = ((cell, kept(plan.folder, cell)) for cell in plan.cells[figure.id])
    tables = [with_parameters(cell, rows) for cell, rows in kept_rows if rows is not None]
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def _cell(figure: Figure, graphs: Graphs, parameters: Any) -> Cell:
    graph = dict(parameters).get("graph")
    return Cell(figure.run, parameters, None if graph is None else graphs.fingerprint(str(graph)))


def _sample(cell: Cell) -> tuple[tuple[str, Any], ...]:
    """What decides which part of a graph a cell runs on."""
    return tuple((name, value) for name, value in cell.parameters if name in ("graph", "nodes", "seed"))
