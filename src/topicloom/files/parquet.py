"""Parquet files, each page with a checksum that is looked at when it is read.

Arrow decodes some damaged pages into other values, and of a few it dies; pages that do not fit their checksum are not
decoded. Files of others may have no checksums; places in dictionaries are looked at, as Arrow does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet


def write_parquet(table: pa.Table, file: str | Path | BinaryIO, **options: Any) -> None:
    """Write a table, with further options of Arrow."""
    pyarrow.parquet.write_table(table, file, write_page_checksum=True, **options)


def parquet_writer(file: str | Path, schema: pa.Schema, **options: Any) -> pyarrow.parquet.ParquetWriter:
    """A file that is written table by table."""
    return pyarrow.parquet.ParquetWriter(file, schema, write_page_checksum=True, **options)


def read_parquet(file: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file, or all files of a folder; Arrow's own errors come through."""
    picked = None if columns is None else list(columns)
    table = pyarrow.parquet.read_table(file, columns=picked, page_checksum_verification=True)
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column.validate(full=True)
    return table


def open_parquet(file: str | Path, **options: Any) -> pyarrow.parquet.ParquetFile:
    """A file that is read part by part."""
    return pyarrow.parquet.ParquetFile(file, page_checksum_verification=True, **options)
