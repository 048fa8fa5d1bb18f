from __future__ import annotations

import random

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.measures import LINK_SHAPES, fewest_relays, graph_of, random_links, relays
from topicloom.kernels.components import join_topic, mark
from topicloom.kernels.relays import MORE_FOR_ALL, new_search, steiner_relays
from topicloom.metrics import LinkGraph

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(LINK_SHAPES)


def relays_of(graph: nx.Graph, subscribers: list[int], more_for_all: int = int(MORE_FOR_ALL)) -> set[int]:
    """The relays that the kernel chooses."""
    count = len(graph)
    links = np.array(graph.edges, np.int32).reshape(-1, 2)
    rows = LinkGraph.from_links(count, links.min(axis=1), links.max(axis=1))
    nodes = np.array(sorted(subscribers), np.int32)
    nodes.setflags(write=False)
    place = np.full(count, -1, np.int32)
    search = new_search(rows.link_start, rows.link_nodes)
    parent = np.arange(len(nodes))
    mark(nodes, place)
    _, components = join_topic(nodes, place, rows.out_start, rows.out_nodes, parent)
    joins = components - groups(graph, subscribers)
    found = search.relays[: steiner_relays(search, nodes, parent, joins, more_for_all)]
    assert (search.level == -1).all()
    assert not search.taken.any()
    assert len(set(found.tolist())) == len(found)
    return set(found.tolist())


def groups(graph: nx.Graph, subscribers: list[int]) -> int:
    return sum(1 for piece in nx.connected_components(graph) if piece & set(subscribers))


def some_nodes(seed: int, count: int, most: int) -> list[int]:
    dice = random.Random(seed)
    return sorted(dice.sample(range(count), dice.randint(1, min(most, count))))


@given(seed=seeds, shape=shapes, count=st.integers(1, 80), most=st.sampled_from([4, 12, 80]))
def test_chooses_the_relays_of_its_twin(seed: int, shape: str, count: int, most: int) -> None:
    graph = graph_of(count, random_links(seed, shape, count))
    subscribers = some_nodes(seed, count, most)
    expected = relays(graph, subscribers)
    # Cells that grow alone at once, after some levels, and never.
    for more_for_all in (0, 1, 10**6):
        assert relays_of(graph, subscribers, more_for_all) == expected


@given(seed=seeds, shape=shapes, count=st.integers(1, 80))
def test_with_its_relays_a_topic_is_as_connected_as_the_overlay_allows(seed: int, shape: str, count: int) -> None:
    graph = graph_of(count, random_links(seed, shape, count))
    subscribers = some_nodes(seed, count, 12)
    found = relays_of(graph, subscribers)
    joined = graph.subgraph([*subscribers, *found])
    assert not found & set(subscribers)
    assert nx.number_connected_components(joined) == groups(graph, subscribers)
    # No relay hangs loose: each has a neighbour on either side of it.
    assert all(joined.degree(u) >= 2 for u in found)


@given(seed=seeds, shape=shapes, count=st.integers(2, 11))
def test_tree_has_at_most_twice_the_links_of_the_best(seed: int, shape: str, count: int) -> None:
    graph = graph_of(count, random_links(seed, shape, count))
    subscribers = some_nodes(seed, count, 6)
    joins = nx.number_connected_components(graph.subgraph(subscribers)) - groups(graph, subscribers)
    best = fewest_relays(graph, subscribers)
    found = len(relays_of(graph, subscribers))
    # Contracting each component to one node, a tree has one link for every relay and every join.
    assert best <= found
    assert found + joins <= 2 * (best + joins)


def test_known_relays() -> None:
    assert relays_of(nx.path_graph(9), [0, 1, 4, 8]) == {2, 3, 5, 6, 7}
    assert relays_of(nx.star_graph(9), [1, 5, 7]) == {0}
    assert relays_of(nx.star_graph(9), [0, 5, 7]) == set()
    assert relays_of(nx.cycle_graph(10), [0, 4]) == {1, 2, 3}
    assert relays_of(nx.complete_graph(6), [1, 5]) == set()


def test_ties_go_to_the_lowest_nodes() -> None:
    # Two ways round a ring of even length; two hubs for the same leaves.
    assert relays_of(nx.cycle_graph(8), [0, 4]) == {1, 2, 3}
    assert relays_of(nx.cycle_graph(8), [3, 7]) == {0, 1, 2}
    assert relays_of(nx.complete_bipartite_graph(2, 4), [2, 3, 5]) == {0}
