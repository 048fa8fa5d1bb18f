"""Dense ids from names, in the order of the names by code point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def intern_names(column: pa.ChunkedArray) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Sorted distinct names of a string column, and each row's id among them."""
    names, ids = sorted_names(column)
    return tuple(names.to_pylist()), ids


def sorted_names(column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The names of `intern_names` as an array, and each row's id among them.

    Arrow compares strings by their UTF-8 bytes, which is the order of code points.
    """
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return encoded.dictionary.take(order), rank[codes]


def ids_of(names: pa.ChunkedArray, known: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Id of each row's name among the known names; -1 where it is unknown."""
    found: Any = pc.index_in(names, value_set=pa.array(known, type=names.type))
    ids: npt.NDArray[np.int64] = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return ids
