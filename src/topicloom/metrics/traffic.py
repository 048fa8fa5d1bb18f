"""What an overlay costs by the prices of its links, and by the messages that pass over them.

Messages are counted over the links of trees: how many pass, how many reach nodes that do not want them, and the cost.

`trees_by_price` begins with the cheapest tree of a topic and improves it by swaps as long as one saves money. If all
nodes of a topic want and publish all of it, every message passes every link, and the tree of lowest price is best. If
some only publish, or want a part, messages pass only some of the links. Then a link outside the tree replaces one on
the path between its ends, whichever swap saves most, until none does or the steps are spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.price_trees import cheapest_trees, middle_of, tree_rows, walk
from topicloom.model.interest import Ids, Interest, Starts
from topicloom.model.overlay import Overlay
from topicloom.model.prices import MILLIONTHS, LinkPrices, Prices
from topicloom.model.rates import MessageClass, Rates, TopicTraffic


@dataclass(frozen=True)
class PriceMeasures:
    """What an overlay costs.

    - `price`: of all links together.
    - `tree_price`: of the cheapest trees of all topics that are connected, together.
    - `longest_way`: the highest price of a way through one of these trees.
    """

    price: float
    tree_price: float
    longest_way: float

    def to_dict(self) -> dict[str, float]:
        """The fields by name, ready for JSON."""
        return asdict(self)


def measure_prices(interest: Interest, overlay: Overlay, prices: Prices) -> PriceMeasures:
    """Measure what an overlay costs, whose nodes are those of the interest."""
    paid = prices.over(interest).of(overlay.source, overlay.target)
    source, target, rising = by_price(overlay.source, overlay.target, paid)
    rows = (interest.topic_start, interest.topic_nodes)
    *_, total, longest, _ = cheapest_trees(*rows, source, target, rising, interest.node_count)
    return PriceMeasures(
        int(paid.sum()) / MILLIONTHS, int(total.sum()) / MILLIONTHS, int(longest.max(initial=0)) / MILLIONTHS
    )


def by_price(source: Ids, target: Ids, paid: npt.NDArray[np.int64]) -> tuple[Ids, Ids, npt.NDArray[np.int64]]:
    """Links by rising price, of equals by their ids."""
    order = np.lexsort((target, source, paid))
    return source[order], target[order], paid[order]


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


def follow(trees: Iterable[Tree], traffic: TopicTraffic, prices: LinkPrices | None = None) -> TrafficMeasures:
    """Follow all messages along the trees of their topics."""
    carried = relayed = money = 0.0
    for tree in trees:
        amounts, passed = tree_traffic(tree.upper, tree.lower, traffic.of(tree.topic))
        carried += float(amounts.sum())
        relayed += passed
        if prices is not None:
            money += float(amounts @ prices.of(tree.upper, tree.lower)) / MILLIONTHS
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


Link = tuple[int, int]
Paid = npt.NDArray[np.int64]
# Nodes that are looked at for one topic; 40 brokers with as many links too many take a hundredth of it.
_MOST_STEPS = 2_000_000
# Swaps that save less than this share are rounding.
_SAVING = 1e-9


class CheapestTrees(NamedTuple):
    """A tree for every topic: where its links start, upper and lower nodes, roots; and in how many pieces each is."""

    start: Starts
    upper: Ids
    lower: Ids
    root: Ids
    pieces: npt.NDArray[np.int64]


def measure_traffic(
    interest: Interest, overlay: Overlay, rates: Rates, prices: Prices | None = None
) -> TrafficMeasures:
    """Follow all messages along the cheapest trees of connected topics; without prices all links cost the same."""
    arrays = None if prices is None else prices.over(interest)
    paid = np.ones(len(overlay), np.int64) if arrays is None else arrays.of(overlay.source, overlay.target)
    traffic = rates.over(interest)
    trees = trees_by_price(interest, overlay, paid, traffic)
    rows = [slice(trees.start[topic], trees.start[topic + 1]) for topic in range(interest.topic_count)]
    each = (Tree(topic, trees.upper[row], trees.lower[row]) for topic, row in enumerate(rows))
    return follow(each, traffic, arrays)


def trees_by_price(
    interest: Interest, overlay: Overlay, paid: Paid, traffic: TopicTraffic | None = None
) -> CheapestTrees:
    """The tree of lowest price for every topic that is connected, or with traffic that of lowest traffic times price.

    `paid` are the prices of the overlay's links.
    """
    rows = (interest.topic_start, interest.topic_nodes)
    by_rising = by_price(overlay.source, overlay.target, paid)
    start, upper, lower, root, _, _, pieces = cheapest_trees(*rows, *by_rising, interest.node_count)
    trees = CheapestTrees(start, upper, lower, root, pieces)
    if traffic is not None:
        ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
        price = dict(zip(ends, paid.tolist(), strict=True))
        for topic in np.flatnonzero(pieces == 1).tolist():
            _fit(interest, overlay, topic, trees, price, traffic.of(topic))
    return trees


def _fit(
    interest: Interest,
    overlay: Overlay,
    topic: int,
    trees: CheapestTrees,
    price: Mapping[Link, int],
    classes: Sequence[MessageClass],
) -> None:
    """Better the tree of one topic, in place."""
    row = slice(trees.start[topic], trees.start[topic + 1])
    if all(one.sources is one.wanting for one in classes) or trees.start[topic + 1] - trees.start[topic] < 2:
        return
    ends = zip(trees.upper[row].tolist(), trees.lower[row].tolist(), strict=True)
    tree = [(min(pair), max(pair)) for pair in ends]
    is_member = np.zeros(interest.node_count, np.bool_)
    is_member[interest.nodes_of(topic)] = True
    inside = np.flatnonzero(is_member[overlay.source] & is_member[overlay.target])
    links = zip(overlay.source[inside].tolist(), overlay.target[inside].tolist(), strict=True)
    others = sorted(set(links).difference(tree), key=lambda one: (price[one], one))
    found = improve_tree(tree, others, price, classes)
    if found != tree:
        trees.root[topic], trees.upper[row], trees.lower[row] = root_tree(found, price)


def improve_tree(
    tree: Sequence[Link], others: Sequence[Link], price: Mapping[Link, int], classes: Sequence[MessageClass]
) -> list[Link]:
    """A tree, with links swapped for others as long as that makes its traffic cheaper."""
    tree = list(tree)
    paid = _cost(tree, price, classes)
    left, improved = _MOST_STEPS, True
    while improved and left > 0:
        improved = False
        for other in others:
            if other in tree:
                continue
            swaps = [[link for link in tree if link != out] + [other] for out in _path_between(tree, other)]
            left -= len(swaps) * len(tree) * len(classes)
            best, money = min(((swap, _cost(swap, price, classes)) for swap in swaps), key=lambda found: found[1])
            if money < paid * (1 - _SAVING):
                tree, paid, improved = best, money, True
            if left <= 0:
                break
    return tree


def root_tree(tree: Sequence[Link], price: Mapping[Link, int]) -> tuple[int, Ids, Ids]:
    """The root of a tree, near the middle of its longest way, and its links as upper and lower, from there on."""
    nodes, places = np.unique(np.array(tree, np.int32), return_inverse=True)
    ends = places.reshape(-1, 2).astype(np.int32)
    paid = np.array([price[link] for link in tree], np.int64)
    start, other, link = tree_rows(ends, len(nodes))
    parent, queue = np.empty(len(nodes), np.int32), np.empty(len(nodes), np.int32)
    distance = np.empty(len(nodes), np.int64)
    middle, _ = middle_of(start, other, link, paid, parent, distance, queue)
    walk(start, other, link, paid, middle, parent, distance, queue)
    return int(nodes[middle]), nodes[parent[queue[1:]]], nodes[queue[1:]]


def _cost(tree: Sequence[Link], price: Mapping[Link, int], classes: Sequence[MessageClass]) -> float:
    upper, lower = _from_first(tree)
    amounts, _ = tree_traffic(upper, lower, classes)
    paid = [price[min(ends), max(ends)] for ends in zip(upper.tolist(), lower.tolist(), strict=True)]
    return float(amounts @ np.array(paid, np.float64))


def _from_first(tree: Sequence[Link]) -> tuple[Ids, npt.NDArray[np.int32]]:
    """The links as upper and lower, from the first node of the first link on."""
    beside = _neighbours(tree)
    queue, came_from = [tree[0][0]], {tree[0][0]: -1}
    for node in queue:
        for other in beside[node]:
            if other != came_from[node]:
                came_from[other] = node
                queue.append(other)
    lower = np.array(queue[1:], np.int32)
    return np.array([came_from[node] for node in queue[1:]], np.int32), lower


def _neighbours(tree: Sequence[Link]) -> dict[int, list[int]]:
    beside: dict[int, list[int]] = {}
    for a, b in tree:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    return beside


def _path_between(tree: Sequence[Link], ends: Link) -> list[Link]:
    """The links of the tree between two nodes."""
    beside = _neighbours(tree)
    came_from = {ends[0]: ends[0]}
    queue = [ends[0]]
    for node in queue:
        for other in beside[node]:
            if other not in came_from:
                came_from[other] = node
                queue.append(other)
    way, node = [], ends[1]
    while node != ends[0]:
        way.append((min(node, came_from[node]), max(node, came_from[node])))
        node = came_from[node]
    return way
