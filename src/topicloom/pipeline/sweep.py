"""Sweeps: a grid of workloads, designers, parameters and seeds, each cell one Spark task.

A task runs the same designer and measures as everybody else. Its numbers come back to the driver, which keeps each
cell as soon as it is there; so executors need no disk in common, and a sweep that is stopped loses only the cells
that were running.
"""

from __future__ import annotations

import re
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from topicloom._version import __version__
from topicloom.model import InputError, Interest
from topicloom.pipeline.session import in_one_line
from topicloom.pipeline.settings import is_on_this_machine
from topicloom.pipeline.sweep_cells import FOLDER, Outcome, failed, keep, kept, run_cell
from topicloom.pipeline.sweep_plan import RESULTS, Plan, PlannedCell, plan_sweep, read_workload
from topicloom.pipeline.sweep_spec import Cell, Workload, read_spec
from topicloom.pipeline.sweep_table import results_table, write_results
from topicloom.pipeline.sweep_watch import SweepStopped, SweepWatch
from topicloom.workloads import synthetic

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import SparkSession

# On a cluster at least so many cells wait at Spark's door: one that grows on demand must see the demand.
_LEAST_JOBS = 16
_LOOK_SECONDS = 0.1


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
    context = spark.sparkContext
    jobs = _Jobs(context, watch)
    watch.begin(sum(planned.cost for planned in plan.pending))
    with ThreadPoolExecutor(_jobs_at_once(context), thread_name_prefix="sweep") as pool:
        running = {pool.submit(jobs.run, planned): planned for planned in plan.pending}
        try:
            while running:
                _keep_finished(running, plan, watch)
                if watch.stopped:
                    raise SweepStopped("the sweep was asked to stop")
        finally:
            for future in running:
                future.cancel()
            jobs.end()


def _jobs_at_once(context: SparkContext) -> int:
    cores = context.defaultParallelism
    # One more than can run, so that cores do not wait for us. More would take their turns out of order.
    return cores + 1 if is_on_this_machine(context.master or "") else max(_LEAST_JOBS, 2 * cores)


def _keep_finished(running: dict[Future[Outcome], PlannedCell], plan: Plan, watch: SweepWatch) -> None:
    finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
    for future in finished:
        planned = running.pop(future)
        # Stopping cancels jobs, which is not their failure.
        if future.cancelled() or (watch.stopped and future.exception() is not None):
            continue
        keep(plan.out, planned.cell, planned.fingerprint, future.result())
        watch.cell_done(planned.cost)


class _Jobs:
    """Runs cells, each as a job of one task: a cell that kills its worker then fails alone."""

    def __init__(self, context: SparkContext, watch: SweepWatch) -> None:
        self._context = context
        self._watch = watch
        self._tag = f"topicloom-sweep-{uuid4().hex}"
        self._sent: dict[Workload, Broadcast[Interest]] = {}
        self._sending = threading.Lock()

    def run(self, planned: PlannedCell) -> Outcome:
        """Run a cell and wait for it; called from many threads."""
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        cell = planned.cell
        interest = self._send(planned) if cell.workload.synthetic is None else None
        self._context.addJobTag(self._tag)
        # An RDD and no Arrow: what goes there and comes back is one small object.
        job = self._context.parallelize([cell], 1).map(lambda cell: _in_executor(cell, interest, __version__))
        if self._watch.stopped:
            raise SweepStopped
        try:
            outcome: Outcome = job.collect()[0]
        except (Py4JJavaError, PySparkException) as error:
            return self._lost(error)
        except (Py4JError, OSError):
            raise InputError("Spark ended before the sweep did; run it again to go on") from None
        return outcome

    def end(self) -> None:
        """Cancel what still runs, and let executors forget the interests."""
        with suppress(Exception):  # Spark may be gone, and then there is nothing to end
            self._context.cancelJobsWithTag(self._tag)
            for broadcast in self._sent.values():
                broadcast.destroy()

    def _send(self, planned: PlannedCell) -> Broadcast[Interest]:
        """Send an interest to the executors, which may not see the file; once for all its cells."""
        workload = planned.cell.workload
        with self._sending:
            if workload not in self._sent:
                interest = read_workload(workload)
                if interest.fingerprint != planned.fingerprint:
                    raise InputError(f"{workload.path}: has changed since the sweep began; run it again")
                self._sent[workload] = self._context.broadcast(interest)
            return self._sent[workload]

    def _lost(self, error: Exception) -> Outcome:
        """The outcome of a cell whose task Spark could not finish; an error where that is not the cell's fault."""
        if self._watch.stopped:
            raise SweepStopped from None
        if self._context._jsc is None or self._context._jsc.sc().isStopped():
            raise InputError("Spark ended before the sweep did; run it again to go on") from None
        text = str(error)
        missing = re.search(r"No module named '[^']+'", text)
        if missing:
            raise InputError(f"the executors lack a library: {missing[0]}; see docs/cluster.md") from None
        if "worker exited unexpectedly" in text or "ExecutorLostFailure" in text:
            return failed("the process that ran it died, most likely for want of memory")
        return failed(in_one_line(error))


def _in_executor(cell: Cell, sent: Broadcast[Interest] | None, version: str) -> Outcome:
    """Run a cell; this is the task."""
    # Ctrl-C at a terminal reaches workers on the same machine too; the driver decides what it means.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if version != __version__:
        return failed(f"the executor has topicloom {__version__} and the driver {version}")
    if sent is not None:
        return run_cell(cell, sent.value)
    assert cell.workload.synthetic is not None
    parameters: dict[str, Any] = dict(cell.workload.synthetic)
    try:
        interest = synthetic(**parameters)
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")
    return run_cell(cell, interest)
