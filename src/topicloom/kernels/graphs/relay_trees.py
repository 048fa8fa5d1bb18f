"""One tree for all topics: the links that span a fleet, and moving parts of it to where less is relayed.

A link of the tree carries a topic where somebody wants it on either side. What a tree costs is the sum, over its links,
of the topics that it carries times its price.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.graphs.cheapest_trees import tree_rows
from topicloom.kernels.graphs.components import join
from topicloom.kernels.jit import kernel


@kernel()
def spanning_links(source, target, nodes):
    """Of links in an order, those that join two pieces, as pairs."""
    parent = np.arange(nodes)
    ends = np.empty((max(0, nodes - 1), 2), np.int32)
    count = 0
    for k in range(source.shape[0]):
        if join(parent, source[k], target[k]):
            ends[count, 0], ends[count, 1] = source[k], target[k]
            count += 1
    return ends[:count].copy()


@kernel()
def rooted(ends, without, root, nodes, order, parent):
    """Visit, breadth first, what can be reached from a root without one of the links; give how many nodes that is."""
    start, other, link = tree_rows(ends, nodes)
    order[0] = root
    parent[root] = -1
    count = 1
    done = 0
    while done < count:
        i = order[done]
        done += 1
        for at in range(start[i], start[i + 1]):
            j = other[at]
            if link[at] != without and j != parent[i]:
                parent[j] = i
                order[count] = j
                count += 1
    return count


@kernel()
def topics_below(wants, order, parent, count, below):
    """For each visited node how many want each topic among it and all behind it."""
    for k in range(count):
        below[order[k]] = wants[order[k]]
    for k in range(count - 1, 0, -1):
        below[parent[order[k]]] += below[order[k]]


@kernel()
def carried(behind, total):
    """How many topics are wanted both among some nodes, given by how many want each, and among the others."""
    found = 0
    for t in range(total.shape[0]):
        found += 0 < behind[t] < total[t]
    return found


@kernel()
def carried_together(behind, moved, total):
    """The same where other nodes come to them."""
    found = 0
    for t in range(total.shape[0]):
        found += 0 < behind[t] + moved[t] < total[t]
    return found


@kernel()
def relay_cost(wants, group, price, ends):
    """What a tree costs."""
    nodes, total = wants.shape[0], wants.sum(axis=0)
    order = np.empty(nodes, np.int32)
    parent = np.empty(nodes, np.int32)
    below = np.zeros((nodes, wants.shape[1]), np.int32)
    cost = np.int64(0)
    for k in range(ends.shape[0]):
        count = rooted(ends, k, ends[k, 0], nodes, order, parent)
        topics_below(wants, order, parent, count, below)
        cost += carried(below[ends[k, 0]], total) * price[group[ends[k, 0]], group[ends[k, 1]]]
    return cost


@kernel()
def move_parts(wants, share, group, price, ends, rounds, ticks):
    """Hang parts of a tree elsewhere while that makes it cheaper, and change `ends`.

    Each link in turn is taken away, and the part at either of its ends linked, from that end, to the node of the other
    part that makes the tree cheapest, of equals the first; only nodes that `share` a topic are linked.
    """
    nodes, total = wants.shape[0], wants.sum(axis=0)
    order = np.empty(nodes, np.int32)
    parent = np.empty(nodes, np.int32)
    below = np.zeros((nodes, wants.shape[1]), np.int32)
    more = np.zeros(nodes, np.int64)
    for _ in range(rounds):
        moved = False
        for k in range(ends.shape[0]):
            for side in range(2):
                if ticks[1]:
                    return
                node, beside = ends[k, side], ends[k, 1 - side]
                count = rooted(ends, k, beside, nodes, order, parent)
                topics_below(wants, order, parent, count, below)
                part = total - below[beside]
                use = carried(part, total)
                best, least = beside, np.int64(0)
                more[beside] = 0
                for i in range(1, count):
                    to = order[i]
                    above = parent[to]
                    rise = carried_together(below[to], part, total) - carried(below[to], total)
                    more[to] = more[above] + rise * price[group[above], group[to]]
                    change = more[to] + use * (price[group[node], group[to]] - price[group[node], group[beside]])
                    if share[node, to] and (change < least or (change == least and change < 0 and to < best)):
                        best, least = to, change
                if best != beside:
                    ends[k, 1 - side] = best
                    moved = True
        ticks[0] += 1
        if not moved:
            return
