"""Greedy merging by contribution for the price: always the link that merges most for its price.

Of links that merge equally much for their price the cheaper one is taken, then the one whose names have the lower
hash, or the lower ids. Every row keeps its best link as it was when the row was last searched. Contributions only fall,
so this bounds all links of the row in the order of preference. The rows form a heap by it, and the one on top is
examined: if its link still contributes as much, no link is better and it is added; else the row is searched again.

Prices depend on the groups of the two nodes alone. Nodes are numbered group by group, so most blocks of 64 links have
one price, and are skipped by the highest contribution that any of them may have.

`merge_evenly_by_price` prefers links that do not raise the highest degree, as `merge_evenly` of Low-ODA does: a second
heap is confined to nodes below it. When the degree rises, its rows begin with the best links of the first heap, which
bound theirs, and are searched only as they come to the top.

Where pairs are kept, a row is searched by their bounds. For sparse interests no pair is kept: a search counts what the
row would merge with every higher node, as a visit of `row_search` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy import (
    STOP,
    add_link,
    contribution,
    enter_row,
    has_spare,
    highest_degree,
    implements,
)
from topicloom.kernels.jit import inlined, inner_kernel, step, tight_kernel
from topicloom.kernels.pair_bounds import Candidates, coded, first_column, highest_coded
from topicloom.kernels.row_search import BLOCK, RowCandidates, count_others, highest_in, may_be_linked, swept
from topicloom.kernels.simd import LANES, at_least, highest_of, lowest_bit
from topicloom.kernels.topic_bits import tighten
from topicloom.kernels.topic_members import other_members

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)


class Priced(NamedTuple):
    """What links cost, and the best link of every row."""

    group: npt.NDArray[np.int32]  # by node, rising where pairs are kept
    price: npt.NDArray[np.int64]  # group x group, above 0
    cheapest: npt.NDArray[np.int64]  # by group: the lowest price of its links
    hashes: npt.NDArray[np.uint64]  # by node; empty if ties go by ids
    merged: npt.NDArray[np.int64]  # by row: contribution of its best link, 0 if none is left
    paid: npt.NDArray[np.int64]  # by row: price of that link
    other: npt.NDArray[np.int32]  # by row: its higher node
    heap: npt.NDArray[np.int32]  # rows, the best on top
    allowed: npt.NDArray[np.bool_]  # by node: whether it takes part; empty if all do


def new_priced(
    candidates: Candidates | RowCandidates,
    group: npt.NDArray[np.int32],
    price: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
    *,
    confined: bool = False,
) -> Priced:
    """Prices by the numbers of nodes; no row searched yet, and no node allowed in a confined search."""
    nodes = len(candidates.outer)
    none = np.zeros(nodes, np.int64)
    heap = np.arange(nodes, dtype=np.int32)
    allowed = np.zeros(nodes if confined else 0, np.bool_)
    paid, other = np.ones(nodes, np.int64), np.zeros(nodes, np.int32)
    return Priced(group, price, price.min(axis=1), hashes, none, paid, other, heap, allowed)


def priced_bytes(nodes: int) -> int:
    """Memory of two searches by price, besides the prices."""
    return nodes * 80


@inlined()
def link_hash(one, other):
    """A hash of two names from theirs, whichever comes first: the end of SplitMix64."""
    z = one ^ other
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner_kernel()
def comes_before(priced, candidates, u, v, x, y):
    """Whether the link (u, v) is taken before (x, y) if both merge equally much at the same price."""
    if priced.hashes.shape[0]:
        mine = link_hash(priced.hashes[u], priced.hashes[v])
        its = link_hash(priced.hashes[x], priced.hashes[y])
        if mine != its:
            return mine < its
    a, b = candidates.outer[u], candidates.outer[v]
    c, d = candidates.outer[x], candidates.outer[y]
    low, its_low = min(a, b), min(c, d)
    return low < its_low or (low == its_low and max(a, b) < max(c, d))


@inner_kernel()
def is_better_row(priced, candidates, u, x):
    """Whether the best link of row u is taken before that of row x."""
    mine, its = priced.merged[u] * priced.paid[x], priced.merged[x] * priced.paid[u]
    if mine != its:
        return mine > its
    if priced.paid[u] != priced.paid[x]:
        return priced.paid[u] < priced.paid[x]
    return comes_before(priced, candidates, u, np.int64(priced.other[u]), x, np.int64(priced.other[x]))


@inner_kernel()
def sink(priced, candidates, parent):
    """Restore the heap below one place."""
    heap = priced.heap
    row = np.int64(heap[parent])
    child = 2 * parent + 1
    while child < heap.shape[0]:
        if child + 1 < heap.shape[0] and is_better_row(
            priced, candidates, np.int64(heap[child + 1]), np.int64(heap[child])
        ):
            child += 1
        if not is_better_row(priced, candidates, np.int64(heap[child]), row):
            break
        heap[parent] = heap[child]
        parent = child
        child = 2 * parent + 1
    heap[parent] = row


@inlined()
def takes_part(priced, node):
    """Whether a node may have a link now."""
    return priced.allowed.shape[0] == 0 or priced.allowed[node]


@inlined()
def worth(priced, u, price):
    """The least contribution with which a link of a price is as good as the best one of row u so far."""
    return max(np.int64(1), (priced.merged[u] * price + priced.paid[u] - 1) // priced.paid[u])


@inlined()
def is_as_good(priced, u, merged, price):
    """Whether a link is at least as good as the best one of row u so far, by what it merges and its price."""
    return merged > 0 and merged * priced.paid[u] >= priced.merged[u] * price


@step()
def lowest_price(priced, u, column):
    """Lower bound on the prices of row u in the block whose first node is `column`."""
    prices = priced.price[priced.group[u]]
    low = np.int64(priced.group[max(column, u)])
    high = np.int64(priced.group[min(column + LANES, priced.group.shape[0]) - 1])
    lowest = prices[low]
    for group in range(low + 1, high + 1):
        lowest = min(lowest, prices[group])
    return lowest


def search_row(candidates: Any, priced: Any, topics: Any, spare: Any, u: Any) -> Any:
    """Find the best link of a row."""


@step()
def offer(priced, candidates, u, v, merged, price):
    """Keep a link of row u, which is as good as the best one so far, if it comes before that."""
    better = merged * priced.paid[u] > priced.merged[u] * price or price < priced.paid[u]
    if better or (price == priced.paid[u] and comes_before(priced, candidates, u, v, u, np.int64(priced.other[u]))):
        priced.merged[u], priced.paid[u], priced.other[u] = merged, price, v


@implements(search_row, Candidates)
def _search_pairs(candidates, priced, topics, spare, u):
    priced.merged[u], priced.paid[u] = 0, 1
    prices = priced.price[priced.group[u]]
    place = first_column(u) - candidates.row_start[u]
    enter_row(topics, u)
    for first in range(candidates.row_start[u], candidates.row_start[u + 1], LANES):
        block = candidates.block_bound[first // LANES]
        if block == 0:
            continue
        need = worth(priced, u, lowest_price(priced, u, place + first))
        if highest_coded(block, candidates.step) < need:
            continue
        tighten(topics, candidates.bound, first, u, place + first)
        hits = at_least(candidates.bound, first, coded(need, candidates.step))
        while hits:
            slot = first + lowest_bit(hits)
            hits &= hits - _ONE
            v = place + slot
            if not has_spare(spare, v):
                candidates.bound[slot] = 0
                continue
            if not takes_part(priced, v):
                continue
            price = prices[priced.group[v]]
            need = worth(priced, u, price)
            if highest_coded(candidates.bound[slot], candidates.step) < need:
                continue
            merged = np.int64(contribution(topics, u, v, need))
            candidates.bound[slot] = coded(merged, candidates.step)
            if merged >= need:
                offer(priced, candidates, u, v, merged, price)
        candidates.block_bound[first // LANES] = highest_of(candidates.bound, first, _ALL)


@implements(search_row, RowCandidates)
def _search_counts(candidates, priced, topics, spare, u):
    priced.merged[u], priced.paid[u] = 0, 1
    gain = candidates.gain
    cheapest = priced.cheapest[priced.group[u]]
    if swept(candidates, count_others(topics, candidates, u, True)):
        for begin in range((u + 1) // BLOCK * BLOCK, gain.shape[0], BLOCK):
            end = min(gain.shape[0], begin + BLOCK)
            if is_as_good(priced, u, highest_in(gain, begin, end), cheapest):
                for v in range(begin, end):
                    if gain[v]:
                        offer_counted(priced, candidates, spare, u, v)
            for v in range(begin, end):
                gain[v] = 0
    else:
        for s in range(topics.node_start[u], topics.node_start[u + 1]):
            first, last, listed = other_members(topics, s, True)
            for k in range(first, last):
                other = np.int64(topics.outside_member[k] if listed else topics.member[k])
                offer_counted(priced, candidates, spare, u, other)
                gain[other] = 0


@inner_kernel()
def offer_counted(priced, candidates, spare, u, v):
    """Keep a link of row u that merges as much as has been counted, if it is allowed and the best so far."""
    merged = np.int64(candidates.gain[v])
    price = priced.price[priced.group[u], priced.group[v]]
    if (
        is_as_good(priced, u, merged, price)
        and has_spare(spare, v)
        and takes_part(priced, v)
        and may_be_linked(candidates, u, v)
    ):
        offer(priced, candidates, u, v, merged, price)


@inner_kernel()
def order_rows(priced, candidates):
    """Make a heap of all rows."""
    for parent in range(priced.heap.shape[0] // 2 - 1, -1, -1):
        sink(priced, candidates, np.int64(parent))


@step()
def search_all(priced, topics, candidates, spare):
    """Find the best link of every row with spare links, and order the rows."""
    for row in range(priced.heap.shape[0]):
        if has_spare(spare, row):
            search_row(candidates, priced, topics, spare, row)
    order_rows(priced, candidates)


@inner_kernel()
def best_row(priced, topics, candidates, spare):
    """The row whose best link is the best of all, with its exact contribution, which is 0 if none is left."""
    while True:
        u = np.int64(priced.heap[0])
        merged, v = priced.merged[u], np.int64(priced.other[u])
        if merged == 0:
            return u
        if not (has_spare(spare, u) and takes_part(priced, u)):
            priced.merged[u] = 0
        else:
            enter_row(topics, u)
            usable = has_spare(spare, v) and takes_part(priced, v)
            if usable and contribution(topics, u, v, merged) >= merged:
                return u
            search_row(candidates, priced, topics, spare, u)
        sink(priced, candidates, np.int64(0))


@step()
def add_best(priced, instance, spare, links, count, u, ticks):
    """Add the best link of a row; return its higher node."""
    candidates = instance.candidates
    v = np.int64(priced.other[u])
    add_link(links, count, instance, u, v, priced.merged[u], ticks)
    if candidates.outer[u] > candidates.outer[v]:
        links.source[count], links.target[count] = links.target[count], links.source[count]
    if spare.shape[0]:
        spare[u] -= 1
        spare[v] -= 1
    return v


@tight_kernel()
def merge_by_price(priced, instance, spare, links, count, ticks):
    """Add links, the best for their price first, until none contributes or the list is full; return their number."""
    topics, candidates = instance.topics, instance.candidates
    search_all(priced, topics, candidates, spare)
    while priced.heap.shape[0] and count < links.source.shape[0] and ticks[STOP] == 0:
        u = best_row(priced, topics, candidates, spare)
        if priced.merged[u] == 0:
            break
        add_best(priced, instance, spare, links, count, u, ticks)
        count += 1
    return count


@inner_kernel()
def confine_below(confined, everywhere, candidates, degree, highest):
    """Allow the nodes whose degree is below the highest, and begin with bounds of their rows."""
    for node in range(degree.shape[0]):
        confined.allowed[node] = degree[node] < highest
        confined.merged[node] = everywhere.merged[node] if confined.allowed[node] else 0
        confined.paid[node] = everywhere.paid[node]
        confined.other[node] = everywhere.other[node]
    order_rows(confined, candidates)


@step()
def is_worth_more(rule, everywhere, best, confined, u):
    """Whether the best link of row `best` is worth a higher degree; that of row u needs none."""
    value = np.float64(everywhere.merged[best] * confined.paid[u])
    enough = rule.k * np.float64(confined.merged[u] * everywhere.paid[best])
    return value > enough or (rule.strict and value == enough)


@tight_kernel()
def merge_evenly_by_price(everywhere, confined, instance, degrees, rule, links, count, ticks):
    """Add links that raise the highest degree least, the best for their price first; return their number.

    A link that raises it is taken if no other contributes, or by the rule; never beyond `degrees.most`.
    """
    topics, candidates = instance.topics, instance.candidates
    degree, spare = degrees.degree, degrees.spare
    highest = highest_degree(degree)
    search_all(everywhere, topics, candidates, spare)
    confine_below(confined, everywhere, candidates, degree, highest)
    while degree.shape[0] and count < links.source.shape[0] and ticks[STOP] == 0:
        chosen, u = confined, best_row(confined, topics, candidates, spare)
        none = confined.merged[u] == 0
        if none and highest == degrees.most:
            break
        if none or rule.k < np.inf:
            best = best_row(everywhere, topics, candidates, spare)
            if everywhere.merged[best] == 0:
                break
            if none or is_worth_more(rule, everywhere, best, confined, u):
                chosen, u = everywhere, best
        v = add_best(chosen, instance, spare, links, count, u, ticks)
        count += 1
        degree[u] += 1
        degree[v] += 1
        if max(degree[u], degree[v]) > highest:
            highest += 1
            confine_below(confined, everywhere, candidates, degree, highest)
        else:
            confined.allowed[u] = degree[u] < highest
            confined.allowed[v] = degree[v] < highest
    return count
