"""The greedy designers: add the best link again and again, under one of two rules.

`merge_greedily` always takes the link of highest contribution. `merge_evenly` prefers links that do not raise the
highest degree, and with a finite `patience` gives that up for a link that contributes `patience` times more. With
`matchings` it adds links that contribute nothing, too, before it raises the highest degree.

Both count merged components in `ticks[0]` and end early once `ticks[1]` is set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy.matchings import fill_matching, note_link
from topicloom.kernels.greedy.representation import merge
from topicloom.kernels.greedy.search import allow, find_best, highest_possible, restart
from topicloom.kernels.jit import inlined, inner_kernel, kernel, tight_kernel


class LinkList(NamedTuple):
    """Room for the links of a design, filled from the front."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    contribution: npt.NDArray[np.int32]


def new_link_list(room: int) -> LinkList:
    """An empty list with room for that many links."""
    return LinkList(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))


@inner_kernel()
def add_link(links, count, topics, candidates, u, v, merged, ticks):
    """Write a link down by its ids and join its components."""
    links.source[count] = candidates.outer[u]
    links.target[count] = candidates.outer[v]
    links.contribution[count] = merged
    merge(topics, u, v)
    ticks[0] += merged


@tight_kernel()
def merge_greedily(search, topics, candidates, links, ticks):
    """Add best links until none contributes or the list is full; give their number."""
    count = np.int64(0)
    while count < links.source.shape[0] and ticks[1] == 0:
        u, v, merged = find_best(search, topics, candidates)
        if merged == 0:
            break
        add_link(links, count, topics, candidates, u, v, merged, ticks)
        count += 1
    return count


@inner_kernel()
def allow_below(search, candidates, degree, highest):
    """Confine a search to the nodes whose degree is below the highest, and begin it again."""
    for node in range(degree.shape[0]):
        allow(search, node, degree[node] < highest)
    restart(search, candidates)


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


@kernel()
def merge_evenly(everywhere, confined, topics, candidates, max_degree, trade, matchings, links, ticks):
    """Add links that raise the highest degree least, best ones first; give their number.

    A link that raises it is taken where no other contributes, or where that is worth it; never beyond `max_degree`.
    Where `matchings` has room for nodes, others are linked first until no two below the highest degree are left.
    """
    maximal = matchings.linked.shape[0] > 0
    degree = np.zeros(everywhere.row_bound.shape[0], np.int32)
    highest_degree = np.int64(0)
    count = np.int64(0)
    while count < links.source.shape[0] and ticks[1] == 0:
        u, v, merged = find_best(confined, topics, candidates)
        if merged == 0 or is_worth_it(trade, highest_possible(everywhere), merged):
            last = merged == 0 and highest_degree == max_degree
            if last and not maximal:
                break
            best_u, best_v, best = find_best(everywhere, topics, candidates)
            if best == 0:
                break
            if merged == 0 and maximal:
                count = fill_matching(matchings, links, count, candidates, degree, highest_degree)
            if last or count == links.source.shape[0]:
                break
            if merged == 0 or is_worth_it(trade, best, merged):
                u, v, merged = best_u, best_v, best
        add_link(links, count, topics, candidates, u, v, merged, ticks)
        if maximal:
            note_link(matchings, links, count)
        count += 1
        degree[u] += 1
        degree[v] += 1
        if max(degree[u], degree[v]) > highest_degree:
            highest_degree += 1
            allow_below(confined, candidates, degree, highest_degree)
        else:
            allow(confined, u, degree[u] < highest_degree)
            allow(confined, v, degree[v] < highest_degree)
    return count
