"""Greedy merging row by row, for interests whose nodes share little: no pair of nodes is ever stored.

Contributions only fall, so at each contribution, from the highest down, one pass over the nodes in the order of ids is
enough: a node's best links with higher ids are found, and those that still contribute that much are added as they
come. That is the order in which ties are to be broken. A node is passed over while its bound, the highest
contribution that was left when it was last visited, is lower.

A visit counts, for all higher nodes at once, the topics in which they are in another component: it walks the members of
each topic of the node. Most members of a large topic are soon in one component, the hub. A node that is in it need only
walk the others, which are listed apart. On 50,000 nodes with 11 of 10,000 topics each, this took a tenth of the time,
and a hundredth of the memory, of a bound for every pair that shares a topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy.circles import Circles, join, new_circles
from topicloom.kernels.greedy.rules import LinkList
from topicloom.kernels.jit import inlined, inner_kernel, step, tight_kernel

_BLOCK = 64
# A component of fewer members is no hub: walking past it costs less than listing the others.
_LEAST_HUB = 8
# Counts are swept as a whole where more than one in so many was touched; else the members walked are looked up again.
_SWEPT = 4


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


class RowCounts(NamedTuple):
    """Working space of a visit, and what visits have found."""

    bound: npt.NDArray[np.int32]  # by node: what no link with a higher node contributes more than
    gain: npt.NDArray[np.unsignedinteger]  # by node: topics that a link would merge; zero between visits
    found: npt.NDArray[np.uint32]  # nodes that reach the present contribution
    row_node: npt.NDArray[np.int32]  # by topic: the last node entered that wants it
    row_place: npt.NDArray[np.int32]  # by topic: that node's place
    spent_start: npt.NDArray[np.int64]  # by node: links with higher nodes that may not be added
    spent: npt.NDArray[np.int32]
    room: npt.NDArray[np.int32]  # by node: links that it may still have; empty where nothing is constrained
    group: npt.NDArray[np.int32]  # by node, where links are constrained
    permitted: npt.NDArray[np.bool_]  # group x group: whether their nodes may be linked


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
    member = topic_nodes.astype(np.uint32)
    return TopicMembers(
        node_start,
        node_topics,
        places,
        topic_start,
        member,
        new_circles(len(node_topics)),
        np.full(topics, -1, np.int32),
        np.empty(len(node_topics), np.int32),
        np.empty(len(node_topics), np.uint32),
        np.zeros(topics, np.int32),
        np.zeros(topics, np.int32),
    )


def new_row_counts(
    members: TopicMembers,
    highest: int,
    source: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
    room: npt.NDArray[np.int32],
    group: npt.NDArray[np.int32],
    permitted: npt.NDArray[np.bool_],
) -> RowCounts:
    """No node visited yet; `highest` is what no link contributes more than, `source` and `target` links not to add."""
    nodes, topics = len(members.node_start) - 1, len(members.topic_start) - 1
    order = np.argsort(source, kind="stable")
    spent_start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=nodes), out=spent_start[1:])
    return RowCounts(
        np.minimum(np.diff(members.node_start), highest).astype(np.int32),
        np.zeros(nodes, np.uint16 if highest < 1 << 16 else np.uint32),
        np.empty(nodes, np.uint32),
        np.full(topics, -1, np.int32),
        np.empty(topics, np.int32),
        spent_start,
        target[order],
        room,
        group,
        permitted,
    )


def row_merging_bytes(nodes: int, topics: int, subscriptions: int) -> int:
    """Memory of the two."""
    return subscriptions * 40 + nodes * 20 + topics * 20


@tight_kernel()
def add_first_by_rows(members: TopicMembers, counts: RowCounts, source, target, links: LinkList, ticks):
    """Add links whatever they contribute, at the front of the list."""
    for k in range(source.shape[0]):
        enter(members, counts, np.int64(source[k]))
        merged = contribution_of(members, counts, np.int64(target[k]), np.int64(source[k]))
        add(members, links, k, np.int64(source[k]), np.int64(target[k]), merged, ticks)


@tight_kernel()
def merge_by_rows(members: TopicMembers, counts: RowCounts, links: LinkList, added, ticks):
    """Add links of highest contribution after the first ones, until none contributes or the list is full.

    Gives the number of all links.
    """
    threshold = highest_bound(counts)
    while threshold > 0:
        for node in range(counts.bound.shape[0]):
            if counts.bound[node] >= threshold:
                if ticks[1]:
                    return added
                if not is_free(counts, node):
                    counts.bound[node] = 0
                    continue
                reached, below = visit(members, counts, node, threshold)
                for k in range(reached):
                    if added == links.source.shape[0]:
                        return added
                    other = np.int64(counts.found[k])
                    merged = contribution_of(members, counts, other, node)
                    if merged < threshold:
                        below = max(below, merged)
                    elif is_free(counts, node):
                        add(members, links, added, node, other, merged, ticks)
                        added += 1
                        take_rooms(counts, node, other)
                counts.bound[node] = below
        threshold = min(threshold - 1, highest_bound(counts))
    return added


@step()
def add(members, links, place, node, other, merged, ticks):
    """Write a link down and join its components."""
    links.source[place] = node
    links.target[place] = other
    links.contribution[place] = merged
    ticks[0] += merged
    merge_topics(members, node, other)


@inlined()
def is_free(counts, node):
    """Whether a node may have another link."""
    return counts.room.shape[0] == 0 or counts.room[node] > 0


@inlined()
def may_link(counts, node, other):
    """Whether two nodes, of which the first has room, may be linked."""
    if counts.room.shape[0] == 0:
        return True
    return counts.room[other] > 0 and counts.permitted[counts.group[node], counts.group[other]]


@inlined()
def take_rooms(counts, node, other):
    """Count a link of two nodes."""
    if counts.room.shape[0]:
        counts.room[node] -= 1
        counts.room[other] -= 1


@inner_kernel()
def highest_bound(counts):
    """What no link contributes more than."""
    highest = np.int64(0)
    for node in range(counts.bound.shape[0]):
        highest = max(highest, np.int64(counts.bound[node]))
    return highest


@step()
def visit(members, counts, node, threshold):
    """Write the higher nodes whose link contributes the threshold or more to `found`, rising; enter the node's row.

    Gives their number, and the highest contribution below the threshold.
    """
    enter(members, counts, node)
    walked = np.int64(0)
    for s in range(members.node_start[node], members.node_start[node + 1]):
        first, last, listed = higher_members(members, s)
        walked += last - first
        if listed:
            for k in range(first, last):
                counts.gain[members.outside_member[k]] += 1
        else:
            label = members.circles.label[members.node_places[s]]
            for k in range(first, last):
                counts.gain[members.member[k]] += members.circles.label[k] != label
    for k in range(counts.spent_start[node], counts.spent_start[node + 1]):
        counts.gain[counts.spent[k]] = 0
    if walked * _SWEPT < counts.gain.shape[0]:
        return look_up(members, counts, node, threshold)
    return sweep(counts, node, threshold)


@inner_kernel()
def enter(members, counts, node):
    """Note in every topic of a node where it is."""
    for s in range(members.node_start[node], members.node_start[node + 1]):
        counts.row_node[members.node_topics[s]] = node
        counts.row_place[members.node_topics[s]] = members.node_places[s]


@inner_kernel()
def higher_members(members, s):
    """Where the members after a node in one of its topics are that it may be merged with: from, until, in which list.

    They are listed in `outside_member` where the node is in the hub, else in `member`.
    """
    topic, place = members.node_topics[s], np.int64(members.node_places[s])
    hub = members.circles.label[place]
    if hub != members.hub[topic]:
        return place + 1, members.topic_start[topic + 1], False
    if members.stale[topic]:
        drop_stale(members, topic, hub)
    first = members.topic_start[topic]
    end = first + members.outside_count[topic]
    last = end
    while first < last:
        middle = (first + last) >> 1
        if members.outside[middle] <= place:
            first = middle + 1
        else:
            last = middle
    return first, end, True


@step()
def drop_stale(members, topic, hub):
    """Take those that have come into the hub out of the list of members outside it."""
    first = members.topic_start[topic]
    kept = first
    for k in range(first, first + members.outside_count[topic]):
        members.outside[kept] = members.outside[k]
        members.outside_member[kept] = members.outside_member[k]
        kept += members.circles.label[members.outside[k]] != hub
    members.outside_count[topic] = kept - first
    members.stale[topic] = 0


@step()
def look_up(members, counts, node, threshold):
    """Collect the counts of a visit from the members that it walked, and set them back to zero."""
    reached, below = np.int64(0), np.int64(0)
    for s in range(members.node_start[node], members.node_start[node + 1]):
        first, last, listed = higher_members(members, s)
        for k in range(first, last):
            other = members.outside_member[k] if listed else members.member[k]
            count = np.int64(counts.gain[other])
            counts.gain[other] = 0
            if count < threshold:
                below = max(below, count)
            elif may_link(counts, node, other):
                counts.found[reached] = other
                reached += 1
    heap_sort(counts.found, reached)
    return reached, below


@inner_kernel()
def sift_down(found, parent, count):
    """Restore the order of a heap, the highest on top, below one place."""
    node = found[parent]
    child = 2 * parent + 1
    while child < count:
        if child + 1 < count and found[child + 1] > found[child]:
            child += 1
        if found[child] <= node:
            break
        found[parent] = found[child]
        parent = child
        child = 2 * parent + 1
    found[parent] = node


@inner_kernel()
def heap_sort(found, count):
    """Sort the first nodes found in place."""
    for parent in range(count // 2 - 1, -1, -1):
        sift_down(found, parent, count)
    for last in range(count - 1, 0, -1):
        found[0], found[last] = found[last], found[0]
        sift_down(found, np.int64(0), last)


@step()
def sweep(counts, node, threshold):
    """Collect the counts of a visit from those of all higher nodes, and set them back to zero."""
    reached, below = np.int64(0), np.int64(0)
    nodes = counts.gain.shape[0]
    for begin in range((node + 1) // _BLOCK * _BLOCK, nodes, _BLOCK):
        end = min(nodes, begin + _BLOCK)
        highest = counts.gain[begin]
        for other in range(begin + 1, end):
            highest = max(highest, counts.gain[other])
        if np.int64(highest) >= threshold:
            for other in range(begin, end):
                count = np.int64(counts.gain[other])
                if count < threshold:
                    below = max(below, count)
                elif may_link(counts, node, other):
                    counts.found[reached] = other
                    reached += 1
        else:
            below = max(below, np.int64(highest))
        for other in range(begin, end):
            counts.gain[other] = 0
    return reached, below


@inner_kernel()
def contribution_of(members, counts, other, node):
    """Topics that a link of the node entered last with another would merge."""
    label = members.circles.label
    merged = np.int64(0)
    for s in range(members.node_start[other], members.node_start[other + 1]):
        topic = members.node_topics[s]
        if counts.row_node[topic] == node and label[counts.row_place[topic]] != label[members.node_places[s]]:
            merged += 1
    return merged


@step()
def merge_topics(members, node, other):
    """Add a link: join the components of both nodes in every common topic."""
    topics, places = members.node_topics, members.node_places
    i, i_end = members.node_start[node], members.node_start[node + 1]
    j, j_end = members.node_start[other], members.node_start[other + 1]
    while i < i_end and j < j_end:
        if topics[i] == topics[j]:
            one, two = members.circles.label[places[i]], members.circles.label[places[j]]
            if one != two:
                merge_components(members, topics[i], one, two)
            i += 1
            j += 1
        elif topics[i] < topics[j]:
            i += 1
        else:
            j += 1


@step()
def merge_components(members, topic, kept, other):
    """Join two components of a topic, and make the result its hub where it is large.

    A hub is followed only by one of twice its size, so that all lists of one topic together cost its size, times the
    logarithm of that.
    """
    size, hub = members.circles.size, members.hub[topic]
    if size[kept] < size[other]:
        kept, other = other, kept
    if kept == hub:
        members.stale[topic] += size[other]
    hub_size = np.int32(0) if hub < 0 else size[hub]
    join(members.circles, kept, other)
    if kept != hub and size[kept] >= max(_LEAST_HUB, 2 * hub_size):
        members.hub[topic] = kept
        list_outside(members, topic, kept)


@step()
def list_outside(members, topic, hub):
    """List the members of a topic that are not in its hub."""
    first = members.topic_start[topic]
    kept = first
    for place in range(first, members.topic_start[topic + 1]):
        members.outside[kept] = place
        members.outside_member[kept] = members.member[place]
        kept += members.circles.label[place] != hub
    members.outside_count[topic] = kept - first
    members.stale[topic] = 0
