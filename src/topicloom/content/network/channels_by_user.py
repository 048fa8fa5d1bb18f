"""Rows of channels by user, from lists in any order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.kernels.content.sparse_rows import SparseRows

Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer]


def rows_of(user_count: int, users: Numbers, channels: Numbers, values: Floats) -> SparseRows:
    """Rows from a user, a channel and a number for each entry; entries of the same two are added up."""
    order = np.lexsort((channels, users))
    users, channels, values = users[order], channels[order], values[order]
    if len(users):
        begins = np.flatnonzero(np.r_[True, (users[1:] != users[:-1]) | (channels[1:] != channels[:-1])])
        users, channels, values = users[begins], channels[begins], np.add.reduceat(values, begins)
    start = np.zeros(user_count + 1, np.int64)
    np.cumsum(np.bincount(users, minlength=user_count), out=start[1:])
    return SparseRows(start, channels.astype(np.int32), np.asarray(values, np.float64))


def summed(ids: Numbers, values: Floats, count: int) -> Floats:
    """The sum of the values of each id."""
    sums: Floats = np.bincount(ids, values, count).astype(np.float64, copy=False)
    return sums


def users_of(rows: SparseRows) -> Ids:
    """The user of each entry."""
    counts = np.diff(rows.start)
    users: Ids = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return users


def transposed(rows: SparseRows, channel_count: int) -> SparseRows:
    """The users of each channel, rising, in the same shape."""
    users = users_of(rows)
    order = np.argsort(rows.columns, kind="stable")
    start = np.zeros(channel_count + 1, np.int64)
    np.cumsum(np.bincount(rows.columns, minlength=channel_count), out=start[1:])
    return SparseRows(start, users[order], rows.values[order])
