"""Topics as sorted lists with component labels, for sparse interests.

A contribution is counted by walking the topics of one node against a table that holds the labels of the other.
The table is filled once for each row of the search, so a link costs the length of the second node's list.

A node is *outside* in a topic when it is not in the topic's largest component. A link contributes only in topics in
which one of its ends is outside, so the two numbers of such topics bound it. Most of all pairs share but a popular
topic or two, in which both ends are soon inside: these are dropped by a look at two numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.components import position_of
from topicloom.kernels.greedy import representation
from topicloom.kernels.greedy.circles import Circles, join, new_circles
from topicloom.kernels.greedy.representation import implements
from topicloom.kernels.jit import tight_kernel

# A list this many times longer than the other is searched instead of walked.
_SEARCH_RATIO = 8


class TopicLists(NamedTuple):
    """Rows of topics by node, their components, and the row entered last."""

    node_start: npt.NDArray[np.int64]
    node_topics: npt.NDArray[np.int32]
    circles: Circles
    row_node: npt.NDArray[np.int32]  # by topic: the last entered node that wants it
    row_label: npt.NDArray[np.int32]  # by topic: that node's label
    subscriber: npt.NDArray[np.int32]  # node of each subscription
    outside: npt.NDArray[np.int32]  # by node: topics in which it is outside
    largest: npt.NDArray[np.int32]  # label of each topic's largest component, -1 while all are alone


def new_topic_lists(
    node_start: npt.NDArray[np.int64], node_topics: npt.NDArray[np.int32], topic_count: int
) -> TopicLists:
    """Lists of an interest with no links."""
    sizes = np.diff(node_start)
    return TopicLists(
        node_start,
        node_topics,
        new_circles(len(node_topics)),
        np.full(topic_count, -1, np.int32),
        np.full(topic_count, -1, np.int32),
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        sizes.astype(np.int32),
        np.full(topic_count, -1, np.int32),
    )


def topic_lists_bytes(topic_count: int, subscriptions: int) -> int:
    """Memory of `new_topic_lists`."""
    return topic_count * 12 + subscriptions * 20


@tight_kernel()
def count_outside(topics, component, change):
    """Count one topic more, or less, in which the nodes of a component are outside."""
    subscription = component
    while True:
        topics.outside[topics.subscriber[subscription]] += change
        subscription = topics.circles.following[subscription]
        if subscription == component:
            break


@implements(representation.enter_row, TopicLists)
def _enter_row(topics, u):
    for s in range(topics.node_start[u], topics.node_start[u + 1]):
        topics.row_node[topics.node_topics[s]] = u
        topics.row_label[topics.node_topics[s]] = topics.circles.label[s]


@implements(representation.tighten, TopicLists)
def _tighten(topics, bounds, slot, u, first_column):
    """Nothing to do."""


@implements(representation.contribution, TopicLists)
def _contribution(topics, u, v, threshold):
    most = np.int64(topics.outside[u]) + topics.outside[v]
    if most < threshold:
        return most
    label, node_topics = topics.circles.label, topics.node_topics
    begin, end = topics.node_start[v], topics.node_start[v + 1]
    merged = np.int64(0)
    if end - begin > _SEARCH_RATIO * (topics.node_start[u + 1] - topics.node_start[u]):
        for s in range(topics.node_start[u], topics.node_start[u + 1]):
            begin = position_of(node_topics, begin, end, node_topics[s])
            if begin < end and node_topics[begin] == node_topics[s] and label[begin] != label[s]:
                merged += 1
    else:
        for s in range(begin, end):
            topic = node_topics[s]
            if topics.row_node[topic] == u and topics.row_label[topic] != label[s]:
                merged += 1
    return merged


@implements(representation.merge, TopicLists)
def _merge(topics, u, v):
    circles, node_topics = topics.circles, topics.node_topics
    i, i_end = topics.node_start[u], topics.node_start[u + 1]
    j, j_end = topics.node_start[v], topics.node_start[v + 1]
    while i < i_end and j < j_end:
        if node_topics[i] == node_topics[j]:
            kept, other = circles.label[i], circles.label[j]
            if kept != other:
                largest = topics.largest[node_topics[i]]
                if other == largest or (kept != largest and circles.size[kept] < circles.size[other]):
                    kept, other = other, kept
                if kept == largest:
                    count_outside(topics, other, -1)
                    join(circles, kept, other)
                else:
                    join(circles, kept, other)
                    if largest < 0 or circles.size[kept] > circles.size[largest]:
                        if largest >= 0:
                            count_outside(topics, largest, 1)
                        count_outside(topics, kept, -1)
                        topics.largest[node_topics[i]] = kept
            i += 1
            j += 1
        elif node_topics[i] < node_topics[j]:
            i += 1
        else:
            j += 1
