"""The search for the best link: highest contribution, then lowest (smaller id, larger id); for topics as bitsets.

It goes down the contributions from the highest. At each one it scans the candidates, skips groups of 64 blocks and
blocks whose bound is lower, evaluates the links whose bound is not, and lists those that do contribute that much: the
ties. Sorted by ids, they are handed out one after the other, each after a second look, because links added meanwhile
may have taken its contribution. Contributions only fall, so no tie can appear later; when the list is empty the
next lower contribution has its turn.

The list has a fixed room. Where ties are more, it keeps those of the lowest smaller ids, and the scan is
repeated for the rest. Where candidates lie row after row in the order of ids, ties come up in their order, and none are
listed: the scan stops at each one and goes on from there.

Where many links of a row with a panel are due, the contributions of all 512 are counted at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels import greedy
from topicloom.kernels.greedy import contribution, implements, is_allowed
from topicloom.kernels.jit import inlined, inner_kernel, step
from topicloom.kernels.pair_bounds import ROWS, Candidates, coded, highest_coded
from topicloom.kernels.simd import LANES, WIDE, WORDS, at_least, highest_of, lowest_bit, popcount, prefetch
from topicloom.kernels.topic_bits import bound_blocks, lower_to_counts, tighten, tighten_blocks

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)
_EIGHTH = np.uint64(0x0101010101010101)
_DIAGONAL = np.uint64(0x8040201008040201)
# How many ties are listed at once, at least.
TIES = 1 << 20
# Ties are few while their square, the cost of inserting them, is below so many times the nodes, which counting walks.
_FEW = 8
# To count all 512 links of a row with a panel costs as much as to evaluate four and one for every 16 topics of the row.
_LINKS_A_COUNT, _TOPICS_A_LINK = 4, 16


class Search(NamedTuple):
    """Where a search stands. It may be confined to links between allowed nodes."""

    confined: bool
    in_order: bool  # whether candidates are, row after row, in the order of ids; else they are in panels
    allowed: npt.NDArray[np.uint64]  # one bit a node
    group_slot: npt.NDArray[np.int64]  # the first slot of each group: 8 rows of a panel, or up to 64 blocks of a row
    group_length: npt.NDArray[np.int32]  # its blocks
    group_node: npt.NDArray[np.int32]  # its first row
    group_column: npt.NDArray[np.int32]  # the first node of its first block
    group_bound: npt.NDArray[np.uint8]  # its highest bound among rows of allowed nodes, coded
    ties: npt.NDArray[np.uint64]  # links as (smaller id << 32 | larger id), sorted
    spare: npt.NDArray[np.uint64]  # room to sort them
    tally: npt.NDArray[np.int64]  # by node, to sort them
    at: npt.NDArray[np.int64]  # what the names below say


# The present contribution; the next tie, the number of ties, and the smaller ids that they are taken from.
_CONTRIBUTION, _NEXT, _COUNT, _FROM, _UNTIL = greedy.CONTRIBUTION, 1, 2, 3, 4
# The group that the scan is at, and the blocks of it that have had their turn.
_GROUP, _BLOCK = 5, 6


def new_search(candidates: Candidates, *, confined: bool, capacity: int = TIES) -> Search:
    """A search that has not begun; a confined one allows no node yet.

    A node has fewer ties than there are nodes, so twice that capacity is always enough to continue.
    """
    nodes = len(candidates.outer)
    in_order = len(candidates.row_start) > 0
    ties = 0 if in_order else max(capacity, 2 * nodes)
    slot, length, node, column = _groups(candidates)
    return Search(
        confined,
        in_order,
        np.zeros(-(-nodes // WIDE) * WORDS, np.uint64),
        slot,
        length,
        node,
        column,
        np.zeros(len(slot), np.uint8),
        np.empty(ties, np.uint64),
        np.empty(ties, np.uint64),
        np.empty(nodes + 1, np.int64),
        np.zeros(7, np.int64),
    )


def _groups(candidates: Candidates) -> tuple[npt.NDArray[Any], ...]:
    """First slot, number of blocks, first row and first column of each group."""
    nodes = len(candidates.outer)
    if len(candidates.row_start) == 0:
        column = np.arange(0, nodes, WIDE)
        groups = -(-np.minimum(column + WIDE, nodes) // ROWS)
        column = np.repeat(column, groups)
        slot = np.arange(len(column)) * LANES**2
        row = (slot - candidates.panel_base[column // WIDE]) // WIDE
        return slot, np.full(len(row), LANES, np.int32), row.astype(np.int32), column.astype(np.int32)
    blocks = np.diff(candidates.row_start) // LANES
    groups = -(-blocks // LANES)
    row = np.repeat(np.arange(nodes), groups)
    before = (np.arange(len(row)) - np.repeat(np.cumsum(groups) - groups, groups)) * LANES
    slot, length = candidates.row_start[row] + before * LANES, np.minimum(blocks[row] - before, LANES)
    column = slot - candidates.row_base[row]
    return slot, length.astype(np.int32), row.astype(np.int32), column.astype(np.int32)


@implements(greedy.restart, Search)
def _restart(search, instance):
    candidates = instance.candidates
    for group in range(search.group_bound.shape[0]):
        here = _ALL >> np.uint64(LANES - search.group_length[group])
        search.group_bound[group] = highest_of(candidates.block_bound, search.group_slot[group] // LANES, here)
    search.at[_CONTRIBUTION] = highest_coded(np.uint8(255), candidates.step) + 1
    search.at[_COUNT] = search.at[_NEXT]
    search.at[_UNTIL] = candidates.outer.shape[0]


@step()
def descend(search, candidates):
    """Go down to the next contribution that any group may reach; its ties are not listed yet."""
    highest = np.uint8(0)
    for group in range(search.group_bound.shape[0]):
        highest = max(highest, search.group_bound[group])
    next_lower = highest_coded(highest, candidates.step)
    if next_lower < search.at[_CONTRIBUTION]:
        search.at[_CONTRIBUTION] = next_lower
    else:
        search.at[_CONTRIBUTION] -= 1
    for place in range(_NEXT, _BLOCK + 1):
        search.at[place] = 0


@inner_kernel()
def sort_ties(search, count):
    """Sort the first ties: few of them by insertion, many by counting, first the larger ids, then the smaller.

    Not by numpy's sort, nor by new arrays: compiling these took a third of the first design.
    """
    ties = search.ties
    if count * count < _FEW * search.tally.shape[0]:
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
            counting_sort(ties, spare, search.tally, count, np.uint64(32 * half))
            ties, spare = spare, ties


@step()
def counting_sort(ties, sorted_ties, tally, count, shift):
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
def drop_upper_half(search):
    """Keep the lower half of a full list of ties, cut between two smaller ids; the rest waits for the next scan."""
    ties = search.ties
    sort_ties(search, ties.shape[0])
    count = ties.shape[0] // 2
    search.at[_UNTIL] = ties[count] >> _HALF
    while ties[count - 1] >> _HALF == ties[count] >> _HALF:
        count -= 1
    search.at[_COUNT] = count


@step()
def add_tie(search, candidates, u, v):
    """Add a link to the ties, if its smaller id has its turn."""
    lower, higher = candidates.outer[u], candidates.outer[v]
    if lower > higher:
        lower, higher = higher, lower
    if search.at[_FROM] <= lower < search.at[_UNTIL]:
        if search.at[_COUNT] == search.ties.shape[0]:
            drop_upper_half(search)
        if lower < search.at[_UNTIL]:
            search.ties[search.at[_COUNT]] = (np.uint64(lower) << _HALF) | np.uint64(higher)
            search.at[_COUNT] += 1


@step()
def allowed_blocks(search, group):
    """The blocks of a group whose row is that of an allowed node, as bits."""
    here = _ALL >> np.uint64(LANES - search.group_length[group])
    node = np.int64(search.group_node[group])
    if not search.confined:
        return here
    if not search.in_order:
        return spread_bits(search.allowed[node >> 6] >> np.uint64(node & 63))
    return here if is_allowed(search.allowed, node) else np.uint64(0)


@inlined()
def spread_bits(word):
    """Make a byte of ones of each of the lowest eight bits that is set."""
    one_each = (word & _BYTE) * _EIGHTH & _DIAGONAL
    return ((one_each + (_EIGHTH * np.uint64(127)) | one_each) >> np.uint64(7) & _EIGHTH) * _BYTE


@step()
def ask_ahead(bounds, start, blocks):
    """Ask the memory for some blocks of a group at once: a twelfth of the time of `minmax-oda`, which looks at few."""
    while blocks:
        prefetch(bounds, start + lowest_bit(blocks) * LANES)
        blocks &= blocks - _ONE


@step()
def count_due(search, topics, candidates, first, node, column, blocks, code):
    """How many links of a row with some of the blocks of a panel may reach a bound."""
    due = np.int64(0)
    while blocks:
        block = lowest_bit(blocks)
        blocks &= blocks - _ONE
        slots = search.allowed[(column >> 6) + block] if search.confined else _ALL
        tighten(topics, candidates.bound, first + block * LANES, node, column + block * LANES)
        due += np.int64(popcount(at_least(candidates.bound, first + block * LANES, code) & slots))
    return due


@step()
def scan_group(search, topics, candidates, group, threshold):
    """Evaluate the links of a group whose bound reaches the threshold, and list those that contribute it.

    In order, stop at the first and give its node; -1 at the end of the group.
    """
    code = coded(threshold, candidates.step)
    start = search.group_slot[group]
    u, v = np.int64(search.group_node[group]), np.int64(search.group_column[group])
    rows, columns = (np.int64(0), np.int64(WIDE)) if search.in_order else (np.int64(1), np.int64(0))
    blocks = allowed_blocks(search, group)
    tighten_blocks(topics, candidates.block_bound, start // LANES, u, v, search.in_order, blocks)
    due = at_least(candidates.block_bound, start // LANES, code) & blocks & (_ALL << np.uint64(search.at[_BLOCK]))
    ask_ahead(candidates.bound, start, due)
    while due:
        part = lowest_bit(due) // WORDS
        mine = due >> np.uint64(part * WORDS) & _BYTE
        due ^= mine << np.uint64(part * WORDS)
        node, column, slot = u + part * rows, v + part * columns, start + part * WIDE
        links = count_due(search, topics, candidates, slot, node, column, mine, code)
        if (links - _LINKS_A_COUNT) * _TOPICS_A_LINK > topics.node_start[node + 1] - topics.node_start[node]:
            lower_to_counts(topics, candidates, slot, node, column)
            mine = _BYTE
        while mine:
            block = lowest_bit(mine)
            mine &= mine - _ONE
            first, others = slot + block * LANES, column + block * LANES
            slots = search.allowed[others >> 6] if search.confined else _ALL
            hits = at_least(candidates.bound, first, code) & slots
            # Before the bytes are written: to read what has just been written in parts would wait for it.
            highest = highest_of(candidates.bound, first, ~hits)
            evaluated = np.uint8(0)
            while hits:
                lane = lowest_bit(hits)
                hits &= hits - _ONE
                merged = contribution(topics, node, others + lane, threshold)
                bound = coded(merged, candidates.step)
                candidates.bound[first + lane] = bound
                evaluated = max(evaluated, bound)
                if merged >= threshold:
                    if search.in_order:
                        search.at[_BLOCK] = part * WORDS + block
                        return others + lane
                    add_tie(search, candidates, node, others + lane)
            candidates.block_bound[first // LANES] = max(highest, evaluated)
    search.group_bound[group] = highest_of(candidates.block_bound, start // LANES, blocks)
    return np.int64(-1)


@step()
def scan(search, topics, candidates, threshold):
    """Scan the groups that may reach the threshold; in order, until a link of group `at[_GROUP]` does.

    Gives the other node of that link; -1 after the last group.
    """
    code = coded(threshold, candidates.step)
    if search.at[_GROUP] == 0 and search.at[_BLOCK] == 0:
        bound_blocks(topics)
    for group in range(search.at[_GROUP], search.group_bound.shape[0]):
        if search.group_bound[group] < code:
            continue
        v = scan_group(search, topics, candidates, group, threshold)
        if v >= 0:
            search.at[_GROUP] = group
            return v
        search.at[_BLOCK] = 0
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


@implements(greedy.find_best, Search)
def _find_best(search, instance, least):
    topics, candidates = instance.topics, instance.candidates
    at = search.at
    nodes = candidates.outer.shape[0]
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
            at[_UNTIL] = 0
            return np.int64(search.group_node[at[_GROUP]]), v, threshold
        sort_ties(search, at[_COUNT])
    return np.int64(0), np.int64(0), np.int64(0)
