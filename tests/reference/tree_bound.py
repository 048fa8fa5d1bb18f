"""A certificate of the bound of spanning trees, checked by plain loops over all pairs of all topics."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from reference.exhaustive import Optimum
from reference.interests import nodes_by_topic, topics_by_node
from topicloom.metrics.tree_bound import UNIT, Certificate
from topicloom.model import Interest

Price = dict[tuple[int, int, int], int]  # by topic and pair


def prices(interest: Interest, found: Certificate) -> Price:
    """What each topic pays on each pair of its nodes, stored or not."""
    nodes = nodes_by_topic(interest)
    paid = {
        (t, u, v): int(found.topics.floor[t]) for t, row in enumerate(nodes) for u, v in combinations(sorted(row), 2)
    }
    for pair, (u, v) in enumerate(zip(found.pairs.source.tolist(), found.pairs.target.tolist(), strict=True)):
        for entry in range(found.pairs.start[pair], found.pairs.start[pair + 1]):
            topic = int(found.pairs.topic[entry])
            paid[topic, u, v] = min(int(found.price[entry]), paid[topic, u, v])
    return paid


def overpaid(interest: Interest, paid: Price, capacity: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Pairs on which topics pay more than its capacity in all; one without a capacity has that of a link."""
    topics = topics_by_node(interest)
    return [
        (u, v)
        for u, v in combinations(range(interest.node_count), 2)
        if sum(paid[t, u, v] for t in topics[u] & topics[v]) > capacity.get((u, v), UNIT)
    ]


def tree_costs(interest: Interest, paid: Price) -> list[int]:
    """The price of the cheapest spanning tree of each topic, by adding links one by one."""
    costs = []
    for t, row in enumerate(nodes_by_topic(interest)):
        component = {node: node for node in row}
        cost = 0
        for u, v in sorted(combinations(sorted(row), 2), key=lambda pair: paid[t, pair[0], pair[1]]):
            if component[u] != component[v]:
                cost += paid[t, u, v]
                old = component[u]
                component = {node: component[v] if root == old else root for node, root in component.items()}
        costs.append(cost)
    return costs


def guided_links(interest: Interest, usage: dict[tuple[int, int], float], guide: float) -> list[tuple[int, int]]:
    """Links of highest contribution times `guide` plus usage, the lowest of equal ones, until none contributes."""
    topics = topics_by_node(interest)
    component = {(t, u): u for u, wanted in enumerate(topics) for t in wanted}
    chosen: list[tuple[int, int]] = []
    while True:
        best, link = 0.0, None
        for (u, v), used in sorted(usage.items()):
            contribution = sum(component[t, u] != component[t, v] for t in topics[u] & topics[v])
            if contribution * (guide + used) > best:
                best, link = contribution * (guide + used), (u, v)
        if link is None:
            return chosen
        chosen.append(link)
        for t in topics[link[0]] & topics[link[1]]:
            old, new = component[t, link[0]], component[t, link[1]]
            component.update({key: new for key, root in component.items() if key[0] == t and root == old})


def lowest_price(interest: Interest, price: Callable[[int, int], int]) -> int:
    """The least sum of the prices of links that connect every topic."""
    return int(_sums(interest, price)[1].min())


def lowest_prices(interest: Interest, price: Callable[[int, int], int]) -> list[tuple[float, float]]:
    """The same for each pair: with the pair as a link, and without; infinite if no links do so."""
    sets, sums = _sums(interest, price)
    linked = [(sets >> i) & 1 == 1 for i in range(interest.node_count * (interest.node_count - 1) // 2)]
    return [(sums[each].min(initial=np.inf), sums[~each].min(initial=np.inf)) for each in linked]


def _sums(interest: Interest, price: Callable[[int, int], int]) -> tuple[np.ndarray, np.ndarray]:
    """All sets of links that connect every topic, and the sums of their prices."""
    sets = np.flatnonzero(Optimum(interest).complete)
    pairs = combinations(range(interest.node_count), 2)
    sums = sum((((sets >> i) & 1) * price(u, v) for i, (u, v) in enumerate(pairs)), np.zeros_like(sets))
    return sets, sums.astype(np.float64)
