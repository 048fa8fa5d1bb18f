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

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from queue import Empty, PriorityQueue, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.ipc

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.io.whole import replacing
from topicloom.spark.cells import SPARK_ENDED, Cell, GridStopped, GridWatch, in_worker
from topicloom.spark.session import in_one_line, is_on_this_machine

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import SparkSession


__all__ = ["FOLDER", "Cell", "Grid", "GridStopped", "GridWatch", "NeedError", "kept", "plan_grid", "run_grid"]

# The folder of kept cells, in the folder that a grid is written to.
FOLDER = "cells"
# What a column of whole numbers can hold.
_LARGEST = 2**63 - 1


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
        job = self._context.parallelize([0], 1).map(
            lambda _: in_worker(partial(_work_on, work, cell, sent), __version__)
        )
        self._require_going_on()
        try:
            result: pa.Table | str = job.collect()[0]
        except (Py4JJavaError, PySparkException) as error:
            if self._watch.stopped:
                raise GridStopped from None
            return _why_lost(self._context, error)
        except (Py4JError, OSError):
            raise InputError(SPARK_ENDED) from None
        return result


def _jobs_at_once(context: SparkContext) -> int:
    cores = context.defaultParallelism
    # One more than can run, so that cores do not wait for us. More would take their turns out of order.
    return cores + 1 if is_on_this_machine(context.master or "") else max(_LEAST_JOBS, 2 * cores)


def _why_lost(context: SparkContext, error: Exception) -> str:
    """Why Spark could not finish a task; an error here where that is not the cell's fault."""
    if context._jsc is None or context._jsc.sc().isStopped():
        raise InputError(SPARK_ENDED) from None
    text = str(error)
    missing = re.search(r"No module named '[^']+'", text)
    if missing:
        raise InputError(f"the executors lack a library: {missing[0]}; see docs/spark.md") from None
    if "worker exited unexpectedly" in text or "ExecutorLostFailure" in text:
        return "the process that ran it died, most likely for want of memory"
    return in_one_line(error)


def _work_on(work: Work, cell: Cell, sent: Broadcast[Any] | None) -> pa.Table:
    return work(cell, None if sent is None else sent.value)
