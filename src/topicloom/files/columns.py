"""Columns of names and numbers, checked, with errors that name the file and the row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.files.name_ids import ids_of
from topicloom.files.name_tables import names_column

Floats = npt.NDArray[np.float64]


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    joined = column.combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def known_names(
    table: pa.Table, column: str, known: tuple[str, ...], kind: str, where: str, *, before: int = 0
) -> npt.NDArray[np.int64]:
    """Ids of the names in a column; one that is unknown is an error. `before` rows precede those of the table."""
    names = names_column(table, column, where, before=before)
    ids = ids_of(names, known)
    unknown = np.flatnonzero(ids < 0)
    if len(unknown):
        row = int(unknown[0])
        raise InputError(f"{where}: row {before + row + 1}: unknown {kind} '{names[row]}'")
    return ids


def numbers(
    table: pa.Table, column: str, where: str, *, minimum: float | None = 0.0, before: int = 0, endless: bool = False
) -> Floats:
    """A column of numbers, none below the minimum, all finite unless they may be `endless`; `before` rows precede."""
    values = table[column]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InputError(f"{where}: column '{column}' holds {values.type}, not numbers")
    # Whole numbers that a float cannot hold are rounded; null becomes NaN.
    found: Floats = values.cast(pa.float64(), safe=False).to_numpy()
    wrong = np.isnan(found) if endless else ~np.isfinite(found)
    if minimum is not None:
        wrong |= found < minimum
    if wrong.any():
        row = int(wrong.argmax())
        value = "null" if values[row].as_py() is None else f"{found[row]:g}"
        needed = "a number" if minimum is None else f"a number of at least {minimum:g}"
        raise InputError(f"{where}: row {before + row + 1}: {column} is {value}; give {needed}")
    return found


def whole_numbers(table: pa.Table, column: str, where: str, *, minimum: float = 0.0) -> npt.NDArray[np.int64]:
    """A column of whole numbers, none below the minimum."""
    values = numbers(table, column, where, minimum=minimum)
    whole = values.astype(np.int64)
    if (whole != values).any():
        row = int((whole != values).argmax())
        raise InputError(f"{where}: row {row + 1}: {column} is {values[row]:g}; give a whole number")
    return whole


def require_distinct(keys: npt.NDArray[np.int64], what: str, where: str) -> None:
    """Refuse a row that says again what an earlier one said."""
    _, earliest, inverse = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(earliest[inverse] != np.arange(len(keys)))
    if len(again):
        row = int(again[0])
        raise InputError(f"{where}: row {row + 1}: repeats the {what} of row {int(earliest[inverse[row]]) + 1}")


def distinct_names(columns: Sequence[pa.ChunkedArray]) -> tuple[str, ...]:
    """All names in some columns, in order."""
    return tuple(sorted({name for column in columns for name in pc.unique(column).to_pylist()}))
