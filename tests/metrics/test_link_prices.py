"""What overlays cost, and routes along cheapest trees, against networkx."""

from __future__ import annotations

import random

import networkx
import pytest

from effort import times
from reference.interests import SHAPES, random_interest
from topicloom.designers import design
from topicloom.metrics import measure_prices
from topicloom.metrics.trees import BrokenTopicsError, route_by_price
from topicloom.model import Interest, Overlay, Prices


@pytest.mark.parametrize("shape", SHAPES)
def test_measures_and_routes(shape: str) -> None:
    for seed in range(times(12)):
        dice = random.Random(f"{shape} {seed}")
        interest = random_interest(seed, shape)
        names = interest.node_names
        between = {(a, b): dice.choice([1, 2, 2.5, 7]) for a in names for b in names if a < b}
        prices = Prices(between)
        overlay = design(interest, "gm-fold", folds=2)
        whole = overlay.to_networkx()
        networkx.set_edge_attributes(whole, {(a, b): between[min(a, b), max(a, b)] for a, b in whole.edges}, "price")
        routes = route_by_price(interest, overlay, prices)
        total, longest = 0.0, 0.0
        for topic in range(interest.topic_count):
            nodes = [names[u] for u in interest.nodes_of(topic).tolist()]
            tree = networkx.minimum_spanning_tree(whole.subgraph(nodes), weight="price")
            least = tree.size(weight="price")
            links = [(names[u], names[v]) for u, v in routes.links_of(topic).tolist()]
            found = whole.edge_subgraph(links).copy()
            found.add_nodes_from(nodes)
            assert networkx.is_tree(found), f"seed {seed}"
            assert found.size(weight="price") == pytest.approx(least), f"seed {seed}"
            seen = {names[routes.root[topic]]}
            for upper, lower in links:
                assert upper in seen, f"seed {seed}"
                seen.add(lower)
            ways = dict(networkx.all_pairs_dijkstra_path_length(found, weight="price"))
            longest = max([longest, *(length for row in ways.values() for length in row.values())])
            total += least
        measures = measure_prices(interest, overlay, prices)
        assert measures.price == pytest.approx(whole.size(weight="price")), f"seed {seed}"
        assert measures.tree_price == pytest.approx(total), f"seed {seed}"
        assert measures.longest_way == pytest.approx(longest), f"seed {seed}"


def test_a_topic_in_pieces_has_no_route() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    prices = Prices({("a", "b"): 1, ("a", "c"): 1, ("b", "c"): 1})
    with pytest.raises(BrokenTopicsError, match="1 topic falls into pieces"):
        route_by_price(interest, Overlay.from_links(interest, [("a", "b")]), prices)
