from __future__ import annotations

import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from reference.interests import SHAPES, nodes_by_topic, random_interest
from reference.trees import best_tree_cost, relay_tree, tree_cost
from topicloom import InputError, Interest, Prices, design, measure
from topicloom.model import Overlay, Rates

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)


def links_of(overlay: Overlay) -> list[tuple[int, int]]:
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def drawn_prices(interest: Interest, seed: int) -> tuple[Prices, dict[tuple[int, int], int]]:
    draw = random.Random(seed)
    cost = {pair: draw.randrange(1, 9) for pair in combinations(range(interest.node_count), 2)}
    names = interest.node_names
    return Prices({(names[u], names[v]): price for (u, v), price in cost.items()}), cost


@settings(max_examples=times(20))
@given(seed=seeds, shape=shapes, rounds=st.integers(0, 3))
def test_equals_its_twin(seed: int, shape: str, rounds: int) -> None:
    interest = random_interest(seed, shape)
    assert links_of(design(interest, "tree", rounds=rounds)) == relay_tree(interest, rounds)


@settings(max_examples=times(20))
@given(seed=seeds, shape=shapes)
def test_equals_its_twin_with_prices(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    prices, cost = drawn_prices(interest, seed)
    if interest.node_count > 1:
        assert links_of(design(interest, "tree", prices=prices)) == relay_tree(interest, 20, cost)


@settings(max_examples=20)
@given(seed=seeds, shape=shapes, priced=st.booleans())
def test_equals_its_twin_with_rates_and_roles(seed: int, shape: str, priced: bool) -> None:
    plain = random_interest(seed, shape)
    draw = random.Random(seed)
    pairs = zip(*plain.to_arrow().to_pydict().values(), strict=True)
    interest = Interest.from_roles([(*pair, draw.choice(["sub", "pub", "both"])) for pair in pairs])
    if interest.node_count < 2:
        return
    rates = Rates({topic: draw.choice([0.0, 1.0, 2.5, 40.0]) for topic in interest.topic_names if draw.random() < 0.8})
    prices, cost = drawn_prices(interest, seed) if priced else (None, None)
    classes = [one for each in rates.over(interest).classes.values() for one in each]
    total = max(sum(one.rate for one in classes), 1e-300)
    told = [(round(one.rate / total * 1e6), set(one.sources.tolist()), set(one.wanting.tolist())) for one in classes]
    found = links_of(design(interest, "tree", prices=prices, rates=rates))
    assert found == relay_tree(interest, 20, cost, told)


def test_busy_topics_decide() -> None:
    wanted = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("a", "z"), ("c", "z")]
    interest = Interest.from_pairs(wanted)
    for busy in "xyz":
        rates = Rates({topic: 100.0 if topic == busy else 1.0 for topic in "xyz"})
        overlay = design(interest, "tree", rates=rates)
        pair = tuple(sorted(interest.node_ids[name] for name, topic in wanted if topic == busy))
        assert pair in links_of(overlay), "a busy topic goes over its own link"
        assert len(overlay) == 2
    with pytest.raises(InputError, match=r"^gm knows no rates; those that do are tree$"):
        design(interest, "gm", rates=Rates({"x": 1.0}))


@given(seed=seeds, shape=shapes)
def test_a_forest_that_connects_every_topic(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    overlay = design(interest, "tree")
    forest = nx.Graph(links_of(overlay))
    forest.add_nodes_from(range(interest.node_count))
    assert nx.is_forest(forest)
    needed = 0
    for nodes in nodes_by_topic(interest):
        assert set(nodes) <= nx.node_connected_component(forest, min(nodes))
        needed += len(nodes) - 1
    relays = overlay.provenance.facts["relays"]
    assert relays == tree_cost(interest, links_of(overlay)) - needed
    assert measure(interest, overlay).relays == relays, "in a tree there is one way, so nobody can do with fewer"


def test_tiny_fleets_are_near_the_best() -> None:
    draw = np.random.default_rng(1)
    ratios = []
    for _ in range(30):
        rows = [(f"n{node}", f"t{topic}") for node in range(5) for topic in range(6) if draw.random() < 0.4]
        interest = Interest.from_pairs([*rows, ("n0", "t0")])
        best = best_tree_cost(interest)
        found = tree_cost(interest, links_of(design(interest, "tree")))
        assert found >= best
        ratios.append(found / best if best else 1.0)
    assert np.mean(ratios) < 1.01
    assert max(ratios) < 1.2
