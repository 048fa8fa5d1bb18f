"""Rows of numbers that grow and shrink: who wants a topic, who is linked with a node, who stands in for whom.

All rows lie in one array. A row that is full moves to the end and gets twice the room; what it leaves is waste until
`packed` copies all rows close together. Kernels cannot make the array longer, so `reserved` is called first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import kernel, tight_kernel

_LEAST_ROOM = 4


class GrowingRows(NamedTuple):
    """Rows in one array: row r is `items[start[r] : start[r] + length[r]]`. The order within a row means nothing."""

    start: npt.NDArray[np.int64]
    length: npt.NDArray[np.int32]
    room: npt.NDArray[np.int32]
    items: npt.NDArray[np.int32]
    # Where the unused part of `items` begins, and how many items all rows have.
    used: npt.NDArray[np.int64]


def new_rows(
    count: int, starts: npt.NDArray[np.int64] | None = None, items: npt.NDArray[np.int32] | None = None
) -> GrowingRows:
    """So many rows, empty or with the items given."""
    if starts is None or items is None:
        starts, items = np.zeros(count + 1, np.int64), np.empty(0, np.int32)
    lengths = np.diff(starts).astype(np.int32)
    used = np.array([len(items), len(items)])
    return reserved(GrowingRows(starts[:-1].copy(), lengths, lengths.copy(), items.copy(), used), count, 0)


def reserved(rows: GrowingRows, count: int, appends: int) -> GrowingRows:
    """The same rows, at least `count` of them, with room for so many appends before the next call.

    Every append may move a full row to twice its room, so there must be twice as much unused as the rows have.
    Memory is thus at most some 40 bytes an item.
    """
    if count > len(rows.start):
        more = max(count, 3 * len(rows.start) // 2) - len(rows.start)
        rows = rows._replace(
            start=np.concatenate([rows.start, np.zeros(more, np.int64)]),
            length=np.concatenate([rows.length, np.zeros(more, np.int32)]),
            room=np.concatenate([rows.room, np.zeros(more, np.int32)]),
        )
    total = int(rows.used[1])
    needed = 2 * (total + appends) + _LEAST_ROOM * appends
    if len(rows.items) - int(rows.used[0]) >= needed:
        return rows
    room = np.maximum(rows.length + rows.length // 2, np.minimum(rows.room, _LEAST_ROOM)).astype(np.int32)
    start = np.cumsum(room, dtype=np.int64) - room
    used = np.array([int(room.sum(dtype=np.int64)), total])
    packed = GrowingRows(start, rows.length, room, np.empty(int(used[0]) + 3 * needed, np.int32), used)
    copy_rows(rows, packed)
    return packed


@kernel()
def copy_rows(rows, packed):
    """Copy the items of each row."""
    for r in range(rows.start.shape[0]):
        for k in range(rows.length[r]):
            packed.items[packed.start[r] + k] = rows.items[rows.start[r] + k]


@tight_kernel()
def append(rows, r, item):
    """Add an item to a row."""
    if rows.length[r] == rows.room[r]:
        begin = rows.used[0]
        for k in range(rows.length[r]):
            rows.items[begin + k] = rows.items[rows.start[r] + k]
        rows.start[r] = begin
        rows.room[r] = max(2 * rows.room[r], _LEAST_ROOM)
        rows.used[0] += rows.room[r]
    rows.items[rows.start[r] + rows.length[r]] = item
    rows.length[r] += 1
    rows.used[1] += 1


@tight_kernel()
def remove(rows, r, item):
    """Take an item, which is there, out of a row."""
    items = rows.items
    last = rows.start[r] + rows.length[r] - 1
    # An unsigned place needs no look at whether it counts from the end, which took a sixth of the time.
    at = np.uint64(rows.start[r])
    while items[at] != item:
        at += np.uint64(1)
    rows.items[at] = rows.items[last]
    rows.length[r] -= 1
    rows.used[1] -= 1


@tight_kernel()
def clear(rows, r):
    """Empty a row."""
    rows.used[1] -= rows.length[r]
    rows.length[r] = 0
