"""Joining the pieces of topics by links between any two nodes that have room."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import common_subscriptions, find_root
from topicloom.kernels.jit import kernel


@kernel()
def join_pieces(node_start, node_topics, topic_start, topic_subscriptions, subscriber, parent, room, steps, ticks):
    """Link nodes until no topic has two pieces that both have a node with room; give the links and what each merges.

    Topic after topic, the piece with most room is joined with the others that have some, most of it first. Of the other
    the node with most room is taken, and it is linked with that node whose link merges most pieces, of equals the one
    with most room, then the first. `parent` are the components of subscriptions, `room` is how many links each node
    may still have. After about so many `steps` it gives up.
    """
    longest = np.int64(0)
    for u in range(node_start.shape[0] - 1):
        longest = max(longest, node_start[u + 1] - node_start[u])
    of_one, of_other = np.empty(longest, np.int64), np.empty(longest, np.int64)
    rooms = np.zeros(parent.shape[0], np.int64)
    links = []
    for topic in range(topic_start.shape[0] - 1):
        mine = topic_subscriptions[topic_start[topic] : topic_start[topic + 1]]
        while ticks[1] == 0 and steps > 0:
            steps -= mine.shape[0]
            first, second = roomiest_pieces(mine, subscriber, parent, room, rooms)
            if second < 0:
                break
            one = roomiest_node(mine, subscriber, parent, room, second)
            other, most = one, 0
            for k in range(mine.shape[0]):
                node = np.int64(subscriber[mine[k]])
                if room[node] > 0 and find_root(parent, mine[k]) == first:
                    common = common_subscriptions(node_start, node_topics, one, node, of_one, of_other)
                    merged = 0
                    for c in range(common):
                        merged += find_root(parent, of_one[c]) != find_root(parent, of_other[c])
                    if merged > most or (merged == most and room[node] > room[other]):
                        other, most = node, merged
                    steps -= common
            common = common_subscriptions(node_start, node_topics, one, other, of_one, of_other)
            for k in range(common):
                parent[find_root(parent, of_other[k])] = find_root(parent, of_one[k])
            room[one] -= 1
            room[other] -= 1
            links.append((one, other, most))
    source, target, gain = (
        np.empty(len(links), np.int32),
        np.empty(len(links), np.int32),
        np.empty(len(links), np.int32),
    )
    for k in range(len(links)):
        source[k], target[k], gain[k] = links[k]
    return source, target, gain


@kernel()
def full_pieces(topic_start, topic_subscriptions, subscriber, parent, room):
    """How many pieces there are besides one a topic; and the topic and first node of every piece without room.

    Topics in one piece have none of these.
    """
    left = np.int64(0)
    rooms = np.zeros(parent.shape[0], np.int64)
    topics, nodes = [0 for _ in range(0)], [0 for _ in range(0)]
    for topic in range(topic_start.shape[0] - 1):
        mine = topic_subscriptions[topic_start[topic] : topic_start[topic + 1]]
        pieces = np.int64(-1)
        for k in range(mine.shape[0]):
            root = find_root(parent, mine[k])
            pieces += root == mine[k]
            rooms[root] += room[subscriber[mine[k]]]
        if pieces > 0:
            left += pieces
            for k in range(mine.shape[0]):
                root = find_root(parent, mine[k])
                if rooms[root] == 0:
                    topics.append(topic)
                    nodes.append(int(subscriber[mine[k]]))
                    rooms[root] = -1
        for k in range(mine.shape[0]):
            rooms[find_root(parent, mine[k])] = 0
    return left, np.array(topics, np.int32), np.array(nodes, np.int32)


@kernel()
def roomiest_pieces(mine, subscriber, parent, room, rooms):
    """The two pieces of a topic with most room, of equals those with the first member; -1 where none is left."""
    for k in range(mine.shape[0]):
        rooms[find_root(parent, mine[k])] += room[subscriber[mine[k]]]
    first, second = np.int64(-1), np.int64(-1)
    for k in range(mine.shape[0]):
        root = find_root(parent, mine[k])
        if rooms[root] == 0 or root in (first, second):
            continue
        if first < 0 or rooms[root] > rooms[first]:
            first, second = root, first
        elif second < 0 or rooms[root] > rooms[second]:
            second = root
    for k in range(mine.shape[0]):
        rooms[find_root(parent, mine[k])] = 0
    return first, second


@kernel()
def roomiest_node(mine, subscriber, parent, room, piece):
    """The node of a piece with most room, of equals the first."""
    chosen = np.int64(-1)
    for k in range(mine.shape[0]):
        if find_root(parent, mine[k]) == piece:
            node = np.int64(subscriber[mine[k]])
            if chosen < 0 or room[node] > room[chosen]:
                chosen = node
    return chosen
