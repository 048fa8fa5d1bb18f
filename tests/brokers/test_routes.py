"""Routes: trees over exactly who wants a topic, shallow, spread over the links, the same every time."""

from __future__ import annotations

import random
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import measures, routing
from reference.interests import SHAPES, random_interest
from topicloom import InputError, Interest, Overlay, design
from topicloom.brokers import BrokenTopicsError, Trees, route

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)
algorithms = st.sampled_from(["gm", "minmax-oda", "ring-per-topic", "gm-fold"])


def graph_of(overlay: Overlay) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(overlay.interest.node_count))
    graph.add_edges_from(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    return graph


def tree_of(routes: Trees, topic: int) -> nx.Graph:
    tree = nx.Graph()
    tree.add_node(int(routes.root[topic]))
    tree.add_edges_from(routes.links_of(topic).tolist())
    return tree


def random_overlay(interest: Interest, seed: int) -> Overlay:
    """Any links, whether they share topics or not, that connect all nodes."""
    dice = random.Random(seed)
    nodes = list(range(interest.node_count))
    dice.shuffle(nodes)
    links = {tuple(sorted((node, dice.choice(nodes[:i])))) for i, node in enumerate(nodes) if i}
    for _ in range(dice.randrange(2 * len(nodes))):
        if len(nodes) > 1:
            links.add(tuple(sorted(dice.sample(nodes, 2))))
    names = interest.node_names
    return Overlay.from_links(interest, [(names[u], names[v]) for u, v in sorted(links)])


@given(seed=seeds, shape=shapes, algorithm=algorithms)
def test_every_route_is_a_tree_over_exactly_its_subscribers(seed: int, shape: str, algorithm: str) -> None:
    interest = random_interest(seed, shape)
    overlay = design(interest, algorithm)
    graph, routes = graph_of(overlay), route(interest, overlay)
    for topic in range(interest.topic_count):
        tree = tree_of(routes, topic)
        assert nx.is_tree(tree)
        assert set(tree) == set(interest.nodes_of(topic).tolist())
        assert all(graph.has_edge(u, v) for u, v in tree.edges)


@given(seed=seeds, shape=shapes, algorithm=algorithms)
def test_parents_are_those_of_the_slow_twin(seed: int, shape: str, algorithm: str) -> None:
    interest = random_interest(seed, shape)
    overlay = design(interest, algorithm)
    graph, routes = graph_of(overlay), route(interest, overlay)
    load: Counter[frozenset[int]] = Counter()
    for topic in range(interest.topic_count):
        subscribers = set(interest.nodes_of(topic).tolist())
        expected = routing.parents(graph, subscribers, int(routes.root[topic]), load)
        assert {lower: upper for upper, lower in routes.links_of(topic).tolist()} == expected


@given(seed=seeds, shape=shapes)
def test_with_relays_nobody_else_is_on_the_tree_and_no_relay_hangs_loose(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    overlay = random_overlay(interest, seed)
    graph, routes = graph_of(overlay), route(interest, overlay, relays=True)
    for topic in range(interest.topic_count):
        tree, subscribers = tree_of(routes, topic), set(interest.nodes_of(topic).tolist())
        relays = set(tree) - subscribers
        assert nx.is_tree(tree)
        assert subscribers <= set(tree)
        assert all(graph.has_edge(u, v) for u, v in tree.edges)
        assert all(tree.degree(relay) >= 2 for relay in relays)
        assert relays <= measures.relays(graph, sorted(subscribers))
        if nx.is_connected(graph.subgraph(subscribers)):
            assert not relays


@given(seed=seeds, shape=shapes)
def test_links_come_from_the_root_on(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    routes = route(interest, random_overlay(interest, seed), relays=True)
    for topic in range(interest.topic_count):
        reached = {int(routes.root[topic])}
        for upper, lower in routes.links_of(topic).tolist():
            assert upper in reached
            assert lower not in reached
            reached.add(lower)


@given(seed=seeds, count=st.integers(2, 40))
def test_the_root_is_a_centre_where_the_topic_is_a_tree(seed: int, count: int) -> None:
    graph = nx.random_labeled_tree(count, seed=seed)
    interest = Interest.from_pairs([(f"n{u:02}", "t") for u in range(count)])
    overlay = Overlay.from_links(interest, [(f"n{u:02}", f"n{v:02}") for u, v in graph.edges])
    assert int(route(interest, overlay).root[0]) in nx.center(graph)


def test_topics_spread_over_links_that_serve_them_equally() -> None:
    # The leaves hang below two nodes alike; the tail puts the root above both.
    leaves = [f"leaf{i}" for i in range(6)]
    names = ["root", "left", "right", "tail1", "tail2", *leaves]
    interest = Interest.from_pairs([(name, f"t{t}") for name in names for t in range(10)])
    links = [("root", "left"), ("root", "right"), ("root", "tail1"), ("tail1", "tail2")]
    links += [(side, leaf) for side in ("left", "right") for leaf in leaves]
    routes = route(interest, Overlay.from_links(interest, links))
    assert {interest.node_names[root] for root in routes.root} == {"root"}
    load = Counter(
        (interest.node_names[upper], interest.node_names[lower])
        for topic in range(10)
        for upper, lower in routes.links_of(topic).tolist()
    )
    assert {load[side, leaf] for side in ("left", "right") for leaf in leaves} == {5}


def test_known_relays_and_their_loose_ends() -> None:
    # The middle of the ring is reached both ways round; one way is enough.
    pairs = [("a", "t"), ("d", "t"), *((name, "other") for name in "abcdef")]
    interest = Interest.from_pairs(pairs)
    ring = Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("a", "f")])
    routes = route(interest, ring, relays=True)
    assert set(tree_of(routes, interest.topic_ids["t"])) == {interest.node_ids[name] for name in "abcd"}


def test_a_subscriber_is_preferred_to_a_relay() -> None:
    # x could hang below b, a relay that z needs, or below c; the tail puts the root at a.
    interest = Interest.from_pairs([*((name, "t") for name in "acpqxz"), ("b", "other")])
    links = [("a", "b"), ("a", "c"), ("b", "x"), ("c", "x"), ("b", "z"), ("a", "p"), ("p", "q")]
    routes = route(interest, Overlay.from_links(interest, links), relays=True)
    topic = interest.topic_ids["t"]
    found = {tuple(interest.node_names[node] for node in link) for link in routes.links_of(topic).tolist()}
    assert interest.node_names[routes.root[topic]] == "a"
    assert found == {("a", "b"), ("a", "c"), ("c", "x"), ("b", "z"), ("a", "p"), ("p", "q")}


def test_topics_in_pieces_are_named_with_who_cannot_reach_whom() -> None:
    interest = Interest.from_pairs([*((name, "t") for name in "abcde"), ("f", "alone"), ("x", "u"), ("y", "u")])
    overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("d", "f"), ("f", "a"), ("x", "y")])
    with pytest.raises(BrokenTopicsError) as refused:
        route(interest, overlay)
    assert str(refused.value) == (
        "1 topic falls into pieces over links between subscribers alone: 't' (a, b, c | d | e); "
        "allow relays, or add links between their subscribers"
    )
    (broken,) = refused.value.broken
    assert (broken.topic, broken.pieces) == ("t", (("a", "b", "c"), ("d",), ("e",)))
    with pytest.raises(BrokenTopicsError) as refused:
        route(interest, overlay, relays=True)
    assert [one.pieces for one in refused.value.broken] == [(("a", "b", "c", "d"), ("e",))]
    assert "even over relays" in str(refused.value)


def test_many_broken_topics_are_counted_and_a_few_shown() -> None:
    interest = Interest.from_pairs([(name, f"t{t}") for name in "abcde" for t in range(9)])
    with pytest.raises(BrokenTopicsError) as refused:
        route(interest, Overlay.from_links(interest, []))
    assert str(refused.value).startswith("9 topics fall into pieces")
    assert "'t2' (a | b | c | …) and others; " in str(refused.value)
    assert len(refused.value.broken) == 9


def test_an_overlay_of_other_nodes_is_refused() -> None:
    one, other = Interest.from_pairs([("a", "t"), ("b", "t")]), Interest.from_pairs([("a", "t"), ("c", "t")])
    with pytest.raises(InputError, match="other nodes"):
        route(one, Overlay.from_links(other, []))
