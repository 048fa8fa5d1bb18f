"""Parquet tables as folders of parts, which tasks write themselves.

Arrow writes what a task already has as Arrow, dictionaries included, several times faster than a way through Java,
and leaves no marker files. The folder must be one that all executors see, on this machine or on a shared disk.
A part is whole or absent, and a task that is repeated writes the same part again. Tasks make no folders: those of a
killed run may go on for a moment, and must not bring back what is cleared away.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from topicloom.files.parquet import parquet_writer, write_parquet

Add = Callable[[pa.RecordBatch], None]
# Of a row group that grows batch by batch.
_GROUP_ROWS = 1 << 19


def part_number() -> int:
    """The number of the task that this runs in."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def part_file(folder: Path, number: int) -> Path:
    """Where a part lies; sorted by name, parts are in the order of their numbers."""
    return folder / f"part-{number:05d}.parquet"


def write_part(folder: Path, number: int, table: pa.Table) -> None:
    """Write one part of a table."""
    with placing(part_file(folder, number)) as temporary:
        # With Arrow's schema dictionaries would come back as such; to readers these are plain strings.
        write_parquet(table, temporary, store_schema=False, compression="zstd", dictionary_pagesize_limit=16 << 20)


@contextmanager
def writing_part(folder: Path, number: int, schema: pa.Schema) -> Iterator[Add]:
    """Give a function that adds a batch to a part; it is in place on leaving."""
    waiting: list[pa.RecordBatch] = []
    with placing(part_file(folder, number)) as temporary, parquet_writer(temporary, schema) as writer:

        def add(batch: pa.RecordBatch) -> None:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= _GROUP_ROWS:
                flush()

        def flush() -> None:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting.clear()

        yield add
        flush()


@contextmanager
def placing(file: Path) -> Iterator[Path]:
    """A name to write the file under; it is in place on leaving."""
    temporary = file.parent / f".{uuid.uuid4().hex}"
    yield temporary
    temporary.replace(file)


def clear_attempts(folder: Path) -> None:
    """Remove what tasks that were killed left in the tables of a folder."""
    for file in folder.glob("*/.*"):
        file.unlink()
