"""The tables that a network is made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.files.name_tables import read_table

# All that a network may have; docs/content.md says which it needs.
TABLES = tuple(
    f"{name}.parquet"
    for name in ("brokers", "access", "core", "rates", "quadratics", "pieces", "subscriptions", "boxes", "space")
)


def require_part(file: Path) -> None:
    """Refuse a network that lacks a table."""
    if not file.exists():
        raise InputError(f"{file.parent}: has no {file.name}; docs/content.md lists the tables of a network")


def read_part(file: Path, columns: Sequence[str]) -> pa.Table:
    """The named columns of one table."""
    require_part(file)
    return read_table(file, columns)
