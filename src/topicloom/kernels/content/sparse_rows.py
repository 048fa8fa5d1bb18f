"""Rows of a sparse table: channels by user or users by channel, and a number with each."""

from __future__ import annotations

from typing import Any, NamedTuple


class SparseRows(NamedTuple):
    """`columns[start[r]:start[r + 1]]` are those of row r, rising; `values` holds a number for each of them."""

    start: Any
    columns: Any
    values: Any
