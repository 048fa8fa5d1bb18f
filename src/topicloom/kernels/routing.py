"""Routing trees: for every topic a shallow tree over its subscribers, and over relays where it needs them.

A topic's tree is a tree of shortest paths from a middle node, found by three searches: from any node to a farthest
one, from there to a farthest one, and from the node halfway between. Where a node could hang below several others
at the same depth, it takes one that wants the topic before a relay, then the link that carries fewest topics so far,
then the lowest node. So topics spread over the links, and the same links in the same order give the same trees.

A topic in pieces is joined by the relays of a short Steiner tree; those of them that end up as leaves are dropped.

Cost for a topic: the links of its nodes, and a search of part of the overlay where it needs relays.
Memory: 81 bytes a node of the overlay, 4 a link, at most 60 a node and 12 a link of the largest topic, and 8 for
each link of a tree.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import join_topic, mark, unmark
from topicloom.kernels.jit import kernel
from topicloom.kernels.paths import distances_from, forget, halfway, topic_graph
from topicloom.kernels.relays import MORE_FOR_ALL, groups_of, join_nodes, steiner_relays


@kernel()
def roomy(array, used, more):
    """The array, or a copy at least twice as long, so that so many more fit."""
    if used + more <= array.shape[0]:
        return array
    longer = np.empty(max(2 * array.shape[0], used + more), array.dtype)
    longer[:used] = array[:used]
    return longer


@kernel()
def levels_from_middle(start, neighbours, distance, queue):
    """Distances from a node near the middle of the piece that holds node 0; give that node and the piece's size."""
    reached = distances_from(start, neighbours, np.int64(0), distance, queue)
    for _ in range(2):
        end = np.int64(queue[reached - 1])
        forget(queue[:reached], distance)
        distances_from(start, neighbours, end, distance, queue)
    middle = halfway(start, neighbours, queue[reached - 1], distance)
    forget(queue[:reached], distance)
    distances_from(start, neighbours, middle, distance, queue)
    return middle, reached


@kernel()
def choose_parents(members, place, wants, distance, out_start, out_nodes, load):
    """For every member the place of its parent and the position of the link to it in `out_nodes`; -1 for the root."""
    parent = np.full(members.shape[0], -1, np.int32)
    link = np.full(members.shape[0], -1, np.int64)
    for i in range(members.shape[0]):
        for at in range(out_start[members[i]], out_start[members[i] + 1]):
            j = place[out_nodes[at]]
            if j < 0 or distance[i] == distance[j]:
                continue
            above, below = (i, j) if distance[i] < distance[j] else (j, i)
            rival = parent[below]
            if rival >= 0:
                if wants[rival] != wants[above]:
                    better = wants[above]
                elif load[link[below]] != load[at]:
                    better = load[at] < load[link[below]]
                else:
                    better = above < rival
            if rival < 0 or better:
                parent[below] = above
                link[below] = at
    return parent, link


@kernel()
def drop_loose_relays(parent, link, wants, queue):
    """Take relays without anything below them out of the tree: their link becomes -1; the queue is by rising depth."""
    below = np.zeros(parent.shape[0], np.int32)
    for k in range(queue.shape[0] - 1, 0, -1):
        i = queue[k]
        if below[i] == 0 and not wants[i]:
            link[i] = -1
        else:
            below[parent[i]] += 1
    # A relay at the top with one branch is loose too; so may be what is below it.
    root = queue[0]
    at = 1
    while not wants[root] and below[root] <= 1:
        while link[queue[at]] < 0:
            at += 1
        root = queue[at]
        link[root] = -1
        parent[root] = -1
        at += 1
    return root


@kernel()
def with_relays(nodes, relays, wants):
    """The nodes of both lists, each rising; `wants` says which of them are of the first."""
    members = np.empty(nodes.shape[0] + relays.shape[0], np.int32)
    i = j = 0
    for k in range(members.shape[0]):
        wants[k] = j == relays.shape[0] or (i < nodes.shape[0] and nodes[i] < relays[j])
        if wants[k]:
            members[k] = nodes[i]
            i += 1
        else:
            members[k] = relays[j]
            j += 1
    return members


@kernel()
def route_topics(topic_start, topic_nodes, out_start, out_nodes, search, allow_relays):
    """The tree of each topic: its root, its links as (upper node, lower node), and in how many pieces it remains.

    Topic `t` has the links from `tree_start[t]` on, those nearer the root first. A topic that remains in pieces has
    no links.
    """
    topics = topic_start.shape[0] - 1
    count = out_start.shape[0] - 1
    tree_start = np.zeros(topics + 1, np.int64)
    upper = np.empty(max(1, topic_nodes.shape[0]), np.int32)
    lower = np.empty(max(1, topic_nodes.shape[0]), np.int32)
    root = np.full(topics, -1, np.int32)
    pieces = np.ones(topics, np.int64)
    load = np.zeros(out_nodes.shape[0], np.int32)
    component = np.arange(count)
    join_nodes(out_start, out_nodes, component)
    in_component = np.zeros(count, np.int32)
    place = np.full(count, -1, np.int32)
    queue = search.queue
    wants = np.empty(count, np.bool_)
    used = np.int64(0)
    for topic in range(topics):
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        members = nodes.copy()
        wants[: nodes.shape[0]] = True
        mark(nodes, place)
        joined = np.arange(nodes.shape[0])
        _, components = join_topic(nodes, place, out_start, out_nodes, joined)
        if components > 1 and allow_relays:
            groups, _ = groups_of(nodes, component, in_component)
            if groups == 1:
                relays = steiner_relays(search, nodes, joined, components - 1, MORE_FOR_ALL)
                members = with_relays(nodes, search.relays[:relays], wants)
                mark(members, place)
            components = groups
        pieces[topic] = components
        if components == 1:
            size = members.shape[0]
            start, neighbours = topic_graph(members, place, out_start, out_nodes)
            distance = np.full(size, -1, np.int32)
            middle, _ = levels_from_middle(start, neighbours, distance, queue)
            parent, link = choose_parents(members, place, wants, distance, out_start, out_nodes, load)
            if size > nodes.shape[0]:
                middle = drop_loose_relays(parent, link, wants, queue[:size])
            root[topic] = members[middle]
            upper = roomy(upper, used, size)
            lower = roomy(lower, used, size)
            for k in range(size):
                i = queue[k]
                if link[i] >= 0:
                    load[link[i]] += 1
                    upper[used] = members[parent[i]]
                    lower[used] = members[i]
                    used += 1
        unmark(members, place)
        tree_start[topic + 1] = used
    return tree_start, upper[:used].copy(), lower[:used].copy(), root, pieces
