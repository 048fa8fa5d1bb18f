"""Dense ids from names, in the order of the names by code point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def intern_names(column: pa.ChunkedArray) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Sorted distinct names of a string column, and each row's id among them.

    Arrow compares strings by their UTF-8 bytes, which is the order of code points.
    """
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary)
    names = tuple(encoded.dictionary.take(order).to_pylist())
    rank = np.empty(len(names), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(names))
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return names, rank[codes]


def ids_of(names: pa.ChunkedArray, known: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Id of each row's name among the known names; -1 where it is unknown."""
    found: Any = pc.index_in(names, value_set=pa.array(known, type=names.type))
    ids: npt.NDArray[np.int64] = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return ids
