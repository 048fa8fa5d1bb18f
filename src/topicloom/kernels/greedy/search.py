"""The search for the best link: highest contribution, then lowest (smaller id, larger id); for topics as bitsets.

It goes down the contributions from the highest. At each one it scans the candidates, skips rows and blocks whose
bound is lower, evaluates the links whose bound is not, and lists those that do contribute that much: the ties.
Sorted by ids, they are handed out one after the other, each after a second look, because links added meanwhile
may have taken its contribution. Contributions only fall, so no tie can appear later; when the list is empty the
next lower contribution has its turn.

The list has a fixed room. Where ties are more, it keeps those of the lowest smaller ids, and the scan is
repeated for the rest. Where rows are in the order of ids, ties come up in their order, and none are listed: the scan
stops at each one and goes on from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy import best_link
from topicloom.kernels.greedy.best_link import is_allowed
from topicloom.kernels.greedy.candidates import Candidates, coded, first_column, highest_coded
from topicloom.kernels.greedy.lanes import LANES, at_least, highest_of, lowest_bit
from topicloom.kernels.greedy.representation import contribution, implements, tighten
from topicloom.kernels.jit import inner_kernel, step

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_ROOM = 1 << 20
# Ties are few while their square, the cost of inserting them, is below so many times the nodes, which counting walks.
_FEW = 8


class Search(NamedTuple):
    """Where a search stands. It may be confined to links between allowed nodes."""

    confined: bool
    in_order: bool  # whether rows are in the order of ids, so that ties are found in their order and not listed
    allowed: npt.NDArray[np.uint64]  # one bit a node
    row_bound: npt.NDArray[np.uint8]  # highest bound of each row among allowed links, coded
    ties: npt.NDArray[np.uint64]  # links as (smaller id << 32 | larger id), sorted
    spare: npt.NDArray[np.uint64]  # room to sort them
    tally: npt.NDArray[np.int64]  # by node, to sort them
    at: npt.NDArray[np.int64]  # what the names below say


# The present contribution; the next tie, the number of ties, and the smaller ids that they are taken from.
_CONTRIBUTION, _NEXT, _COUNT, _FROM, _UNTIL = best_link.CONTRIBUTION, 1, 2, 3, 4
# The row that the scan is at, the slots of it that have had their turn, and the highest bound among these.
_ROW, _SLOT, _PASSED = 5, 6, 7


def new_search(candidates: Candidates, *, confined: bool, room: int = _ROOM) -> Search:
    """A search that has not begun; a confined one allows no node yet.

    A node has fewer ties than there are nodes, so twice that room is always enough to go on.
    """
    nodes = len(candidates.row_start) - 1
    in_order = bool((candidates.outer[1:] > candidates.outer[:-1]).all())
    ties = 0 if in_order else max(room, 2 * nodes)
    return Search(
        confined,
        in_order,
        np.zeros(-(-nodes // LANES), np.uint64),
        np.zeros(nodes, np.uint8),
        np.empty(ties, np.uint64),
        np.empty(ties, np.uint64),
        np.empty(nodes + 1, np.int64),
        np.zeros(8, np.int64),
    )


@implements(best_link.restart, Search)
def _restart(search, candidates):
    for u in range(search.row_bound.shape[0]):
        highest = np.uint8(0)
        for block in range(candidates.row_start[u] // LANES, candidates.row_start[u + 1] // LANES):
            if candidates.block_bound[block] > highest:
                highest = candidates.block_bound[block]
        search.row_bound[u] = highest
    search.at[_CONTRIBUTION] = highest_coded(np.uint8(255), candidates.step) + 1
    search.at[_COUNT] = search.at[_NEXT]
    search.at[_UNTIL] = search.row_bound.shape[0]


@step()
def descend(search, candidates):
    """Go down to the next contribution that any row may reach; its ties are not listed yet."""
    highest = np.uint8(0)
    for u in range(search.row_bound.shape[0]):
        if search.row_bound[u] > highest and (not search.confined or is_allowed(search.allowed, u)):
            highest = search.row_bound[u]
    next_lower = highest_coded(highest, candidates.step)
    if next_lower < search.at[_CONTRIBUTION]:
        search.at[_CONTRIBUTION] = next_lower
    else:
        search.at[_CONTRIBUTION] -= 1
    for place in range(_NEXT, _PASSED + 1):
        search.at[place] = 0


@inner_kernel()
def sort_ties(search, count):
    """Sort the first ties: few of them by insertion, many by counting, first the larger ids, then the smaller.

    Not by numpy's sort, nor by new arrays: compiling these took a third of the first design.
    """
    ties = search.ties
    if count * count < _FEW * search.row_bound.shape[0]:
        for k in range(1, count):
            tie = ties[k]
            place = k
            while place > 0 and ties[place - 1] > tie:
                ties[place] = ties[place - 1]
                place -= 1
            ties[place] = tie
    else:
        spare = search.spare
        for half in range(2):
            deal_out(ties, spare, search.tally, count, np.uint64(32 * half))
            ties, spare = spare, ties


@step()
def deal_out(ties, sorted_ties, tally, count, shift):
    """Sort the first ties by one of their ids, which begins at the bit `shift`; those of the same id stay in order."""
    for node in range(tally.shape[0]):
        tally[node] = 0
    for k in range(count):
        tally[np.int64((ties[k] >> shift) & _LOWER) + 1] += 1
    for node in range(tally.shape[0] - 1):
        tally[node + 1] += tally[node]
    for k in range(count):
        digit = np.int64((ties[k] >> shift) & _LOWER)
        sorted_ties[tally[digit]] = ties[k]
        tally[digit] += 1


@step()
def make_room(search):
    """Keep the lower half of a full list of ties, cut between two smaller ids; the rest waits for the next scan."""
    ties = search.ties
    sort_ties(search, ties.shape[0])
    count = ties.shape[0] // 2
    search.at[_UNTIL] = ties[count] >> _HALF
    while ties[count - 1] >> _HALF == ties[count] >> _HALF:
        count -= 1
    search.at[_COUNT] = count


@step()
def list_tie(search, candidates, u, v):
    """Add a link to the ties, if its smaller id has its turn."""
    lower, higher = candidates.outer[u], candidates.outer[v]
    if lower > higher:
        lower, higher = higher, lower
    if search.at[_FROM] <= lower < search.at[_UNTIL]:
        if search.at[_COUNT] == search.ties.shape[0]:
            make_room(search)
        if lower < search.at[_UNTIL]:
            search.ties[search.at[_COUNT]] = (np.uint64(lower) << _HALF) | np.uint64(higher)
            search.at[_COUNT] += 1


@step()
def scan_row(search, topics, candidates, u, threshold):
    """Evaluate the links of row u whose bound reaches the threshold, and list those that contribute it.

    In order, stop at the first and give its node; -1 at the end of the row.
    """
    code = coded(threshold, candidates.step)
    start = candidates.row_start[u]
    place = first_column(u) - start
    passed = np.uint8(search.at[_PASSED])
    end_block = candidates.row_start[u + 1] // LANES
    for first_block in range((start + search.at[_SLOT]) // LANES, end_block, LANES):
        here = _ALL >> np.uint64(max(0, first_block + LANES - end_block))
        due = at_least(candidates.block_bound, first_block, code) & here
        passed = max(passed, highest_of(candidates.block_bound, first_block, here & ~due))
        while due:
            first = (first_block + lowest_bit(due)) * LANES
            due &= due - _ONE
            slots = search.allowed[(place + first) >> 6] if search.confined else _ALL
            if slots == 0:
                continue
            tighten(topics, candidates.bound, first, u, place + first)
            hits = at_least(candidates.bound, first, code) & slots
            # Before the bytes are written: to read what has just been written in parts would wait for it.
            highest = highest_of(candidates.bound, first, ~hits)
            if search.confined:
                passed = max(passed, highest_of(candidates.bound, first, slots & ~hits))
            evaluated = np.uint8(0)
            while hits:
                slot = first + lowest_bit(hits)
                hits &= hits - _ONE
                merged = contribution(topics, u, place + slot, threshold)
                bound = coded(merged, candidates.step)
                candidates.bound[slot] = bound
                evaluated = max(evaluated, bound)
                if merged >= threshold:
                    if search.in_order:
                        search.at[_SLOT] = first - start
                        search.at[_PASSED] = passed
                        return place + slot
                    list_tie(search, candidates, u, place + slot)
            highest = max(highest, evaluated)
            candidates.block_bound[first // LANES] = highest
            passed = max(passed, evaluated if search.confined else highest)
    search.row_bound[u] = passed
    return np.int64(-1)


@step()
def scan(search, topics, candidates, threshold):
    """Scan the rows that may reach the threshold; in order, until a link of row `at[_ROW]` does.

    Gives the other node of that link; -1 after the last row.
    """
    code = coded(threshold, candidates.step)
    for u in range(search.at[_ROW], search.row_bound.shape[0]):
        if search.row_bound[u] < code:
            continue
        if not search.confined or is_allowed(search.allowed, u):
            v = scan_row(search, topics, candidates, u, threshold)
            if v >= 0:
                search.at[_ROW] = u
                return v
        search.at[_SLOT] = 0
        search.at[_PASSED] = 0
    return np.int64(-1)


@step()
def next_tie(search, topics, candidates, threshold):
    """The next tie that still contributes the threshold, as (node, node); -1 twice after the last."""
    while search.at[_NEXT] < search.at[_COUNT]:
        tie = search.ties[search.at[_NEXT]]
        u = np.int64(candidates.inner[np.int64(tie >> _HALF)])
        v = np.int64(candidates.inner[np.int64(tie & _LOWER)])
        allowed = not search.confined or (is_allowed(search.allowed, u) and is_allowed(search.allowed, v))
        if allowed and contribution(topics, u, v, threshold) >= threshold:
            return u, v
        search.at[_NEXT] += 1
    return np.int64(-1), np.int64(-1)


@implements(best_link.find_best, Search)
def _find_best(search, topics, candidates, least):
    at = search.at
    nodes = search.row_bound.shape[0]
    while at[_CONTRIBUTION] >= least:
        threshold = at[_CONTRIBUTION]
        u, v = next_tie(search, topics, candidates, threshold)
        if v >= 0:
            return u, v, threshold
        if at[_UNTIL] == nodes:
            descend(search, candidates)
            continue
        if not search.in_order:
            at[_NEXT] = 0
            at[_COUNT] = 0
            at[_FROM] = at[_UNTIL]
        at[_UNTIL] = nodes
        v = scan(search, topics, candidates, threshold)
        if v >= 0:
            at[_UNTIL] = at[_ROW]
            return at[_ROW], v, threshold
        sort_ties(search, at[_COUNT])
    return np.int64(0), np.int64(0), np.int64(0)
