"""SQL over the rows that runs gave: SQLite, with what statistics need besides.

Not DuckDB: claims average comparisons, `avg(a < b)`, which are numbers in SQLite and not in DuckDB. It refuses a third
of our queries until they cast, and is 60 MB more to install.
"""

from __future__ import annotations

import math
import sqlite3
import statistics
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa


class Runs:
    """The table `runs`, to be asked with SQL."""

    def __init__(self, rows: pa.Table) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.create_aggregate("correlation", 2, _Correlation)  # type: ignore[arg-type]
        self._database.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
        for name, function in (("sqrt", math.sqrt), ("ln", math.log)):
            self._database.create_function(name, 1, function, deterministic=True)
        self._database.create_function("power", 2, math.pow, deterministic=True)
        columns = ", ".join(_quoted(name) for name in rows.column_names)
        places = ", ".join("?" * rows.num_columns)
        self._database.execute(f"CREATE TABLE runs ({columns})")
        self._database.executemany(f"INSERT INTO runs VALUES ({places})", zip(*_values(rows), strict=True))

    def ask(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of the columns and the rows that a query gives."""
        with closing(self._database.execute(query)) as cursor:
            return [column[0] for column in cursor.description], cursor.fetchall()

    def close(self) -> None:
        """Forget all rows."""
        self._database.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _values(rows: pa.Table) -> Sequence[list[Any]]:
    return [column.to_pylist() for column in rows.columns]


class _Correlation:
    """Pearson's, of the rows where both are known; null where one of them never changes."""

    def __init__(self) -> None:
        self._pairs: list[tuple[float, float]] = []

    def step(self, x: float | None, y: float | None) -> None:
        if x is not None and y is not None:
            self._pairs.append((x, y))

    def finalize(self) -> float | None:
        x, y = np.array(self._pairs, float).reshape(-1, 2).T
        if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
            return None
        return float(np.corrcoef(x, y)[0, 1])


class _Median:
    """The median of the values that are known."""

    def __init__(self) -> None:
        self._values: list[float] = []

    def step(self, value: float | None) -> None:
        if value is not None:
            self._values.append(value)

    def finalize(self) -> float | None:
        return statistics.median(self._values) if self._values else None
