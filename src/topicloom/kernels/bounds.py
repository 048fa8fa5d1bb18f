"""Offers of nodes for links, covers by neighbours, and islands, for lower bounds on links and degrees.

Offers are whole numbers (`metrics.offers`), so rounding cannot lift a bound. An offer belongs to a subscription and is
given twice: in the order of topics by node, and of nodes by topic. Two nodes are seen once for each topic that they
share. Covers: how many neighbours a node needs so that each of its topics is a topic of one of them. An island is a set
of nodes that share topics, directly or through others.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import find_root, join
from topicloom.kernels.jit import kernel


@kernel()
def heaviest_overlaps(node_start, node_topics, topic_start, topic_nodes, weight):
    """For each node the most weight of topics that it has in common with one other node."""
    nodes = node_start.shape[0] - 1
    heaviest = np.zeros(nodes, np.int64)
    common = np.zeros(nodes, np.int64)
    met = np.empty(nodes, np.int32)
    following = topic_start[:-1].copy()
    for u in range(nodes):
        count = 0
        for i in range(node_start[u], node_start[u + 1]):
            t = node_topics[i]
            following[t] += 1
            for at in range(following[t], topic_start[t + 1]):
                v = topic_nodes[at]
                if common[v] == 0:
                    met[count] = v
                    count += 1
                common[v] += weight[t]
        for k in range(count):
            v = met[k]
            heaviest[u] = max(heaviest[u], common[v])
            heaviest[v] = max(heaviest[v], common[v])
            common[v] = 0
    return heaviest


@kernel()
def overpaid_links(node_start, node_topics, topic_start, topic_nodes, offer, offer_by_topic, price, overpaid, taken):
    """Find the links that would get more than the prices of their two ends.

    In each common topic a link gets the higher offer of its ends. `overpaid[u]` becomes what links of u with later
    nodes get too much in all, and `taken[i]` the number of such links to which subscription i makes the higher offer.
    """
    nodes = node_start.shape[0] - 1
    overpaid[:] = 0
    taken[:] = 0
    got = np.zeros(nodes, np.int64)
    met = np.empty(nodes, np.int32)
    following = topic_start[:-1].copy()
    for u in range(nodes):
        count = 0
        for i in range(node_start[u], node_start[u + 1]):
            t = node_topics[i]
            mine = offer[i]
            following[t] += 1
            for at in range(following[t], topic_start[t + 1]):
                paid = max(mine, offer_by_topic[at])
                if paid > 0:
                    v = topic_nodes[at]
                    if got[v] == 0:
                        met[count] = v
                        count += 1
                    got[v] += paid
        for k in range(count):
            v = met[k]
            over = got[v] - price[u] - price[v]
            got[v] = 0
            if over > 0:
                overpaid[u] += over
                _take_higher_offers(node_start, node_topics, offer, u, v, taken)


@kernel()
def _take_higher_offers(node_start, node_topics, offer, u, v, taken):
    """Count, in each common topic of u and v, for the end with the higher offer, and for u where they are equal."""
    i, j = node_start[u], node_start[v]
    while i < node_start[u + 1] and j < node_start[v + 1]:
        if node_topics[i] < node_topics[j]:
            i += 1
        elif node_topics[i] > node_topics[j]:
            j += 1
        else:
            if offer[i] >= offer[j]:
                taken[i] += 1
            else:
                taken[j] += 1
            i += 1
            j += 1


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


@kernel()
def island_of_nodes(node_count, topic_start, topic_nodes):
    """The lowest node of each node's island."""
    parent = np.arange(node_count)
    for topic in range(topic_start.shape[0] - 1):
        for at in range(topic_start[topic] + 1, topic_start[topic + 1]):
            join(parent, topic_nodes[at - 1], topic_nodes[at])
    for node in range(node_count):
        parent[node] = find_root(parent, node)
    return parent
