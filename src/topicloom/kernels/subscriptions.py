"""Subscriptions as kernels read them: lists in both directions, and a bit for each node and topic if that is small."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.draws import hash_of
from topicloom.kernels.jit import inlined, inner_kernel, kernel, tight_kernel
from topicloom.kernels.simd import popcount

_ONE = np.uint64(1)
_WORD = 64
# Beyond this many bytes a look at a bit is a look at memory, and a short list in one cache line is faster.
_MOST_BIT_BYTES = 1 << 25
# At most so many members of a topic are compared with each node.
_MOST_MEMBERS = 4000


class Subscriptions(NamedTuple):
    """Who wants what; see `Interest`."""

    node_start: npt.NDArray[np.int64]
    node_topics: npt.NDArray[np.int32]
    topic_start: npt.NDArray[np.int64]
    topic_nodes: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]  # node x word, one after the other; empty if they would take too much
    words: int  # of a node


def new_subscriptions(
    node_start: npt.NDArray[np.int64],
    node_topics: npt.NDArray[np.int32],
    topic_start: npt.NDArray[np.int64],
    topic_nodes: npt.NDArray[np.int32],
) -> Subscriptions:
    """Subscriptions with bits if these are small enough."""
    nodes, words = len(node_start) - 1, -(-(len(topic_start) - 1) // _WORD)
    bits = np.zeros(nodes * words if nodes * words * 8 <= _MOST_BIT_BYTES else 0, np.uint64)
    subscriptions = Subscriptions(node_start, node_topics, topic_start, topic_nodes, bits, words)
    if len(bits):
        set_bits(subscriptions)
    return subscriptions


@tight_kernel()
def set_bits(subscriptions):
    """Set the bit of every subscription."""
    for v in range(subscriptions.node_start.shape[0] - 1):
        for place in range(subscriptions.node_start[v], subscriptions.node_start[v + 1]):
            t = subscriptions.node_topics[place]
            subscriptions.bits[v * subscriptions.words + (t >> 6)] |= _ONE << np.uint64(t & 63)


@inlined()
def wants(subscriptions, v, t):
    """Whether a node wants a topic."""
    if subscriptions.bits.shape[0]:
        word = subscriptions.bits[v * subscriptions.words + (t >> 6)]
        return (word >> np.uint64(t & 63)) & _ONE != 0
    low, high = subscriptions.node_start[v], subscriptions.node_start[v + 1]
    while high - low > 8:
        middle = (low + high) >> 1
        if subscriptions.node_topics[middle] <= t:
            low = middle
        else:
            high = middle
    while low < high:
        if subscriptions.node_topics[low] >= t:
            return subscriptions.node_topics[low] == t
        low += 1
    return False


@inner_kernel()
def in_common(subscriptions, a, b):
    """How many topics two nodes have in common."""
    total = np.int64(0)
    if subscriptions.bits.shape[0]:
        one, other = a * subscriptions.words, b * subscriptions.words
        for word in range(subscriptions.words):
            total += np.int64(popcount(subscriptions.bits[one + word] & subscriptions.bits[other + word]))
        return total
    one, one_end = subscriptions.node_start[a], subscriptions.node_start[a + 1]
    other, other_end = subscriptions.node_start[b], subscriptions.node_start[b + 1]
    while one < one_end and other < other_end:
        t, its = subscriptions.node_topics[one], subscriptions.node_topics[other]
        total += np.int64(t == its)
        one += np.int64(t <= its)
        other += np.int64(its <= t)
    return total


@kernel()
def nearest_nodes(subscriptions, count, salt):
    """The nodes that have most topics in common with each node, at most `count` and -1 after them.

    Of equals, those with the highest hash are taken. Of topics with very many members every second, third, ... counts.
    """
    node_start, topic_start = subscriptions.node_start, subscriptions.topic_start
    nodes = node_start.shape[0] - 1
    nearest = np.full((nodes, count), -1, np.int32)
    common = np.zeros(nodes, np.int32)
    found = np.empty(nodes, np.int32)
    tied = np.empty(nodes, np.int32)
    keys = np.empty(nodes, np.uint64)
    for x in range(nodes):
        size = 0
        highest = 0
        for place in range(node_start[x], node_start[x + 1]):
            t = subscriptions.node_topics[place]
            members = topic_start[t + 1] - topic_start[t]
            stride = (members + _MOST_MEMBERS - 1) // _MOST_MEMBERS
            for member in range(topic_start[t] + x % stride, topic_start[t + 1], stride):
                y = subscriptions.topic_nodes[member]
                if common[y] == 0:
                    found[size] = y
                    size += 1
                common[y] += 1
                highest = max(highest, common[y])
        with_common = np.zeros(highest + 1, np.int64)
        common[x] = 0
        for k in range(size):
            with_common[common[found[k]]] += 1
        left, least = count, highest
        while least > 0 and with_common[least] <= left:
            left -= with_common[least]
            least -= 1
        taken, ties = 0, 0
        for k in range(size):
            y = found[k]
            if common[y] > least:
                nearest[x, taken] = y
                taken += 1
            elif common[y] == least and least > 0:
                tied[ties] = y
                keys[ties] = hash_of(salt, x, y)
                ties += 1
            common[y] = 0
        if left > 0 and ties > 0:
            order = np.argsort(keys[:ties])
            for k in range(min(left, ties)):
                nearest[x, taken] = tied[order[ties - 1 - k]]
                taken += 1
        nearest[x, :taken].sort()
    return nearest
