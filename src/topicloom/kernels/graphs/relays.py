"""Relays: nodes that do not want a topic but are needed to join its components.

Memory: 65 bytes a node of the overlay, and 8 more for the topic at hand.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.components import find_root, join, join_topic, mark, unmark
from topicloom.kernels.graphs.relay_search import MORE_FOR_ALL, new_search, steiner_relays
from topicloom.kernels.jit import tight_kernel


def node_components(out_start: npt.NDArray[np.int64], out_nodes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Component of each node in the whole overlay, named by its lowest node."""
    parent = np.arange(len(out_start) - 1)
    join_nodes(out_start, out_nodes, parent)
    return parent


@tight_kernel()
def join_nodes(out_start, out_nodes, parent):
    """As `node_components`, into an array in which each node is a component."""
    for u in range(parent.shape[0]):
        for at in range(out_start[u], out_start[u + 1]):
            join(parent, u, out_nodes[at])
    for u in range(parent.shape[0]):
        parent[u] = find_root(parent, u)


@tight_kernel()
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


def topic_relays(
    topic_start: npt.NDArray[np.int64],
    topic_nodes: npt.NDArray[np.int32],
    components: npt.NDArray[np.int64],
    out_start: npt.NDArray[np.int64],
    out_nodes: npt.NDArray[np.int32],
    link_start: npt.NDArray[np.int64],
    link_nodes: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Each topic's relays, and its nodes that are not in the fullest component of the overlay; in how many components
    each topic is must be known."""
    count = len(out_start) - 1
    relays, unreachable = np.zeros((2, len(topic_start) - 1), np.int64)
    component = node_components(out_start, out_nodes)
    members, place = np.zeros(count, np.int32), np.full(count, -1, np.int32)
    parent = np.empty(int(np.diff(topic_start).max(initial=0)), np.int64)
    search = new_search(link_start, link_nodes)
    room = (component, members, place, parent)
    relays_into(topic_start, topic_nodes, components, out_start, out_nodes, room, search, relays, unreachable)
    return relays, unreachable


@tight_kernel()
def relays_into(topic_start, topic_nodes, components, out_start, out_nodes, room, search, relays, unreachable):
    """As `topic_relays`, into arrays made beforehand; the last of `room` has some for the nodes of a topic."""
    component, members, place, parent = room
    for topic in range(relays.shape[0]):
        if components[topic] <= 1:
            continue
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        groups, fullest = groups_of(nodes, component, members)
        unreachable[topic] = nodes.shape[0] - fullest
        if components[topic] > groups:
            mark(nodes, place)
            for i in range(nodes.shape[0]):
                parent[i] = i
            join_topic(nodes, place, out_start, out_nodes, parent)
            unmark(nodes, place)
            relays[topic] = steiner_relays(search, nodes, parent, components[topic] - groups, MORE_FOR_ALL)
