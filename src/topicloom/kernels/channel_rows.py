"""Rows of a sparse table: for each user some channels, and a number with each."""

from __future__ import annotations

from typing import Any, NamedTuple


class Rows(NamedTuple):
    """`channels[start[u]:start[u + 1]]` are those of user u, rising; `values` holds a number for each of them."""

    start: Any
    channels: Any
    values: Any
