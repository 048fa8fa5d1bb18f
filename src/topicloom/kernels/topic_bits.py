"""Topics as bitsets, for interests whose nodes share many topics.

In each topic the largest component is remembered as a second set of bits: a node is *outside* in a topic when
it wants it and is not in its largest component. Two nodes inside are joined already; if one is outside, the link
joins them unless both sit in the same smaller component. So a contribution is a popcount over the common topics
in which one of the two is outside, less the topics in which both share a smaller component, which are looked at
one by one and only for the few links whose popcount reaches the threshold (14,279 of 12 million evaluations on
the 10,000-node Zipf workload).

The number of topics in which a node is outside also bounds the contribution of all its links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels import greedy
from topicloom.kernels.components import Circles, join_labelled, new_circles
from topicloom.kernels.greedy import implements
from topicloom.kernels.jit import inner_kernel, step
from topicloom.kernels.pair_bounds import EXACT, code_counts
from topicloom.kernels.simd import (
    LANES,
    WIDE,
    WORDS,
    count_either,
    count_lanes,
    highest_of,
    lower_to_sum,
    lower_to_sums,
    lowest_bit,
    popcount,
)

_WANTS, _OUTSIDE = 0, 1
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# What `set_outside` adds to how often a node is outside. Plain numbers would be two types, and compiled twice.
_INSIDE_NOW, _OUTSIDE_NOW = np.int64(-1), np.int64(1)


class TopicBits(NamedTuple):
    """Bitsets by node, and the components they summarise."""

    bits: npt.NDArray[np.uint64]  # node x (wants, outside) x word: side by side, an evaluation reads both
    table: npt.NDArray[np.uint64]  # panel x (wants, outside) x topic x word: the same, one bit for each node of it
    node_start: npt.NDArray[np.int64]  # first subscription of each node
    row: npt.NDArray[np.int32]  # by subscription: the row of the table with those that a link might join its node with
    counts: npt.NDArray[np.uint8]  # room to count them
    before: npt.NDArray[np.int32]  # node x word: the subscription of the word's first topic
    outside_count: npt.NDArray[np.int32]  # by node
    outside_byte: npt.NDArray[np.uint8]  # the same capped at 255, padded to whole lanes
    block_outside: npt.NDArray[np.uint8]  # no node of a block is outside more often; padded so that 64 can be read
    subscriber: npt.NDArray[np.int32]  # node of each subscription
    largest: npt.NDArray[np.int32]  # label of each topic's largest component, -1 while all are alone
    circles: Circles


def new_topic_bits(
    node_start: npt.NDArray[np.int64], node_topics: npt.NDArray[np.int32], topic_count: int
) -> TopicBits:
    """Bitsets of an interest with no links."""
    nodes = node_start.shape[0] - 1
    sizes = np.diff(node_start)
    words = _words(topic_count)
    subscriber = np.repeat(np.arange(nodes, dtype=np.int32), sizes)
    word = subscriber.astype(np.int64) * words + (node_topics >> 6)
    wanted = np.zeros(nodes * words, np.uint64)
    # As no bit is set twice, adding sets them.
    np.add.at(wanted, word, np.uint64(1) << (node_topics & 63).astype(np.uint64))
    panels = -(-nodes // WIDE)
    # One row more, for a topic that nobody wants.
    table = np.zeros(panels * (topic_count + 1) * WORDS, np.uint64)
    in_table = (subscriber // WIDE * (topic_count + 1) + node_topics) * np.int64(WORDS) + subscriber % WIDE // LANES
    np.add.at(table, in_table, np.uint64(1) << (subscriber & 63).astype(np.uint64))
    in_word = np.bitwise_count(wanted)
    before = np.cumsum(in_word, dtype=np.int32) - in_word
    outside_byte = np.zeros(panels * WIDE, np.uint8)
    outside_byte[:nodes] = np.minimum(sizes, 255)
    return TopicBits(
        np.repeat(wanted.reshape(nodes, 1, words), 2, axis=1),
        np.repeat(table.reshape(panels, 1, topic_count + 1, WORDS), 2, axis=1),
        node_start,
        node_topics.copy(),
        np.empty(WIDE, np.uint8),
        before.reshape(nodes, words),
        sizes.astype(np.int32),
        outside_byte,
        np.zeros(panels * WORDS + LANES, np.uint8),
        subscriber,
        np.full(words * 64, -1, np.int32),
        new_circles(len(node_topics)),
    )


def _words(topic_count: int) -> int:
    """Words of a bitset, padded so that whole vectors can be read."""
    return max(1, -(-topic_count // (64 * WORDS))) * WORDS


def topic_bits_bytes(nodes: int, topic_count: int, subscriptions: int) -> int:
    """Memory of `new_topic_bits`."""
    table = (nodes + WIDE) * (topic_count + 1) // 4
    return nodes * _words(topic_count) * 20 + table + nodes * 5 + subscriptions * 20


@inner_kernel()
def subscription_of(before, bits, u, word, bit):
    """Subscription of node u to the topic of a bit."""
    return before[u, word] + np.int64(popcount(bits[u, _WANTS, word] & (bit - np.uint64(1))))


@inner_kernel()
def shared_small_components(label, before, bits, u, v):
    """Topics in which both nodes are outside, in one and the same component."""
    shared = 0
    for word in range(bits.shape[2]):
        both = bits[u, _OUTSIDE, word] & bits[v, _OUTSIDE, word]
        while both:
            bit = both & (~both + np.uint64(1))
            both ^= bit
            of_u = subscription_of(before, bits, u, word, bit)
            if label[of_u] == label[subscription_of(before, bits, v, word, bit)]:
                shared += 1
    return shared


@inner_kernel()
def set_outside(topics, component, word, bit, change):
    """Mark every node of a component as outside, or as inside, in the topic of a bit."""
    subscription = component
    topic = word * 64 + lowest_bit(bit)
    while True:
        node = topics.subscriber[subscription]
        topics.bits[node, _OUTSIDE, word] ^= bit
        topics.table[node // WIDE, _OUTSIDE, topic, node % WIDE // LANES] ^= np.uint64(1) << np.uint64(node & 63)
        topics.row[subscription] -= change * topics.table.shape[2]
        outside = topics.outside_count[node] + change
        topics.outside_count[node] = outside
        byte = np.uint8(min(outside, 255))
        topics.outside_byte[node] = byte
        topics.block_outside[node >> 6] = max(topics.block_outside[node >> 6], byte)
        subscription = topics.circles.next_member[subscription]
        if subscription == component:
            break


@implements(greedy.enter_row, TopicBits)
def _enter_row(topics, u):
    """Nothing to do."""


@step()
def bound_blocks(topics):
    """Find how often a node of each block is outside at most."""
    for block in range(topics.outside_byte.shape[0] // LANES):
        topics.block_outside[block] = highest_of(topics.outside_byte, block * LANES, _ALL)


@step()
def tighten_blocks(topics, block_bounds, block, u, v, in_row, blocks):
    """Lower bounds of up to 64 blocks: of row u from node v on, or of 8 rows from u on with the panel of node v."""
    if in_row:
        lower_to_sum(block_bounds, block, topics.block_outside, v // LANES, topics.outside_byte[u], blocks)
    else:
        lower_to_sums(block_bounds, block, topics.outside_byte, u, topics.block_outside, v // LANES, blocks)


@inner_kernel()
def tighten(topics, bounds, slot, u, first_column):
    """Lower the 64 bounds from `slot` on by what is known of the nodes alone."""
    lower_to_sum(bounds, slot, topics.outside_byte, first_column, topics.outside_byte[u], _ALL)


@step()
def lower_to_counts(topics, candidates, slot, u, v):
    """Lower the bounds of links of u with the panel of node v, its first, to what they contribute, all at once.

    They stay a little higher where both are outside in the same component of a topic.
    """
    table, counts, start = topics.table, topics.counts, topics.node_start
    rows = np.int64(table.shape[2])
    count_lanes(counts, 0, table, v // WIDE * 2 * rows * WORDS, topics.row, start[u], start[u + 1], rows - 1)
    if candidates.step > 1 and start[u + 1] - start[u] > EXACT:
        code_counts(counts, np.int64(0), candidates.step)
    for lane in range(0, WIDE, LANES):
        lower_to_sum(candidates.bound, slot + lane, counts, lane, np.uint8(0), _ALL)


@implements(greedy.contribution, TopicBits, forceinline=True)
def _contribution(topics, u, v, threshold):
    words = topics.bits.shape[2]
    of_u, of_v = 2 * u * words, 2 * v * words
    merged = np.int64(count_either(topics.bits, of_u + words, of_v, of_u, of_v + words, words))
    if merged >= threshold:
        merged -= shared_small_components(topics.circles.label, topics.before, topics.bits, u, v)
    return merged


@implements(greedy.merge, TopicBits)
def _merge(topics, u, v):
    circles, before, bits = topics.circles, topics.before, topics.bits
    for word in range(bits.shape[2]):
        common = (bits[u, _OUTSIDE, word] & bits[v, _WANTS, word]) | (bits[u, _WANTS, word] & bits[v, _OUTSIDE, word])
        while common:
            bit = common & (~common + np.uint64(1))
            common ^= bit
            kept = circles.label[subscription_of(before, bits, u, word, bit)]
            other = circles.label[subscription_of(before, bits, v, word, bit)]
            if kept == other:
                continue
            topic = word * 64 + lowest_bit(bit)
            largest = topics.largest[topic]
            if other == largest or (kept != largest and circles.size[kept] < circles.size[other]):
                kept, other = other, kept
            if kept == largest:
                set_outside(topics, other, word, bit, _INSIDE_NOW)
            join_labelled(circles, kept, other)
            if kept != largest and (largest < 0 or circles.size[kept] > circles.size[largest]):
                if largest >= 0:
                    set_outside(topics, largest, word, bit, _OUTSIDE_NOW)
                set_outside(topics, kept, word, bit, _INSIDE_NOW)
                topics.largest[topic] = kept
