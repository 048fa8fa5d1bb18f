"""Links added again, the best first, until the topics that fell apart are connected.

Candidates of a node in a part are the nodes with most common topics, and some members of topics in which it is in a
part. Pairs of nodes that are in several parts are candidates too, and the links that were removed. They lie in a heap
by the contribution that they had when last evaluated: an upper bound, as contributions only fall. The candidates of a
node are made only when the number of topics in which it is in a part comes to the top: an upper bound too, but for
links to nodes that are in parts themselves. A round is given up as soon as the best link is too weak.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.changes import GIVEN_CANDIDATES, Given, is_limited, was_given
from topicloom.kernels.draws import hash_of
from topicloom.kernels.jit import inlined, inner_kernel
from topicloom.kernels.neighbours import SHARED, add, has_place
from topicloom.kernels.simd import lowest_bit, popcount
from topicloom.kernels.splits import (
    FIRST,
    MISSING,
    MOST_NODES,
    MOST_REMOVED,
    NODES,
    ROW,
    WORDS,
    in_parts,
    merge,
    merges,
)
from topicloom.kernels.subscriptions import in_common
from topicloom.kernels.topic_links import connect, has_space, list_common

# All pairs of so many nodes that are in most parts are candidates.
MOST_PAIRED = 64
# So many members of its topics are candidates of a node, drawn at random.
MEMBERS = 4
_TIE_BITS = 38
_NOISE_BITS = 32
# A degree more at either end counts as an eighth of the random part of a tie, a topic in common as a quarter.
_DEGREE_SHIFT = _NOISE_BITS - 3
_COMMON_SHIFT = _NOISE_BITS - 2
_MOST_COMMON = 127
# If changes are limited, a link that was given counts as two topics in common more.
_GIVEN_SHIFT = _NOISE_BITS - 1
_ANY = np.int64((1 << _TIE_BITS) - 1)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


class Heap(NamedTuple):
    """Candidate links, the best on top; a link to -1 stands for all candidates of its node."""

    key: npt.NDArray[np.int64]
    one: npt.NDArray[np.int32]
    other: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    by_parts: npt.NDArray[np.int32]  # space to sort nodes


class Limits(NamedTuple):
    """Which links may be added, what they cost, and which were given."""

    group: npt.NDArray[np.int32]
    permitted: npt.NDArray[np.bool_]  # group x group
    price_group: npt.NDArray[np.int32]
    price: npt.NDArray[np.int64]  # group x group; empty if every link costs 1
    cheapest: npt.NDArray[np.int64]  # by price group: the lowest price of its links
    unit: float  # value of a merge at price 1
    given: Given


class Ruin(NamedTuple):
    """Links removed in a round, and those added."""

    u: npt.NDArray[np.int32]
    v: npt.NDArray[np.int32]
    added_u: npt.NDArray[np.int32]
    added_v: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]  # links removed, links added, their costs, the last centre


REMOVED, ADDED, COST_REMOVED, COST_ADDED, CENTRE = range(5)


def new_heap(nearest: int) -> Heap:
    """An empty heap with space for all candidates of a round."""
    most = MOST_NODES * (nearest + MEMBERS + GIVEN_CANDIDATES + 1) + MOST_PAIRED * (MOST_PAIRED - 1) // 2 + MOST_REMOVED
    keys, ids = np.zeros(most, np.int64), np.zeros(most, np.int32)
    return Heap(keys, ids, ids.copy(), np.zeros(1, np.int64), np.zeros(MOST_NODES, np.int32))


def new_ruin() -> Ruin:
    """No link removed yet."""
    u, v, added_u, added_v = (np.zeros(size * MOST_REMOVED, np.int32) for size in (1, 1, 2, 2))
    return Ruin(u, v, added_u, added_v, np.zeros(5, np.int64))


def workspace_bytes() -> int:
    """Bytes that a round takes at most, whatever the interest."""
    return 1 << 21


@inner_kernel()
def push(heap, key, a, b):
    """Put a candidate into the heap."""
    at = heap.size[0]
    heap.size[0] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if heap.key[above] >= key:
            break
        heap.key[at], heap.one[at], heap.other[at] = heap.key[above], heap.one[above], heap.other[above]
        at = above
    heap.key[at], heap.one[at], heap.other[at] = key, a, b


@inner_kernel()
def lower_top(heap, key, a, b):
    """Replace the candidate on top by one with a lower key."""
    size = heap.size[0]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap.key[below + 1] > heap.key[below]:
            below += 1
        if heap.key[below] <= key:
            break
        heap.key[at], heap.one[at], heap.other[at] = heap.key[below], heap.one[below], heap.other[below]
        at = below
    heap.key[at], heap.one[at], heap.other[at] = key, a, b


@inner_kernel()
def pop(heap):
    """Take the candidate on top out of the heap."""
    last = heap.size[0] - 1
    heap.size[0] = last
    if last > 0:
        lower_top(heap, heap.key[last], heap.one[last], heap.other[last])


@inlined()
def cost_of(limits, a, b):
    """What a link costs."""
    if limits.price.shape[0] == 0:
        return np.int64(1)
    return limits.price[limits.price_group[a], limits.price_group[b]]


@inlined()
def value_of(limits, contribution, cost):
    """How good it is to merge so much at such a cost, as a whole number."""
    if limits.price.shape[0] == 0:
        return np.int64(contribution)
    return max(np.int64(1), np.int64(contribution * limits.unit / cost)) if contribution > 0 else np.int64(0)


@inlined()
def key_of(limits, neighbours, subscriptions, salt, contribution, a, b):
    """What candidates are ordered by: value; then topics in common, low degrees and a random number together."""
    low, high = min(a, b), max(a, b)
    noise = np.int64(hash_of(salt, low, high) >> np.uint64(64 - _NOISE_BITS))
    ends = neighbours.degree[a] + neighbours.degree[b]
    common = np.int64(min(in_common(subscriptions, a, b), _MOST_COMMON) - _MOST_COMMON)
    tie = _ANY - (np.int64(2) << _NOISE_BITS) + (common << _COMMON_SHIFT) - (np.int64(ends) << _DEGREE_SHIFT)
    tie = noise + max(np.int64(0), tie)
    if is_limited(limits.given) and was_given(limits.given, a, b):
        tie += np.int64(1) << _GIVEN_SHIFT
    return (value_of(limits, contribution, cost_of(limits, a, b)) << _TIE_BITS) | tie


@inlined()
def bound_of(limits, x, contribution):
    """The key above all links of a node that is in so many parts to nodes in none."""
    cost = np.int64(1) if limits.price.shape[0] == 0 else limits.cheapest[limits.price_group[x]]
    return (value_of(limits, contribution, cost) << _TIE_BITS) | (_ANY - x)


@inlined()
def may_link(limits, neighbours, a, b):
    """Whether a link may be added."""
    if a == b or not has_place(neighbours, a) or not has_place(neighbours, b):
        return False
    return limits.permitted.shape[0] == 1 or limits.permitted[limits.group[a], limits.group[b]]


@inner_kernel()
def push_link(heap, limits, neighbours, parts, subscriptions, salt, least, a, b):
    """Put a link into the heap if it may be added and contributes at least so much."""
    contribution = merges(parts, subscriptions, a, b)
    if contribution >= least and may_link(limits, neighbours, a, b):
        push(heap, key_of(limits, neighbours, subscriptions, salt, contribution, a, b), a, b)


@inner_kernel()
def push_first(heap, limits, neighbours, parts, subscriptions, salt, ruin):
    """Put removed links, pairs of nodes in several parts, and a bound for the candidates of each node into the heap."""
    heap.size[0] = 0
    for k in range(ruin.counts[REMOVED]):
        push_link(heap, limits, neighbours, parts, subscriptions, salt, 1, ruin.u[k], ruin.v[k])
    several = 0
    for row in range(parts.counts[NODES]):
        x = parts.node[row]
        contribution = in_parts(parts, row)
        push(heap, bound_of(limits, x, contribution), x, -1)
        if contribution > 1 and several < MOST_PAIRED:
            heap.by_parts[several] = x
            several += 1
    for i in range(several):
        for j in range(i):
            push_link(heap, limits, neighbours, parts, subscriptions, salt, 2, heap.by_parts[i], heap.by_parts[j])


@inner_kernel()
def push_candidates(heap, limits, neighbours, parts, subscriptions, salt, nearest, x):
    """Put the candidates of a node into the heap."""
    near = nearest.shape[1]
    given, first = 0, 0
    if is_limited(limits.given):
        first = limits.given.start[x]
        given = min(limits.given.start[x + 1] - first, GIVEN_CANDIDATES)
    # One loop for both: with one more call of `push_link`, rounds took four times as long where compiled just before.
    for k in range(near + given):
        y = nearest[x, k] if k < near else limits.given.node[first + k - near]
        if y >= 0:
            push_link(heap, limits, neighbours, parts, subscriptions, salt, 1, x, y)
    words = parts.counts[WORDS]
    row = parts.place[x]
    total = np.int64(0)
    for word in range(words):
        total += np.int64(popcount(parts.bits[(row * words + word) * ROW + FIRST]))
    for k in range(MEMBERS):
        drawn = hash_of(salt, x, k)
        skip = np.int64(drawn & np.uint64(0xFFFFFF)) % total
        word = 0
        rest = parts.bits[row * words * ROW + FIRST]
        while skip >= np.int64(popcount(rest)):
            skip -= np.int64(popcount(rest))
            word += 1
            rest = parts.bits[(row * words + word) * ROW + FIRST]
        while skip > 0:
            rest &= rest - _ONE
            skip -= 1
        t = parts.topic[(word << 6) + lowest_bit(rest), 0]
        first = subscriptions.topic_start[t]
        members = subscriptions.topic_start[t + 1] - first
        y = subscriptions.topic_nodes[first + np.int64(drawn >> np.uint64(32)) % members]
        push_link(heap, limits, neighbours, parts, subscriptions, salt, 1, x, y)


@inlined()
def least_cost(limits, missing, value):
    """Lower bound on the cost of so many merges if none has a higher value."""
    if limits.price.shape[0] == 0:
        return (missing + value - 1) // value
    return np.int64(missing * limits.unit / (value + 1))


@inner_kernel()
def recreate(heap, limits, neighbours, links, parts, subscriptions, salt, nearest, ruin, allowed):
    """Add the best candidates until nothing is missing; tell whether that costs no more than `allowed`."""
    push_first(heap, limits, neighbours, parts, subscriptions, salt, ruin)
    while parts.counts[MISSING] > 0:
        if heap.size[0] == 0:
            return False
        key, a, b = heap.key[0], heap.one[0], heap.other[0]
        value = key >> _TIE_BITS
        if value == 0 or ruin.counts[COST_ADDED] + least_cost(limits, parts.counts[MISSING], value) > allowed:
            return False
        if b < 0:
            contribution = in_parts(parts, parts.place[a])
            bound = bound_of(limits, a, contribution)
            if contribution > 0 and bound < key:
                lower_top(heap, bound, a, b)
                continue
            pop(heap)
            if contribution > 0:
                push_candidates(heap, limits, neighbours, parts, subscriptions, salt, nearest, a)
            continue
        contribution = merges(parts, subscriptions, a, b)
        if contribution == 0 or not may_link(limits, neighbours, a, b):
            pop(heap)
            continue
        now = key_of(limits, neighbours, subscriptions, salt, contribution, a, b)
        if now < key:
            lower_top(heap, now, a, b)
            continue
        pop(heap)
        added = ruin.counts[ADDED]
        cost = cost_of(limits, a, b)
        if added == ruin.added_u.shape[0] or ruin.counts[COST_ADDED] + cost > allowed:
            return False
        pairs = list_common(links, subscriptions, a, b)
        if not has_space(links, pairs):
            return False
        connect(links, pairs)
        neighbours.total[SHARED] += pairs
        merge(parts, subscriptions, links, pairs, a, b)
        add(neighbours, a, b)
        ruin.added_u[added], ruin.added_v[added] = a, b
        ruin.counts[ADDED] = added + 1
        ruin.counts[COST_ADDED] += cost
    return True
