"""Topics as lists of their members, for interests whose nodes share little and whose pairs are never stored.

Most members of a large topic are soon in one component, the hub. A node that is in it can be merged only with the
others, which are listed apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels import greedy
from topicloom.kernels.components import Circles, join_labelled, new_circles, position_of
from topicloom.kernels.greedy import implements
from topicloom.kernels.jit import inner_kernel, step

# A list this many times longer than the other is searched instead of walked.
_SEARCH_RATIO = 8
# A component of fewer members is no hub: walking past it costs less than listing the others.
_LEAST_HUB = 8


class TopicMembers(NamedTuple):
    """Topics by node, members by topic, and their components; a place is that of a subscription in order of topics."""

    node_start: npt.NDArray[np.int64]
    node_topics: npt.NDArray[np.int32]
    node_places: npt.NDArray[np.int32]
    topic_start: npt.NDArray[np.int64]
    member: npt.NDArray[np.uint32]  # by place
    circles: Circles  # by place
    hub: npt.NDArray[np.int32]  # by topic: label of a large component, -1 while there is none
    outside: npt.NDArray[np.int32]  # in each topic's places, from the front: places of members not in the hub
    outside_member: npt.NDArray[np.uint32]  # the nodes at these places
    outside_count: npt.NDArray[np.int32]  # by topic
    stale: npt.NDArray[np.int32]  # by topic: how many of these have come into the hub meanwhile
    row_node: npt.NDArray[np.int32]  # by topic: the last node entered that wants it; at the end, the last node entered
    row_place: npt.NDArray[np.int32]  # by topic: that node's place


def new_topic_members(
    node_start: npt.NDArray[np.int64],
    node_topics: npt.NDArray[np.int32],
    topic_start: npt.NDArray[np.int64],
    topic_nodes: npt.NDArray[np.int32],
) -> TopicMembers:
    """Members of an interest with no links."""
    places = np.empty(len(node_topics), np.int32)
    places[np.argsort(node_topics, kind="stable")] = np.arange(len(node_topics), dtype=np.int32)
    topics = len(topic_start) - 1
    return TopicMembers(
        node_start,
        node_topics,
        places,
        topic_start,
        topic_nodes.astype(np.uint32),
        new_circles(len(node_topics)),
        np.full(topics, -1, np.int32),
        np.empty(len(node_topics), np.int32),
        np.empty(len(node_topics), np.uint32),
        np.zeros(topics, np.int32),
        np.zeros(topics, np.int32),
        np.full(topics + 1, -1, np.int32),
        np.empty(topics, np.int32),
    )


def topic_members_bytes(topics: int, subscriptions: int) -> int:
    """Memory of `new_topic_members`."""
    return subscriptions * 40 + topics * 20


@implements(greedy.enter_row, TopicMembers)
def _enter_row(topics, u):
    if topics.row_node[-1] != u:
        topics.row_node[-1] = u
        for s in range(topics.node_start[u], topics.node_start[u + 1]):
            topics.row_node[topics.node_topics[s]] = u
            topics.row_place[topics.node_topics[s]] = topics.node_places[s]


@implements(greedy.contribution, TopicMembers)
def _contribution(topics, u, v, threshold):
    label, places = topics.circles.label, topics.node_places
    begin, end = topics.node_start[v], topics.node_start[v + 1]
    merged = np.int64(0)
    if end - begin > _SEARCH_RATIO * (topics.node_start[u + 1] - topics.node_start[u]):
        for s in range(topics.node_start[u], topics.node_start[u + 1]):
            begin = position_of(topics.node_topics, begin, end, topics.node_topics[s])
            if begin < end and topics.node_topics[begin] == topics.node_topics[s]:
                merged += label[places[begin]] != label[places[s]]
    else:
        for s in range(begin, end):
            topic = topics.node_topics[s]
            if topics.row_node[topic] == u and label[topics.row_place[topic]] != label[places[s]]:
                merged += 1
    return merged


@implements(greedy.merge, TopicMembers)
def _merge(topics, u, v):
    node_topics, places = topics.node_topics, topics.node_places
    i, i_end = topics.node_start[u], topics.node_start[u + 1]
    j, j_end = topics.node_start[v], topics.node_start[v + 1]
    while i < i_end and j < j_end:
        if node_topics[i] == node_topics[j]:
            one, two = topics.circles.label[places[i]], topics.circles.label[places[j]]
            if one != two:
                merge_components(topics, node_topics[i], one, two)
            i += 1
            j += 1
        elif node_topics[i] < node_topics[j]:
            i += 1
        else:
            j += 1


@step()
def merge_components(topics, topic, kept, other):
    """Join two components of a topic, and make the result its hub where it is large.

    A hub is followed only by one of twice its size, so that all lists of one topic together cost its size, times the
    logarithm of that.
    """
    size, hub = topics.circles.size, topics.hub[topic]
    if size[kept] < size[other]:
        kept, other = other, kept
    if kept == hub:
        topics.stale[topic] += size[other]
    hub_size = np.int32(0) if hub < 0 else size[hub]
    join_labelled(topics.circles, kept, other)
    if kept != hub and size[kept] >= max(_LEAST_HUB, 2 * hub_size):
        topics.hub[topic] = kept
        list_outside(topics, topic, kept)


@step()
def list_outside(topics, topic, hub):
    """List the members of a topic that are not in its hub."""
    first = topics.topic_start[topic]
    kept = first
    for place in range(first, topics.topic_start[topic + 1]):
        topics.outside[kept] = place
        topics.outside_member[kept] = topics.member[place]
        kept += topics.circles.label[place] != hub
    topics.outside_count[topic] = kept - first
    topics.stale[topic] = 0


@inner_kernel()
def other_members(topics, s, higher):
    """Where the members of a topic of a node are that it may be merged with: from, until, and in which list.

    They are listed in `outside_member` where the node is in the hub, else in `member`. With `higher` those of lower ids
    are left out.
    """
    topic, place = topics.node_topics[s], np.int64(topics.node_places[s])
    first, end = topics.topic_start[topic], topics.topic_start[topic + 1]
    hub = topics.circles.label[place]
    listed = hub == topics.hub[topic]
    if listed:
        if topics.stale[topic]:
            drop_stale(topics, topic, hub)
        end = first + topics.outside_count[topic]
    if higher:
        first = first_after(topics, place, first, end) if listed else place + 1
    return first, end, listed


@step()
def first_after(topics, place, first, end):
    """Where the members outside the hub after a place begin."""
    while first < end:
        middle = (first + end) >> 1
        if topics.outside[middle] <= place:
            first = middle + 1
        else:
            end = middle
    return first


@step()
def drop_stale(topics, topic, hub):
    """Take those that have come into the hub out of the list of members outside it."""
    first = topics.topic_start[topic]
    kept = first
    for k in range(first, first + topics.outside_count[topic]):
        topics.outside[kept] = topics.outside[k]
        topics.outside_member[kept] = topics.outside_member[k]
        kept += topics.circles.label[topics.outside[k]] != hub
    topics.outside_count[topic] = kept - first
    topics.stale[topic] = 0
