"""Lower bound on links by offers of nodes.

Every node makes an offer in each of its topics, any number from 0 on. In a topic-connected overlay take a
spanning tree of each topic, with the node of the lowest offer as its root. Every node but the roots pays its offer to
the link towards the root. At most one end of a link pays in a topic, so a link gets at most the sum, over the topics
that both ends want, of the higher of their two offers. If no two nodes have a sum above 1, the overlay has at least as
many links as the total that is paid. If some sums are above 1, the excess is subtracted: no overlay has a link twice.
Roots are fixed beforehand, and offer 0.

So any offers prove a bound. Good ones are found in two steps:

1. A node offers the same in all its topics, or more in rare ones: weights of topics, divided by the highest weight that
   the node shares with one other. No link is overpaid then.
2. Round by round, offers rise a little where no overpaid link gets them, and fall where several do. This is a
   subgradient method, with steps in proportion to the offers, on the Lagrangian dual of the linear program whose
   constraints are: cut a topic's nodes into single nodes and one set of all the others, and there are at least as many
   links between these parts as there are single nodes.

Offers are whole numbers of small units, and so are all sums: rounding cannot lift the bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.kernels.bounds import heaviest_overlaps, overpaid_links
from topicloom.metrics.compared_topics import ComparedTopics, Numbers
from topicloom.model.interest import Ids, Starts

Flags = npt.NDArray[np.bool_]

# What a link costs, in the units of offers: so many that those of a node with thousands of topics are not all 0.
LINK = 1 << 24
_LEAST_OFFER = LINK >> 13
# Exponents of the number of nodes of a topic by which weights fall: all topics alike, or rare ones far above.
_WEIGHTS_FALL_BY = (0, 2)
MOST_ROUNDS = 60


def paid_links(shared: ComparedTopics, island: Numbers, rounds: int) -> Numbers:
    """By island, what its links cost at least, in units of LINK; the best of all rounds for each."""
    islands = int(island.max(initial=-1)) + 1
    best = np.zeros(islands, np.int64)
    if not len(shared.node_topics):
        return best
    by_topic = np.argsort(shared.node_topics, kind="stable")
    roots = _roots(shared, by_topic)
    starts = [_feasible(shared, roots, fall_by) for fall_by in _WEIGHTS_FALL_BY]
    of_node = island[shared.nodes]
    for offer in starts:
        np.maximum(best, _sums(of_node, offer, islands), out=best)
    offer = max(starts, key=lambda offers: int(offers.sum()))
    offer = np.where(roots, 0, np.maximum(offer, _LEAST_OFFER))
    price = np.full(shared.node_count, LINK // 2)
    overpaid = np.zeros(shared.node_count, np.int64)
    taken = np.zeros(len(offer), np.int32)
    for number in range(rounds):
        overpaid_links(*_rows(shared), offer, offer[by_topic], price, overpaid, taken)
        np.maximum(best, _sums(of_node, offer, islands) - _sums(island, overpaid, islands), out=best)
        # In thousandths; steps shrink so that offers settle.
        step = 2000 // (20 + number)
        offer = offer + offer * (step * np.clip(1 - taken, -3, 1)) // 1000
    return best


def _rows(shared: ComparedTopics) -> tuple[Starts, Ids, Starts, Ids]:
    return shared.node_start, shared.node_topics, shared.topic_start, shared.topic_nodes


def _sums(groups: Numbers, values: Numbers, count: int) -> Numbers:
    """Sums by group, in whole numbers."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _roots(shared: ComparedTopics, by_topic: Numbers) -> Flags:
    """Which subscriptions are those of roots, who offer nothing: in each topic the node with most topics."""
    sizes = np.diff(shared.node_start)
    rank = np.empty(shared.node_count, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(shared.node_count)
    ranks = rank[shared.topic_nodes]
    first = np.minimum.reduceat(ranks, shared.topic_start[:-1])
    roots = np.zeros(len(shared.node_topics), np.bool_)
    roots[by_topic] = ranks == np.repeat(first, np.diff(shared.topic_start))
    return roots


def _feasible(shared: ComparedTopics, roots: Flags, fall_by: int) -> Numbers:
    """Offers by weights of topics, with no link overpaid."""
    sizes = np.diff(shared.topic_start)
    weight = np.maximum(1, (1 << 20) // sizes**fall_by)
    heaviest = heaviest_overlaps(*_rows(shared), weight)
    offer: Numbers = np.where(roots, 0, LINK * weight[shared.node_topics] // heaviest[shared.nodes])
    return offer
