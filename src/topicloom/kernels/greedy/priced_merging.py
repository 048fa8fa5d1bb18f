"""Greedy merging by contribution per price: always the link that merges most for its price.

Of links that merge equally much for their price the cheaper one is taken, then the one whose names have the lower
hash, or the lower ids. Every row keeps its best link as it was when the row was last searched. Contributions only fall,
so this bounds all links of the row in the order of preference. The rows form a heap by it, and the one on top is looked
at: if its link still contributes as much, no link is better and it is added; else the row is searched again.

Prices depend on the groups of the two nodes alone. Nodes are numbered group by group, so most blocks of 64 links have
one price, and are skipped by the highest contribution that any of them may have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy.candidates import Candidates, coded, first_column, highest_coded
from topicloom.kernels.greedy.lanes import LANES, at_least, highest_of, lowest_bit
from topicloom.kernels.greedy.representation import contribution, enter_row, tighten
from topicloom.kernels.greedy.rules import add_link, has_room
from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)


class Priced(NamedTuple):
    """What links cost, and the best link of every row."""

    group: npt.NDArray[np.int32]  # by node, rising
    price: npt.NDArray[np.int64]  # group x group, above 0
    cheapest: npt.NDArray[np.int64]  # by group: the lowest price of its links
    hashes: npt.NDArray[np.uint64]  # by node; empty where ties go by ids
    merged: npt.NDArray[np.int64]  # by row: contribution of its best link, 0 where none is left
    paid: npt.NDArray[np.int64]  # by row: price of that link
    other: npt.NDArray[np.int32]  # by row: its higher node
    heap: npt.NDArray[np.int32]  # rows, the best on top


def new_priced(
    candidates: Candidates,
    group: npt.NDArray[np.int32],
    price: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
) -> Priced:
    """Prices by the numbers of nodes; no row searched yet."""
    nodes = len(candidates.outer)
    none = np.zeros(nodes, np.int64)
    heap = np.arange(nodes, dtype=np.int32)
    return Priced(
        group, price, price.min(axis=1), hashes, none, np.ones(nodes, np.int64), np.zeros(nodes, np.int32), heap
    )


@inlined()
def link_hash(one, other):
    """A hash of two names from theirs, whichever comes first: the end of SplitMix64."""
    z = one ^ other
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner_kernel()
def comes_before(priced, candidates, u, v, x, y):
    """Whether the link (u, v) is taken before (x, y) where both merge equally much at the same price."""
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
def worth(merged, paid, price):
    """What a link of a price must contribute at least to be as good as one that contributes `merged` for `paid`."""
    return max(np.int64(1), (merged * price + paid - 1) // paid)


@inner_kernel()
def lowest_price(priced, candidates, u, first, column):
    """What no link of row u in a block is cheaper than; `column` is the first slot's node where places tell."""
    if candidates.column.shape[0]:
        return priced.cheapest[priced.group[u]]
    prices = priced.price[priced.group[u]]
    low = np.int64(priced.group[max(column, u)])
    high = np.int64(priced.group[min(column + LANES, priced.group.shape[0]) - 1])
    lowest = prices[low]
    for group in range(low + 1, high + 1):
        lowest = min(lowest, prices[group])
    return lowest


@inner_kernel()
def search_row(priced, topics, candidates, room, u):
    """Find the best link of a row."""
    merged, paid, other = np.int64(0), np.int64(1), np.int64(0)
    prices = priced.price[priced.group[u]]
    place = first_column(u) - candidates.row_start[u]
    enter_row(topics, u)
    for first in range(candidates.row_start[u], candidates.row_start[u + 1], LANES):
        block = candidates.block_bound[first // LANES]
        if block == 0:
            continue
        need = worth(merged, paid, lowest_price(priced, candidates, u, first, place + first))
        if highest_coded(block, candidates.step) < need:
            continue
        tighten(topics, candidates.bound, first, u, place + first)
        hits = at_least(candidates.bound, first, coded(need, candidates.step))
        while hits:
            slot = first + lowest_bit(hits)
            hits &= hits - _ONE
            v = place + slot if candidates.column.shape[0] == 0 else np.int64(candidates.column[slot])
            if not has_room(room, v):
                candidates.bound[slot] = 0
                continue
            price = prices[priced.group[v]]
            need = worth(merged, paid, price)
            if highest_coded(candidates.bound[slot], candidates.step) < need:
                continue
            value = contribution(topics, u, v, need)
            candidates.bound[slot] = coded(value, candidates.step)
            if value < need:
                continue
            better = value * paid > merged * price or price < paid
            if better or (price == paid and comes_before(priced, candidates, u, v, u, other)):
                merged, paid, other = np.int64(value), price, v
        candidates.block_bound[first // LANES] = highest_of(candidates.bound, first, _ALL)
    priced.merged[u] = merged
    priced.paid[u] = paid
    priced.other[u] = other


@tight_kernel()
def merge_by_price(priced, topics, candidates, room, links, count, ticks):
    """Add best links for their prices until none contributes or the list is full; give their number."""
    nodes = priced.heap.shape[0]
    for row in range(nodes):
        if has_room(room, row):
            search_row(priced, topics, candidates, room, row)
    for parent in range(nodes // 2 - 1, -1, -1):
        sink(priced, candidates, parent)
    while nodes and count < links.source.shape[0] and ticks[1] == 0:
        u = np.int64(priced.heap[0])
        merged, v = priced.merged[u], np.int64(priced.other[u])
        if merged == 0:
            break
        if not has_room(room, u):
            priced.merged[u] = 0
        else:
            enter_row(topics, u)
            if has_room(room, v) and contribution(topics, u, v, merged) >= merged:
                add_link(links, count, topics, candidates, u, v, merged, ticks)
                if candidates.outer[u] > candidates.outer[v]:
                    links.source[count], links.target[count] = links.target[count], links.source[count]
                count += 1
                if room.shape[0]:
                    room[u] -= 1
                    room[v] -= 1
            search_row(priced, topics, candidates, room, u)
        sink(priced, candidates, np.int64(0))
    return count
