"""Nodes, topics, links and backups that change: growing rows of numbers, and a population made of them.

All rows lie in one array. A full row moves to the end and gets twice the room; the room that it leaves is waste until
`packed` copies all rows close together. Kernels cannot make the array longer, so `reserved` is called first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inner_kernel, kernel, tight_kernel

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


class Population(NamedTuple):
    """Who is there: nodes and topics as numbers in no particular order, all rows both ways.

    `rank` is the place of each node in the order of names, which decides ties; -1 where there is no node. The topics
    of a node are in the order of their names.
    """

    rank: npt.NDArray[np.int32]
    topics: GrowingRows  # by node
    members: GrowingRows  # by topic: the nodes that want it
    neighbours: GrowingRows  # by node
    backups: GrowingRows  # by node
    primaries: GrowingRows  # by node
    wanting: npt.NDArray[np.uint64]  # topic x word, a bit for each member; no topics where they are small
    # How many nodes have each degree, and in the last place the highest degree there is.
    degrees: npt.NDArray[np.int32]
    limit: npt.NDArray[np.int32]  # by node: the most links it may have
    group: npt.NDArray[np.int32]  # by node: of those that may be linked with the same others
    permitted: npt.NDArray[np.bool_]  # group x group: whether their nodes may be linked
    price_group: npt.NDArray[np.int32]  # by node
    price: npt.NDArray[np.int64]  # price group x price group: of links; of one group where prices do not matter


class Scratch(NamedTuple):
    """Room to work in, by node and by topic; whatever is in it means nothing unless its mark is the present one."""

    mark: npt.NDArray[np.int64]  # by node
    key: npt.NDArray[np.uint64]  # by node
    gain: npt.NDArray[np.int64]  # by node
    chosen: npt.NDArray[np.int64]  # by node
    topic_mark: npt.NDArray[np.int64]  # by topic
    uncovered: npt.NDArray[np.int32]  # by topic
    before: npt.NDArray[np.int32]  # by topic
    place: npt.NDArray[np.int32]  # by node
    queue: npt.NDArray[np.int32]  # by node
    # By bits, as `wanting` is: weights, what they are down planes before a cover and within it, and who may be chosen.
    weight: npt.NDArray[np.int32]  # by node
    owed: npt.NDArray[np.uint64]  # 2 x plane x word
    candidates: npt.NDArray[np.uint64]  # 3 x word
    # The latest mark, and the state of the random numbers.
    latest: npt.NDArray[np.int64]
    random: npt.NDArray[np.uint64]


@inner_kernel()
def new_mark(latest):
    """A mark that nothing has yet."""
    latest[0] += 1
    return latest[0]


# What a degree changes by. Plain numbers would be two types, and compiled twice.
_MORE, _LESS = np.int64(1), np.int64(-1)


@inner_kernel()
def raise_degree(population, u, by):
    """Count a node as having one link more or less, before the row of its neighbours changes; `by` is 1 or -1."""
    degrees = population.degrees
    top = degrees.shape[0] - 1
    before = population.neighbours.length[u]
    degrees[before] -= 1
    degrees[before + by] += 1
    if before + by > degrees[top]:
        degrees[top] = before + by
    while degrees[top] > 0 and degrees[degrees[top]] == 0:
        degrees[top] -= 1


@inner_kernel()
def link(population, u, v):
    """Link two nodes."""
    raise_degree(population, u, _MORE)
    append(population.neighbours, u, v)
    raise_degree(population, v, _MORE)
    append(population.neighbours, v, u)


@inner_kernel()
def unlink(population, u, v):
    """Take away the link of two nodes."""
    raise_degree(population, u, _LESS)
    remove(population.neighbours, u, v)
    raise_degree(population, v, _LESS)
    remove(population.neighbours, v, u)


@kernel()
def relink(population, added, removed):
    """Link some pairs of nodes and take away the links of others; there must be room."""
    for k in range(added.shape[0]):
        link(population, np.int64(added[k, 0]), np.int64(added[k, 1]))
    for k in range(removed.shape[0]):
        unlink(population, np.int64(removed[k, 0]), np.int64(removed[k, 1]))


@inner_kernel()
def add_node(population, u, rank):
    """A node enters at a place in the order of names, with no topics and no links."""
    for other in range(population.rank.shape[0]):
        if population.rank[other] >= rank:
            population.rank[other] += 1
    population.rank[u] = rank
    population.degrees[0] += 1


@inner_kernel()
def remove_node(population, u):
    """A node that has no topics and no links any more goes."""
    rank = population.rank[u]
    for other in range(population.rank.shape[0]):
        if population.rank[other] > rank:
            population.rank[other] -= 1
    population.rank[u] = -1
    population.degrees[0] -= 1


@inner_kernel()
def set_topics(population, u, topics):
    """A node wants these topics, given in the order of their names, and no others."""
    rows = population.topics
    wanting = population.wanting
    by_bits = wanting.shape[0] > 0
    word, bit = u >> 6, np.uint64(1) << np.uint64(u & 63)
    for k in range(rows.start[u], rows.start[u] + rows.length[u]):
        remove(population.members, np.int64(rows.items[k]), u)
        if by_bits:
            wanting[rows.items[k], word] &= ~bit
    clear(rows, u)
    for k in range(topics.shape[0]):
        append(rows, u, np.int64(topics[k]))
        append(population.members, np.int64(topics[k]), u)
        if by_bits:
            wanting[topics[k], word] |= bit
