"""The cheapest tree of every topic over the links between its nodes, and the longest way through it.

Links are taken by rising price, each if it joins two pieces of the topic (Kruskal). The tree hangs from the node
nearest to the middle of its longest way. Cost for a topic: a look at every link.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import join, mark, unmark
from topicloom.kernels.jit import kernel


@kernel()
def tree_rows(ends, size):
    """Rows of a tree's links by place: where each row starts, and for each end the other end and the link."""
    start = np.zeros(size + 1, np.int64)
    for k in range(ends.shape[0]):
        start[ends[k, 0] + 1] += 1
        start[ends[k, 1] + 1] += 1
    for i in range(size):
        start[i + 1] += start[i]
    following = start[:-1].copy()
    other = np.empty(2 * ends.shape[0], np.int32)
    link = np.empty(2 * ends.shape[0], np.int32)
    for k in range(ends.shape[0]):
        for side in range(2):
            place = following[ends[k, side]]
            other[place] = ends[k, 1 - side]
            link[place] = k
            following[ends[k, side]] += 1
    return start, other, link


@kernel()
def walk(start, other, link, price, root, parent, distance, queue):
    """Visit a tree from a root, breadth first; give the farthest node, of equals the first visited."""
    parent[root] = -1
    distance[root] = 0
    queue[0] = root
    count = 1
    farthest = root
    for done in range(start.shape[0] - 1):
        i = queue[done]
        if distance[i] > distance[farthest]:
            farthest = i
        for at in range(start[i], start[i + 1]):
            j = other[at]
            if j != parent[i]:
                parent[j] = i
                distance[j] = distance[i] + price[link[at]]
                queue[count] = j
                count += 1
    return farthest


@kernel()
def middle_of(start, other, link, price, parent, distance, queue):
    """The node nearest to the middle of a tree's longest way, and how long that is."""
    end = walk(start, other, link, price, np.int64(0), parent, distance, queue)
    node = walk(start, other, link, price, end, parent, distance, queue)
    longest = distance[node]
    best = node
    while node >= 0:
        if abs(2 * distance[node] - longest) < abs(2 * distance[best] - longest):
            best = node
        node = parent[node]
    return best, longest


@kernel()
def cheapest_trees(topic_start, topic_nodes, source, target, price, nodes):
    """The cheapest tree of each topic over links that come by rising price.

    Gives where each topic's links start, their upper and lower nodes, those nearer the root first, the roots, the sum
    of prices, the longest way, and in how many pieces each topic is; the trees of a topic in pieces are left out.
    """
    topics = topic_start.shape[0] - 1
    tree_start = np.zeros(topics + 1, np.int64)
    upper = np.empty(topic_nodes.shape[0], np.int32)
    lower = np.empty(topic_nodes.shape[0], np.int32)
    root = np.full(topics, -1, np.int32)
    total = np.zeros(topics, np.int64)
    longest = np.zeros(topics, np.int64)
    pieces = np.zeros(topics, np.int64)
    place = np.full(nodes, -1, np.int32)
    used = 0
    for topic in range(topics):
        members = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        size = members.shape[0]
        mark(members, place)
        joined = np.arange(size)
        ends = np.empty((max(0, size - 1), 2), np.int32)
        paid = np.empty(max(0, size - 1), np.int64)
        count = 0
        for k in range(source.shape[0]):
            i, j = place[source[k]], place[target[k]]
            if i >= 0 and j >= 0 and join(joined, i, j):
                ends[count, 0], ends[count, 1] = i, j
                paid[count] = price[k]
                count += 1
        unmark(members, place)
        pieces[topic] = size - count
        if pieces[topic] == 1:
            start, other, link = tree_rows(ends, size)
            parent = np.empty(size, np.int32)
            distance = np.empty(size, np.int64)
            queue = np.empty(size, np.int32)
            middle, longest[topic] = middle_of(start, other, link, paid, parent, distance, queue)
            walk(start, other, link, paid, middle, parent, distance, queue)
            root[topic] = members[middle]
            for k in range(1, size):
                upper[used] = members[parent[queue[k]]]
                lower[used] = members[queue[k]]
                used += 1
            for k in range(count):
                total[topic] += paid[k]
        tree_start[topic + 1] = used
    return tree_start, upper[:used].copy(), lower[:used].copy(), root, total, longest, pieces
