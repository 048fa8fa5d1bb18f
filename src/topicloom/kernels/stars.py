"""Stars: take a node, link it with everyone it shares a remaining topic with, drop its topics, repeat.

Which node comes next is decided by a fraction, high/low, compared exactly in integers. Counting neighbours is
dear (all members of all topics of a node), so the fraction is an upper bound at first and is made exact only
when it is the highest of all. A tournament tree knows the highest; ties go to the lowest id.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel

# What the next centre has most of.
NEIGHBOURS, WEIGHTED_NEIGHBOURS, DENSITY = 0, 1, 2


@kernel()
def plant_stars(node_start, node_topics, topic_start, topic_nodes, measure, ticks):
    """Links of stars, planted until no topic of two nodes or more remains."""
    nodes = node_start.shape[0] - 1
    size = np.diff(topic_start)
    remaining = size >= 2
    rows = _largest_topics_first(node_start, node_topics.shape[0], topic_start, topic_nodes)
    largest = node_start[:-1].copy()  # where the largest remaining topic of each node stands in rows
    weight = np.zeros(nodes, np.int64)
    for t in range(size.shape[0]):
        if remaining[t]:
            for v in topic_nodes[topic_start[t] : topic_start[t + 1]]:
                weight[v] += size[t]
    # Bounds on the number of neighbours: from above for NEIGHBOURS, from below for DENSITY.
    neighbours = np.full(nodes, nodes if measure == NEIGHBOURS else 0, np.int64)
    high = np.zeros(nodes, np.int64)
    low = np.ones(nodes, np.int64)
    exact = np.zeros(nodes, np.bool_)
    tree = _tournament(nodes)
    seen = np.zeros(nodes, np.int64)
    count = 0

    # A topic of s nodes ends in one star and brings at most s - 1 links.
    source = np.empty(node_topics.shape[0], np.int32)
    target = np.empty(node_topics.shape[0], np.int32)
    links = 0
    members = np.arange(nodes).astype(np.int32)
    found = nodes
    while found > 0 and ticks[1] == 0:
        for v in members[:found]:
            while largest[v] < node_start[v + 1] and not remaining[rows[largest[v]]]:
                largest[v] += 1
            high[v] = weight[v]
            if measure == NEIGHBOURS:
                high[v] = min(weight[v], neighbours[v])
            elif measure == DENSITY and weight[v] > 0:
                low[v] = max(size[rows[largest[v]]], neighbours[v])
            exact[v] = measure == WEIGHTED_NEIGHBOURS or weight[v] == 0
            _replay(tree, v, high, low)

        while ticks[1] == 0:
            centre = tree[1]
            count += 1
            row = rows[largest[centre] : node_start[centre + 1]]
            found = _gather(row, remaining, topic_start, topic_nodes, seen, count, members)
            if exact[centre]:
                break
            if measure == NEIGHBOURS:
                high[centre] = found
            else:
                low[centre] = found
            neighbours[centre] = found
            exact[centre] = True
            _replay(tree, centre, high, low)
        if ticks[1] != 0:
            break

        # No link can exist already: the centre of an earlier star has no topic left to share.
        members[:found].sort()
        for v in members[:found]:
            if v != centre:
                source[links] = min(centre, v)
                target[links] = max(centre, v)
                links += 1
        ticks[0] = links
        for t in rows[largest[centre] : node_start[centre + 1]]:
            if remaining[t]:
                remaining[t] = False
                for v in topic_nodes[topic_start[t] : topic_start[t + 1]]:
                    weight[v] -= size[t]
                    if measure == DENSITY:
                        neighbours[v] -= size[t]
    return source[:links].copy(), target[:links].copy()


@kernel()
def _largest_topics_first(node_start, subscriptions, topic_start, topic_nodes):
    """The topics of each node, by falling number of subscribers."""
    filled = node_start[:-1].copy()
    rows = np.empty(subscriptions, np.int32)
    for t in np.argsort(-np.diff(topic_start)):
        for v in topic_nodes[topic_start[t] : topic_start[t + 1]]:
            rows[filled[v]] = t
            filled[v] += 1
    return rows


@kernel()
def _gather(row, remaining, topic_start, topic_nodes, seen, count, members):
    """Write every node of the row's remaining topics once; give how many there are."""
    found = 0
    for t in row:
        if remaining[t]:
            for v in topic_nodes[topic_start[t] : topic_start[t + 1]]:
                if seen[v] != count:
                    seen[v] = count
                    members[found] = v
                    found += 1
    return found


@kernel()
def _tournament(nodes):
    """A tree whose leaves are the nodes; until its leaf is replayed, no node has won anything."""
    leaves = 1
    while leaves < nodes:
        leaves *= 2
    tree = np.full(2 * leaves, -1, np.int64)
    tree[leaves : leaves + nodes] = np.arange(nodes)
    return tree


@kernel()
def _replay(tree, node, high, low):
    """Decide anew all matches on the way from a node's leaf to the root, where the winner stands."""
    i = (tree.shape[0] // 2 + node) // 2
    while i >= 1:
        first, second = tree[2 * i], tree[2 * i + 1]
        if first < 0 or (second >= 0 and high[second] * low[first] > high[first] * low[second]):
            first = second
        tree[i] = first
        i //= 2
