"""What a plan costs: its links, the ways through its trees, and the messages that go along them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from topicloom.brokers.plan import Plan, Route
from topicloom.metrics.traffic import PriceMeasures, TrafficMeasures, Tree, follow
from topicloom.model.interest import Interest
from topicloom.model.prices import PARTS, LinkPrices, Prices
from topicloom.model.rates import TopicTraffic


def plan_prices(plan: Plan, interest: Interest, prices: Prices) -> PriceMeasures:
    """What the links of a plan cost, its trees together, and the longest way through one of them."""
    arrays, ids = prices.over(interest), interest.node_ids
    links = np.array([[ids[name] for name in link] for link in plan.links], np.int32).reshape(-1, 2)
    trees = [_distances(route, interest, arrays) for route in plan.routes]
    return PriceMeasures(
        int(arrays.of(links[:, 0], links[:, 1]).sum()) / PARTS,
        sum(total for total, _ in trees) / PARTS,
        max((longest for _, longest in trees), default=0) / PARTS,
    )


def plan_traffic(plan: Plan, interest: Interest, traffic: TopicTraffic, prices: Prices | None) -> TrafficMeasures:
    """How many messages go over the links of a plan, and to brokers that do not want them."""
    return follow(_trees(plan, interest), traffic, None if prices is None else prices.over(interest))


def _trees(plan: Plan, interest: Interest) -> Iterator[Tree]:
    ids = interest.node_ids
    for route in plan.routes:
        links = np.array([[ids[name] for name in link] for link in route.links], np.int32).reshape(-1, 2)
        yield Tree(interest.topic_ids[route.topic], links[:, 0], links[:, 1])


def _distances(route: Route, interest: Interest, prices: LinkPrices) -> tuple[int, int]:
    """The price of a tree, and that of the longest way through it."""
    ids = interest.node_ids
    total = longest = 0
    reach: dict[str, int] = {}
    for upper, lower in reversed(route.links):
        price = int(prices.price[prices.group[ids[upper]], prices.group[ids[lower]]])
        total += price
        below = reach.get(lower, 0) + price
        longest = max(longest, reach.get(upper, 0) + below)
        reach[upper] = max(reach.get(upper, 0), below)
    return total, longest
