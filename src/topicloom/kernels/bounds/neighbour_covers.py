"""How many neighbours each node needs at least, so that every topic of it is one of theirs."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel


@kernel()
def fewest_neighbours(node_start, rare_first, topic_start, topic_nodes):
    """What no node can have fewer neighbours than; `rare_first` are its topics, those of fewest nodes first.

    The better of two reasons: the others who share most of its topics, taken together, must share as many as it has;
    and topics that no two of which one other node has need a neighbour each.
    """
    nodes = node_start.shape[0] - 1
    fewest = np.zeros(nodes, np.int32)
    common = np.zeros(nodes, np.int32)
    spoken_for = np.full(nodes, -1, np.int32)
    met = np.empty(nodes, np.int32)
    for u in range(nodes):
        topics = node_start[u + 1] - node_start[u]
        count = 0
        apart = 0
        for i in range(node_start[u], node_start[u + 1]):
            others = topic_nodes[topic_start[rare_first[i]] : topic_start[rare_first[i] + 1]]
            free = True
            for v in others:
                if v != u:
                    free &= spoken_for[v] != u
                    if common[v] == 0:
                        met[count] = v
                        count += 1
                    common[v] += 1
            if free:
                apart += 1
                for v in others:
                    spoken_for[v] = u
        sharing = np.zeros(topics + 1, np.int32)
        for k in range(count):
            sharing[common[met[k]]] += 1
            common[met[k]] = 0
        fewest[u] = max(apart, _enough(sharing, topics))
    return fewest


@kernel()
def _enough(sharing, topics):
    """How many others it takes to share so many topics, if `sharing[k]` of them share k each."""
    taken = 0
    for each in range(topics, 0, -1):
        here = min(sharing[each], -(-topics // each))
        if here * each >= topics:
            return taken + -(-topics // each)
        taken += here
        topics -= here * each
    return taken
