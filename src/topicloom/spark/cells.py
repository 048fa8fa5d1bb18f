"""Many independent runs on Spark: each cell a job of one task, whose row is kept as soon as it is done.

Cells run side by side, in the order given, from a few threads. The rows of those that ended meanwhile are appended to
a table together, so a table on any file system gets few small files, and a process that is killed loses the cells that
were running and those of the last moment. A cell that fails, or kills its worker, fails alone.
"""

from __future__ import annotations

import gc
import hashlib
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.registry import Stopped
from topicloom.spark.session import in_one_line, is_on_this_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Where cells that are done are kept, in the folder of what they make.
FOLDER = "cells"
# The first cells to end may differ from the others; below this share of all cost there is no estimate.
_TELLING_SHARE = 0.05
# Least number of jobs at once on a cluster: one that grows on demand must see the demand.
_LEAST_JOBS = 16
_LOOK_SECONDS = 0.1
_SPARK_ENDED = "Spark ended before all cells were done; run it again to go on"


@dataclass(frozen=True, eq=False)
class Cell:
    """A run by its name, and its parameters, as JSON can hold them. Cells of equal keys are equal.

    `fingerprint` is that of what is sent along with it, such as an interest from a file. `cost` is compared with that
    of others, to tell how long all will take.
    """

    run: str
    parameters: Mapping[str, Any]
    fingerprint: str | None = None
    cost: int = 1

    @cached_property
    def key(self) -> str:
        """A hash of what the rows depend on. numpy is in it as its random numbers may change with its version."""
        described = {
            "run": self.run,
            "parameters": self.parameters,
            "fingerprint": self.fingerprint,
            "topicloom": __version__,
            "numpy": np.__version__,
        }
        return hashlib.blake2b(json.dumps(described, sort_keys=True).encode(), digest_size=16).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class GridStopped(Stopped):
    """The watch asked a grid to stop; the cells that are done are kept."""


class GridWatch:
    """Progress and cancellation of many runs; `kept` counts cells that earlier runs have done."""

    def __init__(self) -> None:
        self.kept = 0
        self._done = 0
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._cost_left = 0
        self._cost_done = 0

    @property
    def done(self) -> int:
        """Number of cells done so far."""
        return self._done

    def stop(self) -> None:
        """Ask the grid to stop; cells that are done stay."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """True once the grid was asked to stop."""
        return self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the time left; None until enough is done for one."""
        if self._cost_done <= _TELLING_SHARE * (self._cost_done + self._cost_left):
            return None
        return (time.monotonic() - self._began) * self._cost_left / self._cost_done

    def begin(self, cost: int) -> None:
        """Cells that cost so much together begin to run."""
        self._began, self._cost_left = time.monotonic(), cost

    def cell_done(self, cost: int) -> None:
        """A cell of that cost is done, or has failed."""
        self._done += 1
        self._cost_left -= cost
        self._cost_done += cost


def _in_worker(work: Callable[[], pa.Table], version: str) -> pa.Table | str:
    """Run a cell in its task; its row, or why it failed."""
    # Ctrl-C at a terminal reaches workers on the same machine too; the driver decides what it means.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if version != __version__:
        return f"the executor has topicloom {__version__} and the driver {version}"
    try:
        return work()
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


Keep = Callable[[Sequence[tuple[Cell, pa.Table]]], None]


def require_folder(out: Path, writer: str) -> None:
    """Refuse a place for results and cells that is not new and that `writer` did not write."""
    if out.is_dir():
        if any(out.iterdir()) and not (out / FOLDER).is_dir():
            raise InputError(f"holds other files; give a new folder, or one that {writer} wrote", file=out)
    elif out.exists():
        raise InputError("is a file; give a folder to write to", file=out)
    elif not out.parent.is_dir():
        raise InputError(f"the folder {out.parent} does not exist", file=out)


def run_cells(
    spark: SparkSession,
    cells: Sequence[Cell],
    task: Callable[[Cell], Callable[[], pa.Table]],
    keep: Keep,
    watch: GridWatch,
) -> dict[Cell, str]:
    """Run cells, in their order as far as cores are free, and keep their rows; return the errors of those that failed.

    Args:
        spark: the session to run on.
        cells: what to run.
        task: makes the function that a task calls for a cell, in one of several threads; the function travels.
        keep: called with the rows of cells that ended since it was called before.
        watch: progress; a stop raises `GridStopped` here, after what is done was kept.

    What `task` raises as an `InputError` is the error of that cell. Jobs that it runs end with a stop, too.
    """
    errors: dict[Cell, str] = {}
    ended: SimpleQueue[Future[tuple[Cell, pa.Table | str]]] = SimpleQueue()
    watch.begin(sum(cell.cost for cell in cells))
    tag, left = f"topicloom-{uuid4().hex}", len(cells)

    def run_cell(cell: Cell) -> tuple[Cell, pa.Table | str]:
        if watch.stopped:
            raise GridStopped("asked to stop")
        # Jobs of this thread, which is the pool's, have the tag.
        spark.addTag(tag)
        try:
            work = task(cell)
        except InputError as error:
            return cell, str(error)
        return cell, _run(spark, work, watch)

    with ThreadPoolExecutor(_jobs_at_once(spark), thread_name_prefix="cells") as pool:
        try:
            for cell in cells:
                pool.submit(run_cell, cell).add_done_callback(ended.put)
            while left:
                rows = []
                for cell, result in _results(ended, watch):
                    left -= 1
                    if isinstance(result, str):
                        errors[cell] = " ".join(result.split())
                    else:
                        rows.append((cell, result))
                    watch.cell_done(cell.cost)
                if rows:
                    keep(rows)
                if watch.stopped:
                    raise GridStopped("asked to stop")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if left:
                with suppress(Exception):  # Spark may be gone, and then there is nothing to end
                    spark.interruptTag(tag)
    return errors


def _results(
    ended: SimpleQueue[Future[tuple[Cell, pa.Table | str]]], watch: GridWatch
) -> Iterator[tuple[Cell, pa.Table | str]]:
    """Cells that ended since the last look, after a moment of waiting: their rows, or why they failed."""
    with suppress(Empty):
        future = ended.get(timeout=_LOOK_SECONDS)
        while True:
            # Stopping cancels jobs, which is not their failure.
            if not future.cancelled() and not (watch.stopped and future.exception() is not None):
                yield future.result()
            future = ended.get_nowait()


def _run(spark: SparkSession, work: Callable[[], pa.Table], watch: GridWatch) -> pa.Table | str:
    """Run a cell as a job and wait for it; its row, or why it failed."""
    from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        found = spark.range(0, 1, 1, 1).mapInArrow(_as_task(work, __version__), "row binary, error string").toArrow()
    except (Py4JJavaError, PySparkException) as error:
        if watch.stopped:
            raise GridStopped("asked to stop") from None
        return _why_lost(error)
    except (Py4JError, OSError):
        raise InputError(_SPARK_ENDED) from None
    row, why = found["row"][0], found["error"][0]
    if why.is_valid:
        text: str = why.as_py()
        return text
    return pa.ipc.open_stream(row.as_buffer()).read_all()


def _as_task(
    work: Callable[[], pa.Table], version: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            done = _in_worker(work, version)
            row = None
            if not isinstance(done, str):
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, done.schema) as writer:
                    writer.write_table(done)
                row = sink.getvalue().to_pybytes()
            error = done if isinstance(done, str) else None
            yield pa.record_batch({"row": pa.array([row], pa.binary()), "error": pa.array([error], pa.string())})

    return task


def _jobs_at_once(spark: SparkSession) -> int:
    from pyspark.sql import functions as sql

    cores = spark.range(0, 1 << 16).select(sql.spark_partition_id()).distinct().count()
    # One more than can run, so that cores do not wait for us. More would take their turns out of order.
    return cores + 1 if is_on_this_machine(spark.conf.get("spark.master", "") or "") else max(_LEAST_JOBS, 2 * cores)


def _why_lost(error: Exception) -> str:
    """Why Spark could not finish a task; an error here if that is not the cell's fault."""
    text = str(error)
    if "SparkContext was shut down" in text or "stopped SparkContext" in text:
        raise InputError(_SPARK_ENDED) from None
    missing = re.search(r"No module named '[^']+'", text)
    if missing:
        raise InputError(f"the executors lack a library: {missing[0]}; see docs/spark.md") from None
    if "worker exited unexpectedly" in text or "ExecutorLostFailure" in text:
        return "the process that ran it died, most likely for want of memory"
    return in_one_line(error)
