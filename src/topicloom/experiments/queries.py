"""SQL over the rows that runs gave: SQLite, with what statistics need besides.

Not DuckDB: claims average comparisons, `avg(a < b)`, which are numbers in SQLite and not in DuckDB. It refuses a third
of our queries until they cast, and is 60 MB more to install.
"""

from __future__ import annotations

import math
import sqlite3
import statistics
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.experiments.figure import Curve

# The names of the columns, and the rows.
Answer = tuple[list[str], list[tuple[Any, ...]]]


class Runs:
    """The table `runs`, to be asked with SQL, and `curve` beside it where a figure's file tells one.

    `repetition` says which run a row is of. `ask` sees each repetition; `ask_means` sees the means over them as one
    repetition: of `runs` where a run gives one row, of `curve` where it gives many.
    """

    def __init__(self, rows: pa.Table, parameters: Collection[str] = (), curve: Curve | None = None) -> None:
        self._rows, self._curve = rows, curve
        columns = (_column(name, rows) for name in sorted(parameters) if name != "seed")
        # Another reading may have parameters that this one has not.
        self._by = [column for column in columns if column in rows.column_names]
        self._each = _database({"runs": rows})
        if curve is not None:
            self._each.execute(f"CREATE TABLE curve AS {curve.query}")
        self._means: sqlite3.Connection | None = None

    def ask(self, query: str) -> Answer:
        """The names of the columns and the rows that a query gives."""
        return _answer(self._each, query)

    def ask_means(self, query: str) -> Answer:
        """The same of the means over the repetitions."""
        if self._means is None:
            self._means = _database(self._averaged())
        return _answer(self._means, query)

    def close(self) -> None:
        """Forget all rows."""
        self._each.close()
        if self._means is not None:
            self._means.close()

    def _averaged(self) -> dict[str, pa.Table]:
        if self._curve is not None:
            names, found = self.ask("SELECT * FROM curve")
            points = pa.table(
                {name: list(column) for name, column in zip(names, zip(*found, strict=True), strict=True)}
            )
            return {"runs": self._rows, "curve": _means(points, self._curve.by)}
        if "repetition" not in self._rows.column_names or not self._one_row_each():
            return {"runs": self._rows}
        return {"runs": _means(self._rows, self._by)}

    def _one_row_each(self) -> bool:
        return len(self._rows.group_by([*self._by, "repetition"]).aggregate([])) == len(self._rows)


def _column(parameter: str, rows: pa.Table) -> str:
    """The column of a parameter, whose own name a result may have."""
    other = f"parameter_{parameter}"
    return other if other in rows.column_names else parameter


def _means(rows: pa.Table, by: Sequence[str]) -> pa.Table:
    """The means of the rows that are alike in `by` and in all text, as one repetition.

    What is true or false is true where it is in all of them.
    """
    wanted = [name for name in rows.column_names if name not in (*by, "repetition", "seed")]
    numbers = [name for name in wanted if pa.types.is_integer(kind := rows[name].type) or pa.types.is_floating(kind)]
    truths = [name for name in wanted if pa.types.is_boolean(rows[name].type)]
    keys = [*by, *(name for name in wanted if name not in (*numbers, *truths))]
    measured = [(name, how) for name in numbers for how in ("mean", "min", "max")]
    found = rows.group_by(keys, use_threads=False).aggregate([*measured, *((name, "min") for name in truths)])
    columns = {name: found[name] for name in keys}
    columns |= {name: _mean(*(found[f"{name}_{how}"] for how in ("mean", "min", "max"))) for name in numbers}
    columns |= {name: found[f"{name}_min"] for name in truths}
    return pa.table({**columns, "repetition": pa.array([0] * len(found), pa.int64())})


def _mean(mean: pa.ChunkedArray, lowest: pa.ChunkedArray, highest: pa.ChunkedArray) -> pa.ChunkedArray:
    """The mean, but of equals these themselves: three times 0.2 would come to 0.20000000000000004."""
    return pc.if_else(pc.equal(lowest, highest), pc.cast(lowest, pa.float64()), mean)


def _database(tables: Mapping[str, pa.Table]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.create_aggregate("correlation", 2, _Correlation)  # type: ignore[arg-type]
    database.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
    for name, function in (("sqrt", math.sqrt), ("ln", math.log)):
        database.create_function(name, 1, function, deterministic=True)
    database.create_function("power", 2, math.pow, deterministic=True)
    for name, rows in tables.items():
        columns = ", ".join(_quoted(column) for column in rows.column_names)
        places = ", ".join("?" * rows.num_columns)
        database.execute(f"CREATE TABLE {name} ({columns})")
        database.executemany(f"INSERT INTO {name} VALUES ({places})", zip(*_values(rows), strict=True))
    return database


def _answer(database: sqlite3.Connection, query: str) -> Answer:
    with closing(database.execute(query)) as cursor:
        return [column[0] for column in cursor.description], cursor.fetchall()


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
