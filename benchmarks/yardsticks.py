"""What designers are compared with."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import kernel, tight_kernel
from topicloom.kernels.simd import popcount
from topicloom.kernels.topic_bits import new_topic_bits
from topicloom.model import Interest


@tight_kernel()
def count_every_pair(bits):
    """Count the common topics of every pair of nodes, and keep only the highest count."""
    nodes, words = bits.shape
    highest = np.uint64(0)
    for u in range(nodes):
        of_u = bits[u]
        for v in range(u + 1, nodes):
            of_v = bits[v]
            common = np.uint64(0)
            for word in range(words):
                common += popcount(of_u[word] & of_v[word])
            highest = max(highest, common)
    return highest


@kernel()
def textbook_greedy_merge(node_start, node_topics, topic_start, topic_nodes):
    """Algorithm 3 of GM 2007 as printed: every contribution exact at all times, links in a list per contribution.

    Give the number of links. Ties fall as the lists have them, so the links are not those of `gm`.
    """
    nodes, subscriptions = node_start.shape[0] - 1, node_topics.shape[0]
    slots = nodes * nodes
    contribution = np.zeros(slots, np.int32)
    for topic in range(topic_start.shape[0] - 1):
        for i in range(topic_start[topic], topic_start[topic + 1]):
            for j in range(i + 1, topic_start[topic + 1]):
                contribution[topic_nodes[i] * nodes + topic_nodes[j]] += 1
    highest = contribution.max()
    first = np.full(highest + 1, -1, np.int32)
    before = np.full(slots, -1, np.int32)
    after = np.full(slots, -1, np.int32)
    for slot in range(slots):
        if contribution[slot] > 0:
            push(first, before, after, contribution[slot], slot)
    label = np.arange(subscriptions)
    following = np.arange(subscriptions)
    subscriber = np.empty(subscriptions, np.int32)
    for u in range(nodes):
        subscriber[node_start[u] : node_start[u + 1]] = u
    links = 0
    while highest > 0:
        if first[highest] < 0:
            highest -= 1
            continue
        slot = first[highest]
        links += 1
        u, v = slot // nodes, slot % nodes
        i, j = node_start[u], node_start[v]
        while i < node_start[u + 1] and j < node_start[v + 1]:
            if node_topics[i] < node_topics[j]:
                i += 1
            elif node_topics[i] > node_topics[j]:
                j += 1
            else:
                if label[i] != label[j]:
                    lower_pairs(nodes, contribution, first, before, after, label, following, subscriber, i, j)
                i += 1
                j += 1
    return links


@kernel()
def lower_pairs(nodes, contribution, first, before, after, label, following, subscriber, i, j):
    """Lower every link between the components of two subscriptions, and join them."""
    a = i
    while True:
        b = j
        while True:
            u, v = min(subscriber[a], subscriber[b]), max(subscriber[a], subscriber[b])
            slot = u * nodes + v
            take_out(first, before, after, contribution[slot], slot)
            contribution[slot] -= 1
            if contribution[slot] > 0:
                push(first, before, after, contribution[slot], slot)
            b = following[b]
            if b == j:
                break
        a = following[a]
        if a == i:
            break
    b = j
    while True:
        label[b] = label[i]
        b = following[b]
        if b == j:
            break
    following[i], following[j] = following[j], following[i]


@kernel()
def push(first, before, after, value, slot):
    """Put a link in front of the list of its contribution."""
    before[slot] = -1
    after[slot] = first[value]
    if first[value] >= 0:
        before[first[value]] = slot
    first[value] = slot


@kernel()
def take_out(first, before, after, value, slot):
    """Take a link out of the list of its contribution."""
    if before[slot] >= 0:
        after[before[slot]] = after[slot]
    else:
        first[value] = after[slot]
    if after[slot] >= 0:
        before[after[slot]] = before[slot]


def counting_pass(interest: Interest) -> Callable[[], object]:
    """The pass that just counts every pair's common topics with popcounts, compiled."""
    bits = _bits(interest)
    count_every_pair(bits[:2])
    return lambda: count_every_pair(bits)


def floor_seconds(interest: Interest, repeats: int = 5) -> float:
    """Seconds of the counting pass; the best of some."""
    count = counting_pass(interest)
    return min(_timed(count) for _ in range(repeats))


def textbook_seconds(interest: Interest) -> float:
    """Seconds of textbook Greedy Merge."""
    tiny = Interest.from_pairs([("a", "x"), ("b", "x")])
    textbook_greedy_merge(tiny.node_start, tiny.node_topics, tiny.topic_start, tiny.topic_nodes)
    return _timed(
        lambda: textbook_greedy_merge(
            interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes
        )
    )


def _bits(interest: Interest) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(
        new_topic_bits(interest.node_start, interest.node_topics, interest.topic_count).bits[:, 0]
    )


def _timed(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began
