"""Topics as sorted lists with component labels, for sparse interests whose links have prices.

A contribution is counted by walking the topics of one node against a table that holds the labels of the other.
The table is filled once for each row of the search, so a link costs the length of the second node's list.
Labels lie beside the topics: looked up by place, as in `topic_members`, they take a third more time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.components import position_of
from topicloom.kernels.greedy import representation
from topicloom.kernels.greedy.circles import Circles, join, new_circles
from topicloom.kernels.greedy.representation import implements

# A list this many times longer than the other is searched instead of walked.
_SEARCH_RATIO = 8


class TopicLists(NamedTuple):
    """Rows of topics by node, their components, and the row entered last."""

    node_start: npt.NDArray[np.int64]
    node_topics: npt.NDArray[np.int32]
    circles: Circles
    row_node: npt.NDArray[np.int32]  # by topic: the last entered node that wants it
    row_label: npt.NDArray[np.int32]  # by topic: that node's label


def new_topic_lists(
    node_start: npt.NDArray[np.int64], node_topics: npt.NDArray[np.int32], topic_count: int
) -> TopicLists:
    """Lists of an interest with no links."""
    return TopicLists(
        node_start,
        node_topics,
        new_circles(len(node_topics)),
        np.full(topic_count, -1, np.int32),
        np.full(topic_count, -1, np.int32),
    )


def topic_lists_bytes(topic_count: int, subscriptions: int) -> int:
    """Memory of `new_topic_lists`."""
    return topic_count * 8 + subscriptions * 12


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
    label, node_topics = topics.circles.label, topics.node_topics
    begin, end = topics.node_start[v], topics.node_start[v + 1]
    merged = 0
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
                if circles.size[kept] < circles.size[other]:
                    kept, other = other, kept
                join(circles, kept, other)
            i += 1
            j += 1
        elif node_topics[i] < node_topics[j]:
            i += 1
        else:
            j += 1
