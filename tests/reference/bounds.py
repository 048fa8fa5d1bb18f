"""Bounds by plain loops over all pairs, and by trying all sets of neighbours."""

from __future__ import annotations

from itertools import combinations

from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest

Offers = dict[tuple[int, int], int]  # by node and topic


def link_gets(interest: Interest, offers: Offers, u: int, v: int) -> int:
    """The most that a link could get: in each common topic the higher offer of its ends."""
    topics = topics_by_node(interest)
    return sum(max(offers.get((u, t), 0), offers.get((v, t), 0)) for t in topics[u] & topics[v])


def overpaid(interest: Interest, offers: Offers, price: int) -> tuple[list[int], Offers]:
    """What links of each node with later ones get above the price, and how often each offer is the higher one there."""
    topics = topics_by_node(interest)
    over, taken = [0] * interest.node_count, dict.fromkeys(offers, 0)
    for u, v in combinations(range(interest.node_count), 2):
        gets = link_gets(interest, offers, u, v)
        if gets > price:
            over[u] += gets - price
            for t in topics[u] & topics[v]:
                taken[(u, t) if offers[u, t] >= offers[v, t] else (v, t)] += 1
    return over, taken


def fewest_neighbours(interest: Interest, node: int) -> int:
    """The true number: the smallest set of others that together have all topics of a node that anyone else has."""
    topics, nodes = topics_by_node(interest), nodes_by_topic(interest)
    wanted = {t for t in topics[node] if len(nodes[t]) > 1}
    others = [u for u in range(interest.node_count) if u != node and topics[u] & wanted]
    for size in range(len(others) + 1):
        if any(wanted <= set().union(*(topics[u] for u in chosen)) for chosen in combinations(others, size)):
            return size
    raise AssertionError("all others together have every shared topic")


def islands(interest: Interest) -> list[set[int]]:
    """Sets of nodes that share topics, directly or through others."""
    found = [{u} for u in range(interest.node_count)]
    for nodes in nodes_by_topic(interest):
        touched = [island for island in found if island & nodes]
        found = [island for island in found if not island & nodes] + [set().union(*touched)]
    return found
