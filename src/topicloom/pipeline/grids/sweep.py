"""Sweeps: a grid of workloads, designers, parameters and seeds, each cell one Spark task.

A task runs the same designer and measures as everybody else. Its numbers come back to the driver, which keeps each
cell as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.model import InputError, Interest
from topicloom.pipeline.grids.jobs import Jobs
from topicloom.pipeline.grids.sweep_cells import FOLDER, Outcome, failed, keep, kept, run_cell
from topicloom.pipeline.grids.sweep_plan import RESULTS, Plan, PlannedCell, plan_sweep, read_workload
from topicloom.pipeline.grids.sweep_spec import Cell, read_spec
from topicloom.pipeline.grids.sweep_table import results_table, write_results
from topicloom.pipeline.grids.sweep_watch import SweepWatch
from topicloom.workloads import synthetic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Sweep:
    """What a sweep came to: how many cells it has, how many of them ran this time, and failed; and its table."""

    cells: int
    ran: int
    failed: int
    results: Path
    table: pa.Table


def sweep(spark: SparkSession, spec: Path, out: Path, *, watch: SweepWatch | None = None) -> Sweep:
    """Run the cells of a spec that the folder `out` does not hold yet, then write its `results.parquet`.

    Cells that failed before run again. The same spec gives the same table but for `seconds`. `watch` lets another
    thread see how far it is, or stop it, which raises `SweepStopped` here.
    """
    plan = plan_sweep(read_spec(spec), out)
    run_pending(spark, plan, watch or SweepWatch())
    return finish(plan)


def finish(plan: Plan) -> Sweep:
    """Put the cells, which all have run, together in one table and write it."""
    rows = []
    for planned in plan.cells:
        outcome = kept(plan.out, planned.key)
        if outcome is None:
            raise InputError(f"{plan.out / FOLDER}: {planned.key}.json is gone; run the sweep again")
        rows.append((planned.cell, outcome))
    table = results_table(rows)
    path = plan.out / RESULTS
    write_results(path, table, plan.spec.text)
    return Sweep(len(rows), len(plan.pending), sum(outcome.error is not None for _, outcome in rows), path, table)


def run_pending(spark: SparkSession, plan: Plan, watch: SweepWatch) -> None:
    """Run the cells that are still to run and keep each of them as soon as it is done."""
    if not plan.pending:
        return
    (plan.out / FOLDER).mkdir(parents=True, exist_ok=True)

    def keep_one(planned: PlannedCell, outcome: Outcome) -> None:
        keep(plan.out, planned.cell, planned.fingerprint, outcome)

    jobs = Jobs(lambda planned: partial(_in_executor, planned.cell), failed, keep_one, _needed)
    jobs.run(spark.sparkContext, plan.pending, watch)


def _needed(planned: PlannedCell) -> tuple[Hashable, Callable[[], Interest]] | None:
    """The interest that a cell's executor needs, as it may not see the file; None where it is drawn there."""
    workload = planned.cell.workload
    if workload.synthetic is not None:
        return None

    def read() -> Interest:
        interest = read_workload(workload)
        if interest.fingerprint != planned.fingerprint:
            raise InputError(f"{workload.path}: has changed since the sweep began; run it again")
        return interest

    return workload, read


def _in_executor(cell: Cell, interest: Interest | None) -> Outcome:
    """Run a cell; this is the task."""
    if interest is None:
        assert cell.workload.synthetic is not None
        parameters: dict[str, Any] = dict(cell.workload.synthetic)
        interest = synthetic(**parameters)
    return run_cell(cell, interest)
