from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from reference.constrained import Rules, random_rules
from reference.interests import SHAPES, nodes_by_topic, random_interest
from reference.trees import best_tree_cost, best_within, relay_tree, tree_cost
from topicloom import Constraints, InputError, Interest, Prices, design, measure
from topicloom.designers import blocked_topics
from topicloom.model import NodeRule, Overlay, Rates

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
    with pytest.raises(InputError, match=r"^gm does not take rates; these do: tree$"):
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


def limited(seed: int, shape: str) -> tuple[Interest, Rules]:
    """An interest and rules for it in which the links that stay make no circle."""
    interest = random_interest(seed, shape)
    rules = random_rules(interest.node_names, random.Random(seed))
    there = nx.Graph()
    for number, pair in enumerate(rules.keep + rules.require):
        there.add_edge(*pair)
        if not nx.is_forest(there):
            return interest, replace(rules, keep=(rules.keep + rules.require)[:number], require=())
    return interest, rules


@settings(max_examples=times(40))
@given(seed=seeds, shape=shapes)
def test_equals_its_twin_within_constraints(seed: int, shape: str) -> None:
    interest, rules = limited(seed, shape)
    overlay = design(interest, "tree", constraints=rules.constraints())
    assert links_of(overlay) == relay_tree(interest, 20, rules=rules)
    assert not rules.broken(overlay)
    assert {tuple(sorted(pair)) for pair in rules.keep + rules.require} <= set(overlay)


def test_constraints_that_forbid_nothing_change_nothing() -> None:
    for seed in range(times(10)):
        interest = random_interest(seed, SHAPES[seed % len(SHAPES)])
        assert links_of(design(interest, "tree", constraints=Constraints())) == links_of(design(interest, "tree"))


def test_tiny_fleets_are_connected_wherever_a_tree_can() -> None:
    possible, connected, ratios = 0, 0, []
    for seed in range(times(60)):
        draw = random.Random(seed)
        rows = [(f"n{node}", f"t{topic}") for node in range(5) for topic in range(4) if draw.random() < 0.5]
        interest = Interest.from_pairs([*rows, ("n0", "t0")])
        limits = {name: draw.randint(1, 3) for name in interest.node_names if draw.random() < 0.6}
        pairs = [pair for pair in combinations(interest.node_names, 2) if draw.random() < 0.3]
        rules = Rules(limit=limits, forbid=frozenset(pairs))
        overlay = design(interest, "tree", constraints=rules.constraints())
        apart = blocked_topics(overlay, rules.constraints(), relays=True).topics
        best = best_within(interest, rules)
        assert best is not None or apart, f"{seed=}"
        if best is not None:
            possible += 1
            connected += not apart
            if not apart:
                ratios.append(tree_cost(interest, links_of(overlay)) / max(best, 1))
    assert connected >= 0.9 * possible
    assert min(ratios) >= 1
    assert np.mean(ratios) < 1.03


def test_a_firewall_is_passed_over_a_gateway_that_wants_other_topics() -> None:
    # Nobody in the east may be linked with the west, but all may with the gateway, which wants none of their topics.
    rows = [("east1", "x"), ("east2", "x"), ("west1", "x"), ("west2", "x"), ("gate", "y"), ("west2", "y")]
    rules = {name: NodeRule(region=name[:4]) for name, _ in rows}
    constraints = Constraints(rules, forbid_regions=(("east", "west"),))
    overlay = design(Interest.from_pairs(rows), "tree", constraints=constraints)
    assert not blocked_topics(overlay, constraints, relays=True).topics
    assert any("gate" in link and "east" in link[0] for link in overlay)
    walled = Constraints(rules, forbid_regions=(("east", "west"), ("east", "gate")))
    overlay = design(Interest.from_pairs(rows), "tree", constraints=walled)
    blocked = blocked_topics(overlay, walled, relays=True)
    assert (blocked.topics, blocked.reason) == (("x",), "forbid east - west")
    assert blocked.cut_off == ("east1", "east2")


def test_links_that_stay_may_make_no_circle() -> None:
    interest = Interest.from_pairs([(name, "x") for name in "abc"])
    constraints = Constraints(keep=(("a", "b"), ("b", "c"), ("a", "c")))
    with pytest.raises(InputError, match=r"^keep and require form a cycle through 'a' - 'c'; a tree allows none$"):
        design(interest, "tree", constraints=constraints)


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
