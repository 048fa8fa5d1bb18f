"""Grids of independent runs on Spark.

One run of a grid, and keeping the rows that it gave.

A cell that is done is one Arrow file, named after a hash of all that its rows depend on, and written whole or not at
all. So a grid that was stopped goes on where it was, and grids of one folder share cells.

What is left to do of a grid, and its results as one table.

Seeing how far a grid is, and stopping it.

Running what is left of a grid: each cell a Spark job of one task, whose rows the driver keeps at once.

So executors need no disk in common, a run that is stopped loses only the cells that were running, and a cell that kills
its worker fails alone.
"""

from __future__ import annotations

import gc
import hashlib
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from pathlib import Path
from queue import Empty, PriorityQueue, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.io.whole import replacing
from topicloom.registry import Stopped
from topicloom.spark.session import in_one_line, is_on_this_machine

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import SparkSession


# The folder of kept cells, in the folder that a grid is written to.
FOLDER = "cells"
# What a column of whole numbers can hold.
_LARGEST = 2**63 - 1


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


def keep(folder: Path, cell: Cell, rows: pa.Table) -> None:
    """Write the rows of a cell to a folder."""
    with (
        replacing(cell_file(folder, cell)) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, rows.schema) as writer,
    ):
        writer.write_table(rows)


def kept(folder: Path, cell: Cell) -> pa.Table | None:
    """The rows of a cell, where they are there and can be read."""
    try:
        with pa.OSFile(str(cell_file(folder, cell))) as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowException):
        return None  # not there, or damaged: run it again


def cell_file(folder: Path, cell: Cell) -> Path:
    """Where a cell's rows are kept."""
    return folder / f"{cell.key}.arrow"


def require_64_bits(name: str, number: float) -> None:
    """An error where a whole number fits into no column of a table, which would be noticed after all cells have run."""
    if isinstance(number, int) and abs(number) > _LARGEST:
        raise InputError(f"{name} is {number}; give a whole number of at most {_LARGEST}", name)


@dataclass(frozen=True)
class Grid:
    """Cells, each once, the folder that keeps their rows, and the cells still to run, the longest first."""

    folder: Path
    cells: tuple[Cell, ...]
    pending: tuple[Cell, ...]

    def table(
        self, described: Iterable[tuple[Cell, Mapping[str, Any]]], errors: Mapping[Cell, str], schema: pa.Schema
    ) -> pa.Table:
        """A row for each cell and what describes it: that, and the one row that it gave, or its `error`."""
        rows = []
        for cell, columns in described:
            found = None if cell in errors else kept(self.folder, cell)
            if found is not None:
                (row,) = found.to_pylist()
                rows.append({**columns, **row})
            elif cell in errors:
                rows.append({**columns, "error": errors[cell]})
            else:
                raise InputError("is gone; run the same again", file=cell_file(self.folder, cell))
        return pa.Table.from_pylist(rows, schema)


def plan_grid(cells: Iterable[Cell], folder: Path) -> Grid:
    """Find which cells are still to run; those that failed before are among them. Writes nothing."""
    unique = tuple(dict.fromkeys(cells))
    # The longest first, so that none is left over when the others are done. Sorting keeps the order of equals.
    pending = sorted((cell for cell in unique if kept(folder, cell) is None), key=lambda cell: -cell.cost)
    return Grid(folder, unique, tuple(pending))


def combinations(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of values by their names, where a list means all of its values."""
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return (dict(zip(values, chosen, strict=True)) for chosen in product(*lists))


def require_grid_folder(out: Path, writer: str) -> None:
    """An error where `out` is no place for a folder of results and cells, which `writer` wrote or may write."""
    if out.is_dir():
        if any(out.iterdir()) and not (out / FOLDER).is_dir():
            raise InputError(f"holds other files; give a new folder, or one that {writer} wrote", file=out)
    elif out.exists():
        raise InputError("is a file; give a folder to write to", file=out)
    elif not out.parent.is_dir():
        raise InputError(f"the folder {out.parent} does not exist", file=out)


# The first cells to end need not be like the others; below this share of all cost they say nothing about the rest.
_TELLING_SHARE = 0.05


class GridStopped(Stopped):
    """The watch asked a grid to stop; the cells that are done are kept."""


class GridWatch:
    """The line between a running grid and whoever waits for it."""

    def __init__(self) -> None:
        self._done = 0
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._cost_left = 0
        self._cost_done = 0

    @property
    def done(self) -> int:
        """How many cells are done so far."""
        return self._done

    def stop(self) -> None:
        """Ask the grid to stop; cells that are done stay."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the grid was asked to stop."""
        return self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """About how long it will take yet, once enough is done to tell."""
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
