"""Cleaning names: trimmed, in Unicode's composed form, neither empty nor too long."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def clean_names(names: pa.StringArray | pa.LargeStringArray) -> pa.StringArray | pa.LargeStringArray:
    """Names without white space around them, NFC-normalised."""
    trimmed = pc.utf8_trim_whitespace(names)
    # Most data is ASCII, which is NFC already. Arrow's utf8_normalize decomposes where it should compose
    # (apache/arrow#51225), so Python does the rest, each name of a batch once.
    if pc.all(pc.string_is_ascii(trimmed)).as_py() is not False:
        return trimmed
    encoded = trimmed.dictionary_encode()
    composed = [unicodedata.normalize("NFC", name) for name in encoded.dictionary.to_pylist()]
    return pa.array(composed, names.type).take(encoded.indices)


def problems(names: pa.StringArray, what: str, max_bytes: int) -> dict[str, npt.NDArray[np.bool_]]:
    """Which cleaned names cannot be used, by reason; `what` they name is part of the reason."""
    length = np.asarray(pc.fill_null(pc.binary_length(names), -1))
    return {f"missing {what}": length < 0, f"empty {what}": length == 0, f"over-long {what}": length > max_bytes}
