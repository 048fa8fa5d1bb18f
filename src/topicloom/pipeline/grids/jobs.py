"""Running what is left of a grid: each cell a Spark job of one task, whose rows the driver keeps at once.

So executors need no disk in common, a run that is stopped loses only the cells that were running, and a cell that kills
its worker fails alone.
"""

from __future__ import annotations

import gc
import re
import signal
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from queue import Empty, PriorityQueue, SimpleQueue
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


class NeedError(InputError):
    """What some cells need cannot be made: they fail, and no others."""


def run_grid(
    spark: SparkSession, grid: Grid, work: Work, watch: GridWatch, send: Send = lambda cell: None
) -> dict[Cell, str]:
    """Run the pending cells, in their order as far as cores are free, and keep the rows of each.

    What some of them need is made meanwhile, one thing after the other, and may run on Spark, too. Gives the errors of
    those that failed. A stop by the watch raises `GridStopped`.
    """
    if not grid.pending:
        return {}
    try:
        grid.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=grid.folder) from None
    context, errors, left = spark.sparkContext, dict[Cell, str](), len(grid.pending)
    watch.begin(sum(cell.cost for cell in grid.pending))
    with (
        ThreadPoolExecutor(_jobs_at_once(context), thread_name_prefix="cells") as pool,
        ThreadPoolExecutor(1, thread_name_prefix="needs") as maker,
    ):
        jobs = _Jobs(context, work, watch, pool)
        try:
            jobs.begin(grid.pending, send, maker)
            while left:
                for cell, result in jobs.ended():
                    left -= 1
                    if isinstance(result, str):
                        errors[cell] = " ".join(result.split())
                    else:
                        keep(grid.folder, cell, result)
                    watch.cell_done(cell.cost)
                if watch.stopped:
                    raise GridStopped("asked to stop")
        finally:
            jobs.end()
    return errors


class _Jobs:
    """Runs cells, the first of those that have what they need, and knows what was sent to the executors."""

    def __init__(self, context: SparkContext, work: Work, watch: GridWatch, pool: ThreadPoolExecutor) -> None:
        self._context, self._work, self._watch, self._pool = context, work, watch, pool
        self._tag = f"topicloom-{uuid4().hex}"
        self._over = False
        self._sent: list[Broadcast[Any]] = []
        self._ready: PriorityQueue[tuple[int, Cell, Future[Broadcast[Any]] | None]] = PriorityQueue()
        self._ended: SimpleQueue[Future[tuple[Cell, pa.Table | str]]] = SimpleQueue()

    def begin(self, cells: Sequence[Cell], send: Send, maker: ThreadPoolExecutor) -> None:
        """Let cells run that need nothing, and others once that is made, which happens meanwhile, each thing once."""
        waiting: dict[Hashable, tuple[Callable[[], Any], list[tuple[int, Cell]]]] = {}
        for order, cell in enumerate(cells):
            needs = send(cell)
            if needs is None:
                self._let_run([(order, cell)], None)
            else:
                key, make = needs
                waiting.setdefault(key, (make, []))[1].append((order, cell))
        for make, needing in waiting.values():
            maker.submit(self._make, make).add_done_callback(partial(self._let_run, needing))

    def ended(self) -> Iterator[tuple[Cell, pa.Table | str]]:
        """Cells that ended since the last look, after a moment of waiting: their rows, or why they failed."""
        with suppress(Empty):
            future = self._ended.get(timeout=_LOOK_SECONDS)
            while True:
                # Stopping cancels jobs, which is not their failure.
                if not (self._watch.stopped and future.exception() is not None):
                    yield future.result()
                future = self._ended.get_nowait()

    def end(self) -> None:
        """Cancel what runs, and let executors forget what was sent."""
        self._over = True
        with suppress(Exception):  # Spark may be gone, and then there is nothing to end
            self._context.cancelJobsWithTag(self._tag)
            for broadcast in self._sent:
                broadcast.destroy()

    def _make(self, make: Callable[[], Any]) -> Broadcast[Any]:
        self._require_going_on()
        self._context.addJobTag(self._tag)
        sent = self._context.broadcast(make())
        self._sent.append(sent)
        return sent

    def _let_run(self, cells: Sequence[tuple[int, Cell]], sent: Future[Broadcast[Any]] | None) -> None:
        for order, cell in cells:
            self._ready.put((order, cell, sent))
            self._pool.submit(self._run_next).add_done_callback(self._ended.put)

    def _run_next(self) -> tuple[Cell, pa.Table | str]:
        _, cell, sent = self._ready.get()
        self._require_going_on()
        try:
            return cell, self._run(cell, None if sent is None else sent.result())
        except NeedError as error:
            return cell, str(error)

    def _require_going_on(self) -> None:
        if self._over or self._watch.stopped:
            raise GridStopped

    def _run(self, cell: Cell, sent: Broadcast[Any] | None) -> pa.Table | str:
        """Run a cell and wait for it; its rows, or why it failed."""
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        work = self._work
        self._context.addJobTag(self._tag)
        # An RDD and no Arrow: what goes there and comes back is one small object.
        job = self._context.parallelize([0], 1).map(lambda _: _in_executor(work, cell, sent, __version__))
        self._require_going_on()
        try:
            result: pa.Table | str = job.collect()[0]
        except (Py4JJavaError, PySparkException) as error:
            if self._watch.stopped:
                raise GridStopped from None
            return _why_lost(self._context, error)
        except (Py4JError, OSError):
            raise InputError(_SPARK_ENDED) from None
        return result


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
    finally:
        _spare_collecting()


@cache
def _spare_collecting() -> None:
    """Take what a worker has imported and compiled for its first cell out of garbage collection.

    Spark collects all garbage of a worker after each task. With numba and Arrow loaded that takes longer than a small
    cell: 60 cells of 30 nodes took 2.3 times the processor time without this.
    """
    gc.collect()
    gc.freeze()
