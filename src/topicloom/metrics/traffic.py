"""How many messages go over the links of trees, how many to nodes that do not want them, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from topicloom.model.interest import Ids
from topicloom.model.prices import PARTS, PriceArrays
from topicloom.model.rates import MessageClass, TopicTraffic

Amounts = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrafficMeasures:
    """Messages in a unit of time.

    - `carried`: over all links; `relayed`: those of them that come to a node which does not want them.
    - `money`: what is carried times the price of its link, summed; None without prices.
    """

    carried: float
    relayed: float
    money: float | None

    def to_dict(self) -> dict[str, float | None]:
        """The fields by name, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Tree:
    """The tree of a topic: links as (upper, lower) by ids, those nearer the root first."""

    topic: int
    upper: Ids
    lower: Ids


def follow(trees: Iterable[Tree], traffic: TopicTraffic, prices: PriceArrays | None = None) -> TrafficMeasures:
    """Follow all messages along the trees of their topics."""
    carried = relayed = money = 0.0
    for tree in trees:
        amounts, passed = tree_traffic(tree.upper, tree.lower, traffic.of(tree.topic))
        carried += float(amounts.sum())
        relayed += passed
        if prices is not None:
            money += float(amounts @ prices.of(tree.upper, tree.lower)) / PARTS
    return TrafficMeasures(carried, relayed, money if prices is not None else None)


def tree_traffic(upper: Ids, lower: Ids, classes: Sequence[MessageClass]) -> tuple[Amounts, float]:
    """What goes over every link of a tree in both directions, and how much of it to nodes that do not want it.

    A message takes a link where somebody behind it wants it.
    """
    amounts: Amounts = np.zeros(len(upper), np.float64)
    relayed = 0.0
    for one in classes:
        if one.sources is one.wanting and len(one.wanting) == len(upper) + 1:
            amounts += one.rate
            continue
        wanting, sources = dict.fromkeys(one.wanting.tolist(), 1), dict.fromkeys(one.sources.tolist(), 1)
        wanted, published = dict(wanting), dict(sources)
        for link in range(len(upper) - 1, -1, -1):
            above, below = int(upper[link]), int(lower[link])
            here_wanted, here_published = wanted.get(below, 0), published.get(below, 0)
            wanted[above] = wanted.get(above, 0) + here_wanted
            published[above] = published.get(above, 0) + here_published
            down = one.rate * (1 - here_published / len(sources)) if here_wanted else 0.0
            up = one.rate * here_published / len(sources) if here_wanted < len(wanting) else 0.0
            amounts[link] += down + up
            relayed += (0.0 if below in wanting else down) + (0.0 if above in wanting else up)
    return amounts, relayed
