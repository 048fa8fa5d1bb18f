"""A tree for every topic, over the links of an overlay."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.kernels.components import find_root, join_topic, mark
from topicloom.kernels.relays import new_search, node_components
from topicloom.kernels.routing import route_topics
from topicloom.metrics.traffic import PriceMeasures, TrafficMeasures, Tree, follow, trees_by_price
from topicloom.model.graph import LinkGraph
from topicloom.model.interest import Ids, Interest, Starts
from topicloom.model.overlay import Overlay
from topicloom.model.prices import MILLIONTHS, Prices
from topicloom.model.rates import Rates, TopicTraffic
from topicloom.model.roles import Roles

# How many topics and names an error lists; all of them are in its `broken`.
_FEW = 3


@dataclass(frozen=True)
class BrokenTopic:
    """A topic whose subscribers cannot all reach each other, and the groups of those that can; largest first."""

    topic: str
    pieces: tuple[tuple[str, ...], ...]


class BrokenTopicsError(InputError):
    """Some topics have no tree; `broken` says which, and who cannot reach whom."""

    def __init__(self, message: str, broken: tuple[BrokenTopic, ...]) -> None:
        super().__init__(message)
        self.broken = broken


@dataclass(frozen=True, eq=False)
class Trees:
    """For every topic of an interest a tree over its subscribers and the relays it needs.

    Topic `t` is routed from node `root[t]` along the links `upper[i]` - `lower[i]` (ids) for `i` from `start[t]` to
    `start[t + 1]`, those nearer the root first.
    """

    interest: Interest
    start: Starts
    upper: Ids
    lower: Ids
    root: Ids

    def links_of(self, topic: int) -> npt.NDArray[np.int32]:
        """The links of a topic's tree, a row each: upper and lower node."""
        rows = slice(self.start[topic], self.start[topic + 1])
        return np.stack([self.upper[rows], self.lower[rows]], axis=1)

    def only(self, topics: npt.NDArray[np.integer]) -> Trees:
        """The trees of some topics, over all nodes."""
        interest, roles = self.interest, self.interest.roles
        own, starts = _rows_of(self.start, topics)
        subscribed, sizes = _rows_of(interest.topic_start, topics)
        if roles is not None:
            rows, start = _rows_of(roles.start, topics)
            columns = (roles.node[rows], roles.pattern[rows], roles.role[rows], roles.publishes[rows])
            roles = Roles(roles.protocol, roles.patterns, start, *columns)
        few = Interest.from_ids(
            interest.node_names,
            tuple(interest.topic_names[topic] for topic in topics),
            interest.topic_nodes[subscribed],
            np.repeat(np.arange(len(topics)), np.diff(sizes)),
            roles,
        )
        return Trees(few, starts, self.upper[own], self.lower[own], self.root[topics])


def _rows_of(start: Starts, groups: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], Starts]:
    """The rows of some groups of compressed rows, and where each group begins among them."""
    sizes = start[groups + 1] - start[groups]
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return np.repeat(start[groups] - starts[:-1], sizes) + np.arange(starts[-1]), starts


def route(interest: Interest, overlay: Overlay, *, relays: bool = False) -> Trees:
    """Route every topic along a shallow tree of links; the topics spread over the links.

    Where the subscribers of a topic are in pieces, nodes that do not want it may join them, if `relays` says so. A
    topic that remains in pieces raises `BrokenTopicsError`. 10,000 nodes and 1,000 topics take 0.1 s, and 0.3 s where
    most topics need relays.
    """
    if overlay.interest is not interest and overlay.interest.node_names != interest.node_names:
        raise InputError("the overlay links other nodes than those of the interest; route over its own")
    graph = LinkGraph.from_links(interest.node_count, overlay.source, overlay.target)
    routes, pieces = _possible_trees(interest, graph, relays)
    broken = np.flatnonzero(pieces > 1)
    if len(broken):
        raise _error(tuple(_broken(interest, graph, int(topic), relays) for topic in broken), relays)
    return routes


def possible_trees(overlay: Overlay) -> tuple[Trees, npt.NDArray[np.int64]]:
    """Trees with relays where they can be had, and in how many pieces each topic remains: one in several has none."""
    graph = LinkGraph.from_links(overlay.interest.node_count, overlay.source, overlay.target)
    return _possible_trees(overlay.interest, graph, True)


def pieces_of(overlay: Overlay, topic: int) -> BrokenTopic:
    """Which nodes of a topic reach each other over nodes that have to do with it."""
    graph = LinkGraph.from_links(overlay.interest.node_count, overlay.source, overlay.target)
    return _broken(overlay.interest, graph, topic, False)


def _possible_trees(interest: Interest, graph: LinkGraph, relays: bool) -> tuple[Trees, npt.NDArray[np.int64]]:
    rows = (interest.topic_start, interest.topic_nodes, graph.out_start, graph.out_nodes)
    search = new_search(graph.link_start, graph.link_nodes)
    start, upper, lower, root, pieces = route_topics(*rows, search, relays)
    return Trees(interest, start, upper, lower, root), pieces


def route_by_price(interest: Interest, overlay: Overlay, prices: Prices, rates: Rates | None = None) -> Trees:
    """Route every topic along its cheapest tree, hung from the middle of its longest way; relays are not taken.

    With rates the cheapest is that of lowest traffic times price. A topic in pieces raises `BrokenTopicsError`.
    """
    paid = prices.over(interest).of(overlay.source, overlay.target)
    trees = trees_by_price(interest, overlay, paid, None if rates is None else rates.over(interest))
    broken = np.flatnonzero(trees.pieces > 1)
    if len(broken):
        graph = LinkGraph.from_links(interest.node_count, overlay.source, overlay.target)
        raise _error(tuple(_broken(interest, graph, int(topic), False) for topic in broken), False)
    return Trees(interest, trees.start, trees.upper, trees.lower, trees.root)


def price_trees(trees: Trees, prices: Prices) -> PriceMeasures:
    """Measure what the links of trees cost, the trees together, and the longest path through one of them."""
    paid = prices.over(trees.interest)
    of_rows = paid.of(trees.upper, trees.lower).astype(np.int64)
    count = max(1, trees.interest.node_count)
    low, high = np.minimum(trees.upper, trees.lower), np.maximum(trees.upper, trees.lower)
    first, second = np.divmod(np.unique(low.astype(np.int64) * count + high), count)
    longest = 0
    upper, lower, price = trees.upper.tolist(), trees.lower.tolist(), of_rows.tolist()
    for begin, end in pairwise(trees.start.tolist()):
        reach: dict[int, int] = {}
        for row in range(end - 1, begin - 1, -1):
            above, below = reach.get(upper[row], 0), reach.get(lower[row], 0) + price[row]
            longest = max(longest, above + below)
            reach[upper[row]] = max(above, below)
    return PriceMeasures(
        int(paid.of(first.astype(np.int32), second.astype(np.int32)).sum()) / MILLIONTHS,
        int(of_rows.sum()) / MILLIONTHS,
        longest / MILLIONTHS,
    )


def tree_messages(trees: Trees, traffic: TopicTraffic, prices: Prices | None) -> TrafficMeasures:
    """Measure how many messages go over the links of trees, and to nodes that do not want them."""
    rows = enumerate(pairwise(trees.start.tolist()))
    each = (Tree(topic, trees.upper[begin:end], trees.lower[begin:end]) for topic, (begin, end) in rows)
    return follow(each, traffic, None if prices is None else prices.over(trees.interest))


def _broken(interest: Interest, graph: LinkGraph, topic: int, relays: bool) -> BrokenTopic:
    nodes = interest.nodes_of(topic)
    if relays:
        labels = node_components(graph.out_start, graph.out_nodes)[nodes]
    else:
        place = np.full(interest.node_count, -1, np.int32)
        mark(nodes, place)
        parent = np.arange(len(nodes))
        join_topic(nodes, place, graph.out_start, graph.out_nodes, parent)
        labels = np.array([find_root(parent, i) for i in range(len(nodes))])
    pieces: dict[int, list[str]] = {}
    for node, label in zip(nodes.tolist(), labels.tolist(), strict=True):
        pieces.setdefault(label, []).append(interest.node_names[node])
    largest_first = sorted(pieces.values(), key=lambda names: (-len(names), names[0]))
    return BrokenTopic(interest.topic_names[topic], tuple(tuple(names) for names in largest_first))


def _error(broken: tuple[BrokenTopic, ...], relays: bool) -> BrokenTopicsError:
    topics = f"{len(broken):,} topic{'s fall' if len(broken) > 1 else ' falls'} into pieces"
    first = "; ".join(f"'{one.topic}' ({_pieces(one)})" for one in broken[:_FEW])
    more = " and others" if len(broken) > _FEW else ""
    cure = "add links between the pieces" if relays else "allow relays, or add links between their subscribers"
    where = "even over relays" if relays else "over links between subscribers alone"
    return BrokenTopicsError(f"{topics} {where}: {first}{more}; {cure}", broken)


def _pieces(one: BrokenTopic) -> str:
    shown = [", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "") for names in one.pieces[:_FEW]]
    return " | ".join(shown) + (" | …" if len(one.pieces) > _FEW else "")
