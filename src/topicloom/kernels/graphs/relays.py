"""Relays: nodes that do not want a topic but are needed to join its components.

Mehlhorn's 2-approximate Steiner tree (1988), level by level. A search starts at all subscribers at once; each
node belongs to the component that reached it. A link between nodes of two components at levels r and r joins
them by a path of 2r + 1 links, at levels r and r + 1 by one of 2r + 2. So the levels give the joining paths in
rising length, as Kruskal wants them, and the search ends as soon as nothing is left to join.

Ties: a node is reached from the lowest node it can be; paths of equal length are taken by the lowest (nearer
end, farther end) of their middle link, the lower node first where both ends are equally near.

Memory: 32 bytes a node of the overlay, and at most 20 more for the topic at hand.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.graphs.components import find_root, join, join_topic, mark, unmark
from topicloom.kernels.jit import kernel


@kernel()
def node_components(out_start, out_nodes):
    """Component of each node in the whole overlay, named by its lowest node."""
    count = out_start.shape[0] - 1
    parent = np.arange(count)
    for u in range(count):
        for at in range(out_start[u], out_start[u + 1]):
            join(parent, u, out_nodes[at])
    for u in range(count):
        parent[u] = find_root(parent, u)
    return parent


@kernel()
def groups_of(nodes, component, members):
    """How many of the overlay's components hold these nodes, and how many are in the fullest; `members` is zero."""
    groups = 0
    fullest = 0
    for i in range(nodes.shape[0]):
        c = component[nodes[i]]
        groups += members[c] == 0
        members[c] += 1
        fullest = max(fullest, members[c])
    for i in range(nodes.shape[0]):
        members[component[nodes[i]]] = 0
    return groups, fullest


@kernel()
def steiner_relays(nodes, parent, joins, link_start, link_nodes, level, via, cell, queue):
    """Nodes outside `nodes` on the paths that make up to the given number of joins; `level` is -1 before and after."""
    middles = np.empty((joins, 2), np.int32)
    joined = 0
    for i in range(nodes.shape[0]):
        level[nodes[i]] = 0
        cell[nodes[i]] = i
        queue[i] = nodes[i]
    begin = 0
    reached = nodes.shape[0]
    while joined < joins and begin < reached:
        end = reached
        for k in range(begin, end):
            u = queue[k]
            for at in range(link_start[u], link_start[u + 1]):
                v = link_nodes[at]
                if level[v] < 0:
                    level[v] = level[u] + 1
                    via[v] = u
                    cell[v] = cell[u]
                    queue[reached] = v
                    reached += 1
                elif level[v] == level[u] and u < v and join(parent, cell[u], cell[v]):
                    middles[joined] = u, v
                    joined += 1
        if joined < joins:
            # The links to the level just reached are longer by one, so they come only now.
            for k in range(begin, end):
                u = queue[k]
                for at in range(link_start[u], link_start[u + 1]):
                    v = link_nodes[at]
                    if level[v] > level[u] and join(parent, cell[u], cell[v]):
                        middles[joined] = u, v
                        joined += 1
        queue[end:reached].sort()
        begin = end
    relays = np.empty(reached - nodes.shape[0], np.int32)
    count = 0
    for u in middles[:joined].flat:
        while level[u] > 0:
            level[u] = 0
            relays[count] = u
            count += 1
            u = via[u]
    for k in range(reached):
        level[queue[k]] = -1
    return relays[:count]


@kernel()
def topic_relays(topic_start, topic_nodes, out_start, out_nodes, link_start, link_nodes):
    """Each topic's relays, and its nodes that are not in the fullest component of the overlay."""
    topics = topic_start.shape[0] - 1
    count = out_start.shape[0] - 1
    relays = np.zeros(topics, np.int64)
    unreachable = np.zeros(topics, np.int64)
    component = node_components(out_start, out_nodes)
    members = np.zeros(count, np.int32)
    place = np.full(count, -1, np.int32)
    level = np.full(count, -1, np.int32)
    via = np.empty(count, np.int32)
    cell = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    for topic in range(topics):
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        groups, fullest = groups_of(nodes, component, members)
        unreachable[topic] = nodes.shape[0] - fullest
        mark(nodes, place)
        parent = np.arange(nodes.shape[0])
        _, components = join_topic(nodes, place, out_start, out_nodes, parent)
        unmark(nodes, place)
        if components > groups:
            found = steiner_relays(nodes, parent, components - groups, link_start, link_nodes, level, via, cell, queue)
            relays[topic] = found.shape[0]
    return relays, unreachable
