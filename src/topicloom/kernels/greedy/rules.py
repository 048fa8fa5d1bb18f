"""The greedy designers: add the best link again and again, under one of two rules.

`merge_greedily` always takes the link of highest contribution. `merge_evenly` prefers links that do not raise the
highest degree, and with a finite `patience` gives that up for a link that contributes `patience` times more.

Both begin after the first `count` links of a list, and give a node no more links than it has room for: `room` is
that of each node, and empty where there is no limit.

Both count merged components in `ticks[0]` and end early once `ticks[1]` is set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy.best_link import allow, find_best, highest_possible, restart
from topicloom.kernels.greedy.representation import contribution, enter_row, merge
from topicloom.kernels.jit import inlined, inner_kernel, step, tight_kernel


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
