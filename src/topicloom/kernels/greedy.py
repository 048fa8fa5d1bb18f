"""Functions that every search of greedy designers answers to, and the loops of these designers.

What every representation of the topics answers to the search for links.

`topic_bits` is for interests whose nodes share much, `topic_members` for sparse ones, `topic_lists` for those of them
whose links have prices. Rules and searches are written once against these functions; numba picks the implementation by
the type of `topics`.

The greedy designers: add the best link again and again, under one of two rules.

`merge_greedily` always takes the link of highest contribution. `merge_evenly` prefers links that do not raise the
highest degree, and with a finite `patience` gives that up for a link that contributes `patience` times more.

Both begin after the first `count` links of a list, and give a node no more links than it has room for: `room` is
that of each node, and empty where there is no limit.

Both count merged components in `ticks[0]` and end early once `ticks[1]` is set.

Maximal matchings: links that contribute nothing, between nodes below the highest degree.

Who is linked with whom is kept as a bit for every pair of nodes. Nodes below the highest degree form a chain by ids,
which a node leaves as soon as it has enough links; so a phase costs a step for each of them, and one for each pair that
is linked already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from topicloom.kernels.best_link import allow, find_best, highest_possible, restart
from topicloom.kernels.jit import INNER, inlined, inner_kernel, step, tight_kernel


def enter_row(topics: Any, u: Any) -> Any:
    """Get ready to evaluate links of node u; again after every merge."""


def contribution(topics: Any, u: Any, v: Any, threshold: Any) -> Any:
    """Contribution of the link (u, v), exact where it reaches the threshold, else an upper bound below it."""


def merge(topics: Any, u: Any, v: Any) -> Any:
    """Add the link (u, v): join the components of u and v in every common topic."""


def tighten(topics: Any, bounds: Any, slot: Any, u: Any, first_column: Any) -> Any:
    """Lower the 64 bounds from `slot` on by what is known of the nodes alone, where that costs nothing."""


def implements(function: Callable[..., Any], representation: type, **options: Any) -> Callable[..., Any]:
    """Register the decorated kernel as `function` for one representation of the topics, with options of numba's."""

    jit_options: Any = {**INNER, **options}

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        def choose(topics: Any, *rest: Any) -> Any:
            fits = getattr(topics, "instance_class", None) is representation
            return implementation if fits else None

        choose.__name__ = f"{function.__name__}_{representation.__name__}"
        overload(function, strict=False, jit_options=jit_options)(choose)
        return implementation

    return register


class LinkList(NamedTuple):
    """Room for the links of a design, filled from the front."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    contribution: npt.NDArray[np.int32]


def new_link_list(room: int) -> LinkList:
    """An empty list with room for that many links."""
    return LinkList(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))


@step()
def add_link(links, count, topics, candidates, u, v, merged, ticks):
    """Write a link down by its ids and join its components."""
    links.source[count] = candidates.outer[u]
    links.target[count] = candidates.outer[v]
    links.contribution[count] = merged
    merge(topics, u, v)
    ticks[0] += merged


@inlined()
def has_room(room, node):
    """Whether a node may have another link."""
    return room.shape[0] == 0 or room[node] > 0


@tight_kernel()
def add_first(topics, candidates, source, target, links, ticks):
    """Add links, given by ids, whatever they contribute, at the front of the list."""
    for k in range(source.shape[0]):
        u, v = np.int64(candidates.inner[source[k]]), np.int64(candidates.inner[target[k]])
        enter_row(topics, u)
        add_link(links, k, topics, candidates, u, v, contribution(topics, u, v, np.int64(0)), ticks)


@tight_kernel()
def merge_greedily(search, topics, candidates, room, links, count, ticks):
    """Add best links until none contributes or the list is full; give their number."""
    if search.confined:
        for node in range(room.shape[0]):
            allow(search.allowed, node, has_room(room, node))
    restart(search, candidates)
    while count < links.source.shape[0] and ticks[1] == 0:
        u, v, merged = find_best(search, topics, candidates, np.int64(1))
        if merged == 0:
            break
        add_link(links, count, topics, candidates, u, v, merged, ticks)
        count += 1
        if search.confined:
            take_room(search, room, u)
            take_room(search, room, v)
    return count


@inner_kernel()
def take_room(search, room, node):
    """Count a link of a node, which takes part no longer where it has no room for another."""
    room[node] -= 1
    allow(search.allowed, node, room[node] > 0)


@inner_kernel()
def begin_below(search, candidates, degree, highest, room):
    """Begin a search; a confined one with the nodes that have room and a degree below the highest."""
    if search.confined:
        for node in range(degree.shape[0]):
            allow(search.allowed, node, degree[node] < highest and has_room(room, node))
    restart(search, candidates)


class Degrees(NamedTuple):
    """Links that each node has, how many more it may have (empty where there is no limit), and the most of any."""

    degree: npt.NDArray[np.int32]
    room: npt.NDArray[np.int32]
    max_degree: int


class Trade(NamedTuple):
    """What a higher degree is worth: a link that contributes `patience` times as much; `strict` if no less is enough
    for the other."""

    patience: float
    strict: bool


@inlined()
def is_worth_it(trade, best, merged):
    """Whether a link that contributes `best` is worth a higher degree, where another contributes `merged`."""
    enough = trade.patience * merged
    return best > enough or (trade.strict and best == enough)


@inlined()
def least_instead(trade, best, least):
    """The least contribution of a link that a higher degree for one that contributes `best` is not worth.

    `least` is that of a link that contributes as much or more.
    """
    while least > 1 and not is_worth_it(trade, best, least - 1):
        least -= 1
    return least


@tight_kernel()
def merge_evenly(everywhere, confined, topics, candidates, limits, trade, links, count, ticks):
    """Add links that raise the highest degree least, best ones first; give their number.

    A link that raises it is taken where no other contributes, or where that is worth it; never beyond `max_degree`.
    """
    degree, room = limits.degree, limits.room
    highest_degree = np.int64(0)
    for node in range(degree.shape[0]):
        if degree[node] > highest_degree:
            highest_degree = np.int64(degree[node])
    begin_below(everywhere, candidates, degree, highest_degree + 1, room)
    begin_below(confined, candidates, degree, highest_degree, room)
    least = np.int64(highest_possible(everywhere))
    while count < links.source.shape[0] and ticks[1] == 0:
        least = least_instead(trade, highest_possible(everywhere), least)
        u, v, merged = find_best(confined, topics, candidates, least)
        if merged == 0:
            if least == 1 and highest_degree == limits.max_degree:
                break
            u, v, merged = find_best(everywhere, topics, candidates, np.int64(1))
            if merged == 0:
                break
            if least_instead(trade, merged, least) < least:
                continue
        add_link(links, count, topics, candidates, u, v, merged, ticks)
        count += 1
        degree[u] += 1
        degree[v] += 1
        if everywhere.confined:
            take_room(everywhere, room, u)
            take_room(everywhere, room, v)
        if degree[u] > highest_degree or degree[v] > highest_degree:
            highest_degree += 1
            begin_below(confined, candidates, degree, highest_degree, room)
        else:
            allow(confined.allowed, u, degree[u] < highest_degree and has_room(room, u))
            allow(confined.allowed, v, degree[v] < highest_degree and has_room(room, v))
    return count


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
