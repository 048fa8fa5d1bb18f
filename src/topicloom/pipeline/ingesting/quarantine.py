"""Bad rows with their file, line, reason and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.pipeline.ingesting.raw_rows import readable_path
from topicloom.pipeline.ingesting.row_cleaning import COUNTED, LINES
from topicloom.pipeline.ingesting.table_parts import part_number, write_part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

_SCHEMA = pa.schema([("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("raw", pa.string())])


def write_empty_quarantine(folder: Path) -> None:
    """Write a table without rows, for readers that want its columns."""
    write_part(folder, 0, _SCHEMA.empty_table())


def write_quarantine(notes: DataFrame, folder: Path) -> None:
    """Write the bad rows that notes tell of, in the order of files and lines."""
    _located(notes).orderBy("file", "line").mapInArrow(_WriteBadRows(str(folder)), "rows bigint").collect()


def first_bad_row(notes: DataFrame) -> Row | None:
    """The bad row that comes first, as a row of the quarantine."""
    return _located(notes).orderBy("file", "line").first()


def _located(notes: DataFrame) -> DataFrame:
    """Bad rows with line numbers within their files: those within blocks, and the lines of the blocks before."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    earlier = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    blocks = notes.where(sql.col("kind") == LINES).select(
        "file", "block", sql.coalesce(sql.sum("number").over(earlier), sql.lit(0)).alias("before")
    )
    bad = notes.where(~sql.col("kind").isin(*COUNTED))
    return bad.join(sql.broadcast(blocks), ["file", "block"]).select(
        "file", (sql.col("before") + sql.col("number")).alias("line"), sql.col("kind").alias("reason"), "raw"
    )


@dataclass(frozen=True)
class _WriteBadRows:
    """Write a part of the quarantine; give how many rows it has."""

    folder: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = [batch for batch in batches if batch.num_rows]
        if given:
            table = pa.Table.from_batches(given)
            files = table["file"].dictionary_encode().combine_chunks()
            readable = pa.array([readable_path(file) for file in files.dictionary.to_pylist()], pa.string())
            table = table.set_column(0, "file", readable.take(files.indices)).cast(_SCHEMA)
            write_part(Path(self.folder), part_number(), table)
            yield pa.record_batch({"rows": pa.array([table.num_rows])})
