"""Running what is left of a grid: each cell a Spark job of one task, whose rows the driver keeps at once.

So executors need no disk in common, a run that is stopped loses only the cells that were running, and a cell that kills
its worker fails alone.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.pipeline.grids.cell import Cell, keep
from topicloom.pipeline.grids.grid import Grid
from topicloom.pipeline.grids.grid_watch import GridStopped, GridWatch
from topicloom.pipeline.spark.session import in_one_line
from topicloom.pipeline.spark.settings import is_on_this_machine

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import SparkSession

# On a cluster at least so many cells wait at Spark's door: one that grows on demand must see the demand.
_LEAST_JOBS = 16
_LOOK_SECONDS = 0.1

# What a task calls with its cell and what was sent to the executors for it, None where nothing was.
Work = Callable[[Cell, Any], pa.Table]
# What the task of a cell needs besides: a key that cells may share, and how it is made.
Send = Callable[[Cell], tuple[Hashable, Callable[[], Any]] | None]


def run_grid(
    spark: SparkSession, grid: Grid, work: Work, watch: GridWatch, send: Send = lambda cell: None
) -> dict[Cell, str]:
    """Run the pending cells, in their order as far as cores are free, and keep the rows of each.

    Gives the errors of those that failed. A stop by the watch raises `GridStopped`.
    """
    if not grid.pending:
        return {}
    try:
        grid.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=grid.folder) from None
    context, errors = spark.sparkContext, dict[Cell, str]()
    jobs = _Jobs(context, work, send, watch)
    watch.begin(sum(cell.cost for cell in grid.pending))
    with ThreadPoolExecutor(_jobs_at_once(context), thread_name_prefix="cells") as pool:
        running = {pool.submit(jobs.run, cell): cell for cell in grid.pending}
        try:
            while running:
                for cell, result in _finished(running, watch):
                    if isinstance(result, str):
                        errors[cell] = " ".join(result.split())
                    else:
                        keep(grid.folder, cell, result)
                    watch.cell_done(cell.cost)
                if watch.stopped:
                    raise GridStopped("asked to stop")
        finally:
            for future in running:
                future.cancel()
            jobs.end()
    return errors


def _finished(running: dict[Future[pa.Table | str], Cell], watch: GridWatch) -> Iterator[tuple[Cell, pa.Table | str]]:
    """Take out the cells that ended since the last look, with their rows or why they failed."""
    ended, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
    for future in ended:
        cell = running.pop(future)
        # Stopping cancels jobs, which is not their failure.
        if not (future.cancelled() or (watch.stopped and future.exception() is not None)):
            yield cell, future.result()


class _Jobs:
    """Runs cells, called from many threads, and knows what was sent to the executors: each thing once."""

    def __init__(self, context: SparkContext, work: Work, send: Send, watch: GridWatch) -> None:
        self._context, self._work, self._send, self._watch = context, work, send, watch
        self._tag = f"topicloom-{uuid4().hex}"
        self._sent: dict[Hashable, Broadcast[Any]] = {}
        self._sending = threading.Lock()

    def run(self, cell: Cell) -> pa.Table | str:
        """Run a cell and wait for it; its rows, or why it failed."""
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        work, sent = self._work, self._needed(cell)
        self._context.addJobTag(self._tag)
        # An RDD and no Arrow: what goes there and comes back is one small object.
        job = self._context.parallelize([0], 1).map(lambda _: _in_executor(work, cell, sent, __version__))
        if self._watch.stopped:
            raise GridStopped
        try:
            result: pa.Table | str = job.collect()[0]
        except (Py4JJavaError, PySparkException) as error:
            if self._watch.stopped:
                raise GridStopped from None
            return _why_lost(self._context, error)
        except (Py4JError, OSError):
            raise InputError(_SPARK_ENDED) from None
        return result

    def end(self) -> None:
        """Cancel what runs, and let executors forget what was sent."""
        with suppress(Exception):  # Spark may be gone, and then there is nothing to end
            self._context.cancelJobsWithTag(self._tag)
            for broadcast in self._sent.values():
                broadcast.destroy()

    def _needed(self, cell: Cell) -> Broadcast[Any] | None:
        needs = self._send(cell)
        if needs is None:
            return None
        key, make = needs
        with self._sending:
            if key not in self._sent:
                self._sent[key] = self._context.broadcast(make())
            return self._sent[key]


_SPARK_ENDED = "Spark ended before all cells were done; run it again to go on"


def _jobs_at_once(context: SparkContext) -> int:
    cores = context.defaultParallelism
    # One more than can run, so that cores do not wait for us. More would take their turns out of order.
    return cores + 1 if is_on_this_machine(context.master or "") else max(_LEAST_JOBS, 2 * cores)


def _why_lost(context: SparkContext, error: Exception) -> str:
    """Why Spark could not finish a task; an error here where that is not the cell's fault."""
    if context._jsc is None or context._jsc.sc().isStopped():
        raise InputError(_SPARK_ENDED) from None
    text = str(error)
    missing = re.search(r"No module named '[^']+'", text)
    if missing:
        raise InputError(f"the executors lack a library: {missing[0]}; see docs/cluster.md") from None
    if "worker exited unexpectedly" in text or "ExecutorLostFailure" in text:
        return "the process that ran it died, most likely for want of memory"
    return in_one_line(error)


def _in_executor(work: Work, cell: Cell, sent: Broadcast[Any] | None, version: str) -> pa.Table | str:
    """Run a cell; this is the task."""
    # Ctrl-C at a terminal reaches workers on the same machine too; the driver decides what it means.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if version != __version__:
        return f"the executor has topicloom {__version__} and the driver {version}"
    try:
        return work(cell, None if sent is None else sent.value)
    except InputError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
