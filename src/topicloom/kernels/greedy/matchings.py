"""Maximal matchings: links that contribute nothing, between nodes below the highest degree.

Who is linked with whom is kept as a bit for every pair of nodes. Nodes below the highest degree form a chain by ids,
which a node leaves as soon as it has enough links; so a phase costs a step for each of them, and one for each pair that
is linked already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inner_kernel, tight_kernel

_ONE = np.uint64(1)
_WORD = 64


class Matchings(NamedTuple):
    """Which ids are linked, and room for a chain of ids."""

    linked: npt.NDArray[np.uint64]  # id x word
    following: npt.NDArray[np.int64]  # by id, and the first of the chain at the end


def new_matchings(nodes: int) -> Matchings:
    """Matchings of that many nodes that have no link yet."""
    return Matchings(np.zeros((nodes, -(-nodes // _WORD)), np.uint64), np.zeros(nodes + 1, np.int64))


def matchings_bytes(nodes: int) -> int:
    """Memory of `new_matchings`."""
    return nodes * (nodes // 8 + 16)


@inner_kernel()
def note_link(matchings, links, link):
    """Remember that the ends of a link are linked."""
    a, b = np.int64(links.source[link]), np.int64(links.target[link])
    matchings.linked[a, b >> 6] |= _ONE << np.uint64(b & 63)
    matchings.linked[b, a >> 6] |= _ONE << np.uint64(a & 63)


@inner_kernel()
def chain_below(matchings, candidates, degree, highest):
    """Chain the ids of the nodes below the highest degree, by rising id; -1 ends the chain."""
    before = matchings.linked.shape[0]
    for a in range(matchings.linked.shape[0]):
        if degree[candidates.inner[a]] < highest:
            matchings.following[before] = a
            before = a
    matchings.following[before] = -1


@tight_kernel()
def fill_matching(matchings, links, noted, count, candidates, degree, highest):
    """Link nodes below the highest degree, the lowest ids first, as long as there is room; give the number of links.

    There are `count` links already, of which the first are noted.
    """
    following = matchings.following
    for link in range(noted, count):
        note_link(matchings, links, link)
    chain_below(matchings, candidates, degree, highest)
    a = following[matchings.linked.shape[0]]
    while a >= 0:
        u = candidates.inner[a]
        before = a
        b = following[a]
        while b >= 0 and degree[u] < highest and count < links.source.shape[0]:
            v = candidates.inner[b]
            if (matchings.linked[a, b >> 6] >> np.uint64(b & 63)) & _ONE == 0:
                links.source[count] = a
                links.target[count] = b
                links.contribution[count] = 0
                note_link(matchings, links, count)
                count += 1
                degree[u] += 1
                degree[v] += 1
            if degree[v] < highest:
                before = b
            else:
                following[before] = following[b]
            b = following[b]
        a = following[a]
    return count
