"""The links of every topic, and a spanning forest of them.

For each subscription there are the subscriptions to the same topic that links lead to, so a search in one topic sees no
other neighbours. A subscription is numbered by its place in the lists of nodes. Its neighbours lie in a block, whose
capacity is 4, 8, 16, ...; a block that is full is copied into one twice as large, and the old one is kept for other
subscriptions. The forest is a parent for each subscription that is not a root; changes of parents are logged, so that
they can be taken back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import position_of
from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel
from topicloom.kernels.subscriptions import Subscriptions

# Positions in a row of `TopicLinks`.
BLOCK, COUNT, MARK, PARENT = range(4)
# Positions in `TopicLinks.counts`.
USED, LOGGED = range(2)
_MOST_LOGGED = 1 << 16
_SMALLEST = 4
_CLASSES = 32
_UNSEEN = -2
# One list this many times as long as the other is searched for each topic of the other.
_MUCH_LONGER = 8


class TopicLinks(NamedTuple):
    """The neighbours of subscription s are `other[row[s, BLOCK]]` and those that follow it, `row[s, COUNT]` in all."""

    row: npt.NDArray[np.int32]  # by subscription: its block, number of neighbours, mark of a search, parent or -1
    capacity: npt.NDArray[np.int32]  # by subscription
    node: npt.NDArray[np.int32]  # by subscription
    other: npt.NDArray[np.int32]
    free: npt.NDArray[np.int32]  # by class of capacity: an unused block, which names the next, or -1
    counts: npt.NDArray[np.int64]  # how many places of `other` are in blocks, how many changes have been logged
    log: npt.NDArray[np.int32]  # subscriptions and the parents that they had; what does not fit is lost
    common: npt.NDArray[np.int32]  # pairs of subscriptions to a topic that two nodes have in common


def new_topic_links(
    subscriptions: Subscriptions, source: npt.NDArray[np.int32], target: npt.NDArray[np.int32]
) -> TopicLinks:
    """The links of every topic, with space for half as much again."""
    sizes = np.diff(subscriptions.node_start)
    count = len(subscriptions.node_topics)
    row = np.zeros((count, 4), np.int32)
    row[:, PARENT] = -1
    links = TopicLinks(
        row,
        np.full(count, _SMALLEST, np.int32),
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        np.zeros(0, np.int32),
        np.full(_CLASSES, -1, np.int32),
        np.zeros(2, np.int64),
        np.zeros(2 * _MOST_LOGGED, np.int32),
        np.zeros(2 * int(sizes.max(initial=0)), np.int32),
    )
    count_links(links, subscriptions, source, target)
    while (short := links.capacity <= row[:, COUNT]).any():
        links.capacity[short] *= 2
    links.counts[USED] = used = int(links.capacity.sum(dtype=np.int64))
    row[1:, BLOCK] = np.cumsum(links.capacity[:-1], dtype=np.int64)
    row[:, COUNT] = 0
    links = links._replace(other=np.zeros(used * 3 // 2 + _MOST_LOGGED, np.int32))
    connect_all(links, subscriptions, source, target)
    return links


def total_common(links: TopicLinks) -> int:
    """The topics that the ends of links have in common, summed up over all links."""
    return int(links.row[:, COUNT].sum(dtype=np.int64)) // 2


@tight_kernel()
def count_links(links, subscriptions, source, target):
    """Count the neighbours of every subscription."""
    for link in range(source.shape[0]):
        pairs = list_common(links, subscriptions, source[link], target[link])
        for k in range(2 * pairs):
            links.row[links.common[k], COUNT] += 1


@tight_kernel()
def connect_all(links, subscriptions, source, target):
    """Add all links and find a spanning forest of every topic."""
    for link in range(source.shape[0]):
        connect(links, list_common(links, subscriptions, source[link], target[link]))
    for t in range(subscriptions.topic_start.shape[0] - 1):
        span(links, subscriptions, t)
    links.counts[LOGGED] = 0


@inner_kernel()
def span(links, subscriptions, t):
    """Find a spanning forest of a topic."""
    row, node_start = links.row, subscriptions.node_start
    first, end = subscriptions.topic_start[t], subscriptions.topic_start[t + 1]
    for member in range(first, end):
        v = subscriptions.topic_nodes[member]
        row[position_of(subscriptions.node_topics, node_start[v], node_start[v + 1], t), PARENT] = _UNSEEN
    for member in range(first, end):
        v = subscriptions.topic_nodes[member]
        s = position_of(subscriptions.node_topics, node_start[v], node_start[v + 1], t)
        if row[s, PARENT] != _UNSEEN:
            continue
        # Depth first, without a stack: parents lead back, and go on behind the child that they came from.
        row[s, PARENT] = -1
        place = row[s, BLOCK]
        while s >= 0:
            if place < row[s, BLOCK] + row[s, COUNT]:
                other = links.other[place]
                if row[other, PARENT] == _UNSEEN:
                    row[other, PARENT] = s
                    s = other
                    place = row[s, BLOCK]
                else:
                    place += 1
            else:
                child = s
                s = row[s, PARENT]
                if s >= 0:
                    place = row[s, BLOCK]
                    while links.other[place] != child:
                        place += 1
                    place += 1


@inner_kernel()
def set_parent(links, s, parent):
    """Set the parent of a subscription and log what it was."""
    logged = links.counts[LOGGED]
    if 2 * logged < links.log.shape[0]:
        links.log[2 * logged], links.log[2 * logged + 1] = s, links.row[s, PARENT]
    links.counts[LOGGED] = logged + 1
    links.row[s, PARENT] = parent


@inner_kernel()
def hang(links, s, parent):
    """Make a subscription the root of its tree, and hang the tree onto another subscription."""
    while s >= 0:
        above = links.row[s, PARENT]
        set_parent(links, s, parent)
        parent = s
        s = above


@inner_kernel()
def take_back(links):
    """Take back all changes of parents; tell whether all had been logged."""
    logged = links.counts[LOGGED]
    links.counts[LOGGED] = 0
    if 2 * logged > links.log.shape[0]:
        return False
    for k in range(logged - 1, -1, -1):
        links.row[links.log[2 * k], PARENT] = links.log[2 * k + 1]
    return True


@inner_kernel()
def list_common(links, subscriptions, u, v):
    """List the subscriptions of two nodes to topics that both want, those of u first; give the number of topics."""
    topics, common = subscriptions.node_topics, links.common
    one, one_end = subscriptions.node_start[u], subscriptions.node_start[u + 1]
    other, other_end = subscriptions.node_start[v], subscriptions.node_start[v + 1]
    count = np.int64(0)
    if (one_end - one) * _MUCH_LONGER < other_end - other:
        for place in range(one, one_end):
            other = position_of(topics, other, other_end, topics[place])
            if other < other_end and topics[other] == topics[place]:
                common[2 * count], common[2 * count + 1] = place, other
                count += 1
    elif (other_end - other) * _MUCH_LONGER < one_end - one:
        for place in range(other, other_end):
            one = position_of(topics, one, one_end, topics[place])
            if one < one_end and topics[one] == topics[place]:
                common[2 * count], common[2 * count + 1] = one, place
                count += 1
    else:
        while one < one_end and other < other_end:
            t, its = topics[one], topics[other]
            # Written at any rate, and overwritten unless equal: a branch would often be foretold wrongly.
            if 2 * count < common.shape[0]:
                common[2 * count], common[2 * count + 1] = one, other
            count += np.int64(t == its)
            one += np.int64(t <= its)
            other += np.int64(its <= t)
    return count


@inlined()
def class_of(capacity):
    """The class of a capacity: 0 for 4, 1 for 8 and so on."""
    number = 0
    while capacity > _SMALLEST:
        capacity >>= 1
        number += 1
    return number


@inner_kernel()
def grow(links, s):
    """Give a subscription a block of twice the capacity."""
    capacity = links.capacity[s]
    before = links.row[s, BLOCK]
    number = class_of(capacity)
    block = links.free[number + 1]
    if block >= 0:
        links.free[number + 1] = links.other[block]
    else:
        block = np.int32(links.counts[USED])
        links.counts[USED] += 2 * capacity
    for k in range(links.row[s, COUNT]):
        links.other[block + k] = links.other[before + k]
    links.other[before] = links.free[number]
    links.free[number] = before
    links.row[s, BLOCK] = block
    links.capacity[s] = 2 * capacity


@inlined()
def append_to(links, s, other):
    """Append a neighbour of a subscription."""
    if links.row[s, COUNT] == links.capacity[s]:
        grow(links, s)
    links.other[links.row[s, BLOCK] + links.row[s, COUNT]] = other
    links.row[s, COUNT] += 1


@inlined()
def drop_from(links, s, other):
    """Take out a neighbour of a subscription."""
    first = links.row[s, BLOCK]
    last = links.row[s, COUNT] - 1
    place = first
    while links.other[place] != other:
        place += 1
    links.other[place] = links.other[first + last]
    links.row[s, COUNT] = last


@inner_kernel()
def has_space(links, pairs):
    """Whether the listed pairs of subscriptions can be connected."""
    needed = links.counts[USED]
    for k in range(2 * pairs):
        s = links.common[k]
        if links.row[s, COUNT] == links.capacity[s]:
            needed += 2 * links.capacity[s]
    return needed <= links.other.shape[0]


@inner_kernel()
def connect(links, pairs):
    """Connect the listed pairs of subscriptions."""
    for k in range(pairs):
        one, other = links.common[2 * k], links.common[2 * k + 1]
        append_to(links, one, other)
        append_to(links, other, one)


@inner_kernel()
def disconnect(links, pairs):
    """Disconnect the listed pairs of subscriptions."""
    for k in range(pairs):
        one, other = links.common[2 * k], links.common[2 * k + 1]
        drop_from(links, one, other)
        drop_from(links, other, one)
