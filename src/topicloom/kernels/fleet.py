"""A fleet that changes: who is there, who wants what, who is linked with whom, and who stands in for whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import tight_kernel
from topicloom.kernels.rows import Rows, append, clear, remove


class Fleet(NamedTuple):
    """Who is there: nodes and topics as numbers in no particular order, all rows both ways.

    `rank` is the place of each node in the order of names, which decides ties; -1 where there is no node. The topics
    of a node are in the order of their names.
    """

    rank: npt.NDArray[np.int32]
    topics: Rows  # by node
    members: Rows  # by topic: the nodes that want it
    neighbours: Rows  # by node
    backups: Rows  # by node
    primaries: Rows  # by node
    # How many nodes have each degree, and in the last place the highest degree there is.
    degrees: npt.NDArray[np.int32]


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
    # The latest mark, and the state of the random numbers.
    latest: npt.NDArray[np.int64]
    random: npt.NDArray[np.uint64]


@tight_kernel()
def new_mark(latest):
    """A mark that nothing has yet."""
    latest[0] += 1
    return latest[0]


@tight_kernel()
def raise_degree(fleet, u, by):
    """Count a node as having one link more or less, before the row of its neighbours changes; `by` is 1 or -1."""
    degrees = fleet.degrees
    top = degrees.shape[0] - 1
    before = fleet.neighbours.length[u]
    degrees[before] -= 1
    degrees[before + by] += 1
    if before + by > degrees[top]:
        degrees[top] = before + by
    while degrees[top] > 0 and degrees[degrees[top]] == 0:
        degrees[top] -= 1


@tight_kernel()
def link(fleet, u, v):
    """Link two nodes."""
    raise_degree(fleet, u, 1)
    append(fleet.neighbours, u, v)
    raise_degree(fleet, v, 1)
    append(fleet.neighbours, v, u)


@tight_kernel()
def unlink(fleet, u, v):
    """Take away the link of two nodes."""
    raise_degree(fleet, u, -1)
    remove(fleet.neighbours, u, v)
    raise_degree(fleet, v, -1)
    remove(fleet.neighbours, v, u)


@tight_kernel()
def enter(fleet, u, rank):
    """A node enters at a place in the order of names, with no topics and no links."""
    for other in range(fleet.rank.shape[0]):
        if fleet.rank[other] >= rank:
            fleet.rank[other] += 1
    fleet.rank[u] = rank
    fleet.degrees[0] += 1


@tight_kernel()
def exit_(fleet, u):
    """A node that has no topics and no links any more goes."""
    rank = fleet.rank[u]
    for other in range(fleet.rank.shape[0]):
        if fleet.rank[other] > rank:
            fleet.rank[other] -= 1
    fleet.rank[u] = -1
    fleet.degrees[0] -= 1


@tight_kernel()
def want(fleet, u, topics):
    """A node wants these topics, given in the order of their names, and no others."""
    rows = fleet.topics
    for k in range(rows.start[u], rows.start[u] + rows.length[u]):
        remove(fleet.members, rows.items[k], u)
    clear(rows, u)
    for k in range(topics.shape[0]):
        append(rows, u, topics[k])
        append(fleet.members, topics[k], u)
