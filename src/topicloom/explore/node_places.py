"""Where nodes are on the earth, from a table with the columns node, latitude and longitude."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from topicloom.errors import InputError
from topicloom.files.name_tables import names_column, read_table
from topicloom.report.networks.overlay_drawing import Point

_LIMITS = {"latitude": 90, "longitude": 180}


def read_places(path: str | os.PathLike[str]) -> Mapping[str, Point]:
    """Latitude and longitude of nodes by name, in degrees."""
    where = os.fspath(path)
    table = read_table(path, ["node", *_LIMITS])
    names = names_column(table, "node", where).to_pylist()
    columns = [
        [_degrees(value, column, where, row) for row, value in enumerate(table[column].to_pylist(), start=1)]
        for column in _LIMITS
    ]
    return dict(zip(names, zip(*columns, strict=True), strict=True))


def _degrees(value: Any, column: str, where: str, row: int) -> float:
    limit = _LIMITS[column]
    try:
        degrees = float(value)
    except (TypeError, ValueError):
        degrees = float("nan")
    if not -limit <= degrees <= limit:
        raise InputError(f"{column} must be a number from -{limit} to {limit}, not '{value}'", file=where, row=row)
    return degrees
