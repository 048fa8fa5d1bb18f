"""One tree for all topics: the links that span a fleet, and moving parts of it to where less is relayed.

Messages come in classes, of which `amount` there are: a node may want a class and may be one of its sources, which give
equal parts of it. A row of `has` tells of a node first which classes it wants, then of which it is a source. A link
carries what is published on one side and wanted on the other. What a tree costs is the sum, over its links, of what
it carries times its price.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import join
from topicloom.kernels.jit import kernel
from topicloom.kernels.price_trees import tree_rows


@kernel()
def spanning_links(source, target, room):
    """Of links in an order, those that join two pieces, as pairs; a node has room for so many, and less afterwards."""
    nodes = room.shape[0]
    parent = np.arange(nodes)
    ends = np.empty((max(0, nodes - 1), 2), np.int32)
    count = 0
    for k in range(source.shape[0]):
        u, v = source[k], target[k]
        if room[u] > 0 and room[v] > 0 and join(parent, u, v):
            ends[count, 0], ends[count, 1] = u, v
            room[u] -= 1
            room[v] -= 1
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
def classes_below(has, order, parent, count, below):
    """For each visited node how many want, and are sources of, each class among it and all behind it."""
    for k in range(count):
        below[order[k]] = has[order[k]]
    for k in range(count - 1, 0, -1):
        below[parent[order[k]]] += below[order[k]]


@kernel()
def carried(behind, moved, total, amount):
    """How much crosses between some nodes, those that `moved` to them with them, and the others."""
    found, classes = np.int64(0), amount.shape[0]
    for c in range(classes):
        wanting, sources = behind[c] + moved[c], behind[classes + c] + moved[classes + c]
        crossing = np.int64(0)
        if wanting < total[c]:
            crossing += sources
        if wanting > 0:
            crossing += total[classes + c] - sources
        if crossing == total[classes + c]:
            found += amount[c]
        elif crossing > 0:
            found += amount[c] * crossing // total[classes + c]
    return found


@kernel()
def relay_cost(has, amount, group, price, ends):
    """What a tree costs."""
    nodes, total = has.shape[0], has.sum(axis=0)
    order = np.empty(nodes, np.int32)
    parent = np.empty(nodes, np.int32)
    below = np.zeros(has.shape, np.int32)
    nothing = np.zeros(has.shape[1], np.int64)
    cost = np.int64(0)
    for k in range(ends.shape[0]):
        count = rooted(ends, k, ends[k, 0], nodes, order, parent)
        classes_below(has, order, parent, count, below)
        cost += carried(below[ends[k, 0]], nothing, total, amount) * price[group[ends[k, 0]], group[ends[k, 1]]]
    return cost


@kernel()
def move_parts(has, amount, allowed, group, price, ends, staying, room, rounds, ticks):
    """Hang parts of a tree elsewhere while that makes it cheaper, and change `ends`.

    Each link in turn, but for the first ones, which are `staying`, is taken away, and the part at either of its ends
    linked, from that end, to the node of the other part that makes the tree cheapest, of equals the first; only nodes
    with an `allowed` link and `room` for one more are linked.
    """
    nodes, total = has.shape[0], has.sum(axis=0)
    order = np.empty(nodes, np.int32)
    parent = np.empty(nodes, np.int32)
    below = np.zeros(has.shape, np.int32)
    nothing = np.zeros(has.shape[1], np.int64)
    more = np.zeros(nodes, np.int64)
    for _ in range(rounds):
        moved = False
        for k in range(staying, ends.shape[0]):
            for side in range(2):
                if ticks[1]:
                    return
                node, beside = ends[k, side], ends[k, 1 - side]
                count = rooted(ends, k, beside, nodes, order, parent)
                classes_below(has, order, parent, count, below)
                part = total - below[beside]
                use = carried(below[beside], nothing, total, amount)
                best, least = beside, np.int64(0)
                more[beside] = 0
                for i in range(1, count):
                    to = order[i]
                    above = parent[to]
                    rise = carried(below[to], part, total, amount) - carried(below[to], nothing, total, amount)
                    more[to] = more[above] + rise * price[group[above], group[to]]
                    change = more[to] + use * (price[group[node], group[to]] - price[group[node], group[beside]])
                    better = change < least or (change == least and change < 0 and to < best)
                    if better and allowed[node, to] and room[to] > 0:
                        best, least = to, change
                if best != beside:
                    ends[k, 1 - side] = best
                    room[beside] += 1
                    room[best] -= 1
                    moved = True
        ticks[0] += 1
        if not moved:
            return
