"""Cells of work, each a Spark job of one task, whose results the driver keeps as soon as they are there.

So executors need no disk in common, a run that is stopped loses only the cells that were running, and a cell that kills
its worker fails alone.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from uuid import uuid4

from topicloom._version import __version__
from topicloom.model import InputError
from topicloom.pipeline.grids.sweep_watch import SweepStopped, SweepWatch
from topicloom.pipeline.spark.session import in_one_line
from topicloom.pipeline.spark.settings import is_on_this_machine

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

# On a cluster at least so many cells wait at Spark's door: one that grows on demand must see the demand.
_LEAST_JOBS = 16
_LOOK_SECONDS = 0.1


class Costly(Protocol):
    """Something to run; its cost is compared with that of others, to tell how long all will take."""

    @property
    def cost(self) -> int:
        """What it may cost."""


C = TypeVar("C", bound=Costly)
R = TypeVar("R")
# What a task calls: it gets what was sent to the executors for it, None where nothing was.
Work = Callable[[Any], R]


class Sent:
    """Things that were sent to the executors, each once for all cells that need it."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._sent: dict[Hashable, Broadcast[Any]] = {}
        self._sending = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Broadcast[Any]:
        """What was sent under that key; made and sent now where it is the first time."""
        with self._sending:
            if key not in self._sent:
                self._sent[key] = self._context.broadcast(make())
            return self._sent[key]

    def forget(self) -> None:
        """Let executors forget all."""
        for broadcast in self._sent.values():
            broadcast.destroy()


class Jobs(Generic[C, R]):
    """How cells are run and kept.

    Args:
        work: the function that a cell's task calls, to be sent to an executor.
        failed: the result of a cell that gave nothing but an error.
        keep: called with each cell and its result, one at a time.
        send: what the tasks of a cell need besides, by a key that cells may share, and how it is made.
    """

    def __init__(
        self,
        work: Callable[[C], Work[R]],
        failed: Callable[[str], R],
        keep: Callable[[C, R], None],
        send: Callable[[C], tuple[Hashable, Callable[[], Any]] | None] = lambda cell: None,
    ) -> None:
        self._work = work
        self._failed = failed
        self._keep = keep
        self._send = send

    def run(self, context: SparkContext, cells: Sequence[C], watch: SweepWatch) -> None:
        """Run all cells, in their order as far as cores are free."""
        tag, sent = f"topicloom-{uuid4().hex}", Sent(context)
        watch.begin(sum(cell.cost for cell in cells))
        with ThreadPoolExecutor(_jobs_at_once(context), thread_name_prefix="cells") as pool:
            running = {pool.submit(self._run_one, context, cell, tag, sent, watch): cell for cell in cells}
            try:
                while running:
                    self._keep_finished(running, watch)
                    if watch.stopped:
                        raise SweepStopped("asked to stop")
            finally:
                for future in running:
                    future.cancel()
                with suppress(Exception):  # Spark may be gone, and then there is nothing to end
                    context.cancelJobsWithTag(tag)
                    sent.forget()

    def _keep_finished(self, running: dict[Future[R], C], watch: SweepWatch) -> None:
        finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            cell = running.pop(future)
            # Stopping cancels jobs, which is not their failure.
            if future.cancelled() or (watch.stopped and future.exception() is not None):
                continue
            self._keep(cell, future.result())
            watch.cell_done(cell.cost)

    def _run_one(self, context: SparkContext, cell: C, tag: str, sent: Sent, watch: SweepWatch) -> R:
        """Run a cell and wait for it; called from many threads."""
        from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        needs = self._send(cell)
        broadcast = sent.get(*needs) if needs is not None else None
        work, failed = self._work(cell), self._failed
        context.addJobTag(tag)
        # An RDD and no Arrow: what goes there and comes back is one small object.
        job = context.parallelize([0], 1).map(lambda _: _in_executor(work, failed, broadcast, __version__))
        if watch.stopped:
            raise SweepStopped
        try:
            result: R = job.collect()[0]
        except (Py4JJavaError, PySparkException) as error:
            if watch.stopped:
                raise SweepStopped from None
            return self._failed(_why_lost(context, error))
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


def _in_executor(work: Work[R], failed: Callable[[str], R], sent: Broadcast[Any] | None, version: str) -> R:
    """Run a cell; this is the task."""
    # Ctrl-C at a terminal reaches workers on the same machine too; the driver decides what it means.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if version != __version__:
        return failed(f"the executor has topicloom {__version__} and the driver {version}")
    try:
        return work(None if sent is None else sent.value)
    except InputError as error:
        return failed(str(error))
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}")
