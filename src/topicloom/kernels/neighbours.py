"""The neighbours of every node as one array with spare places, for links that come and go.

The links of a node that stay come first in its row. Taking out a link moves the last one of the row into its place, so
both operations cost no more than finding the link.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inlined, tight_kernel

# Positions in `Neighbours.total`.
LINKS, SQUARES, EXCESS, TARGET, SHARED = range(5)
# A target for degrees that none can pass.
NO_TARGET = 1 << 40


class Neighbours(NamedTuple):
    """The neighbours of node v are `node[start[v]]` and those that follow it, `degree[v]` in all."""

    start: npt.NDArray[np.int64]  # by node, one more at the end: its places
    node: npt.NDArray[np.int32]
    degree: npt.NDArray[np.int32]
    fixed: npt.NDArray[np.int32]  # by node: so many of its links stay; they come first
    most: npt.NDArray[np.int32]  # by node: no link is added to a node with so many
    total: npt.NDArray[np.int64]  # links, squared degrees, links above the target, the target, topics of links


def capacities(degree: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Places for the neighbours of nodes that begin with these degrees: at most twice the degree and 32."""
    return np.minimum(2 * degree + 32, max(len(degree) - 1, 0))


def new_neighbours(
    source: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
    fixed: npt.NDArray[np.bool_],
    most: npt.NDArray[np.int32],
) -> Neighbours:
    """The neighbours that links make; `fixed` says which links stay, `most` how many links a node may have."""
    nodes = len(most)
    degree = np.bincount(np.concatenate([source, target]), minlength=nodes)
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(capacities(degree), out=start[1:])
    none = np.zeros(nodes, np.int32)
    most = np.minimum(most, np.diff(start)).astype(np.int32)
    total = np.array([0, 0, 0, NO_TARGET, 0])
    neighbours = Neighbours(start, np.zeros(int(start[-1]), np.int32), none, none.copy(), most, total)
    order = np.argsort(~fixed, kind="stable")
    fill(neighbours, source[order], target[order], int(np.count_nonzero(fixed)))
    return neighbours


@tight_kernel()
def fill(neighbours, source, target, fixed):
    """Add links, of which the first `fixed` stay."""
    for link in range(source.shape[0]):
        add(neighbours, source[link], target[link])
        if link < fixed:
            neighbours.fixed[source[link]] += 1
            neighbours.fixed[target[link]] += 1


@inlined()
def has_place(neighbours, v):
    """Whether a node may have one more link."""
    return neighbours.degree[v] < neighbours.most[v] and neighbours.degree[v] <= neighbours.total[TARGET]


@tight_kernel()
def highest_degree(neighbours):
    """The most links that a node has."""
    highest = 0
    for v in range(neighbours.degree.shape[0]):
        highest = max(highest, neighbours.degree[v])
    return highest


@tight_kernel()
def set_target(neighbours):
    """Aim at a highest degree that is lower by one."""
    highest = highest_degree(neighbours)
    neighbours.total[TARGET] = highest - 1
    neighbours.total[EXCESS] = 0
    for v in range(neighbours.degree.shape[0]):
        neighbours.total[EXCESS] += max(0, neighbours.degree[v] - highest + 1)


@inlined()
def append(neighbours, u, v):
    """Append v to the row of u."""
    degree = neighbours.degree[u]
    neighbours.node[neighbours.start[u] + degree] = v
    neighbours.degree[u] = degree + 1
    neighbours.total[SQUARES] += 2 * degree + 1
    neighbours.total[EXCESS] += degree >= neighbours.total[TARGET]


@inlined()
def drop(neighbours, u, v):
    """Take v out of the row of u."""
    place = neighbours.start[u] + neighbours.fixed[u]
    while neighbours.node[place] != v:
        place += 1
    degree = neighbours.degree[u] - 1
    neighbours.node[place] = neighbours.node[neighbours.start[u] + degree]
    neighbours.degree[u] = degree
    neighbours.total[SQUARES] -= 2 * degree + 1
    neighbours.total[EXCESS] -= degree >= neighbours.total[TARGET]


@inlined()
def add(neighbours, u, v):
    """Add a link."""
    append(neighbours, u, v)
    append(neighbours, v, u)
    neighbours.total[LINKS] += 1


@inlined()
def remove(neighbours, u, v):
    """Remove a link that is there and need not stay."""
    drop(neighbours, u, v)
    drop(neighbours, v, u)
    neighbours.total[LINKS] -= 1


@tight_kernel()
def list_links(neighbours, source, target):
    """Write all links into `source` and `target`, by rising source, and give their number."""
    count = 0
    for u in range(neighbours.degree.shape[0]):
        for place in range(neighbours.start[u], neighbours.start[u] + neighbours.degree[u]):
            if neighbours.node[place] > u:
                source[count] = u
                target[count] = neighbours.node[place]
                count += 1
    return count
