from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import times
from reference.measures import LINK_SHAPES, diameter, graph_of, random_links
from topicloom.kernels.paths import topic_diameters
from topicloom.metrics import LinkGraph


def diameter_of(graph: nx.Graph) -> int:
    """Diameter by the kernel, as that of a topic that all nodes want."""
    count = len(graph)
    links = np.array(graph.edges, np.int32).reshape(-1, 2)
    rows = LinkGraph.from_links(count, links.min(axis=1), links.max(axis=1))
    start, nodes = np.array([0, count]), np.arange(count, dtype=np.int32)
    start.setflags(write=False)
    nodes.setflags(write=False)
    return int(topic_diameters(start, nodes, rows.out_start, rows.out_nodes)[0])


# Up to 200 nodes: several batches of 64 sources.
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(LINK_SHAPES), nodes=st.integers(1, 200))
def test_equals_its_twin(seed: int, shape: str, nodes: int) -> None:
    graph = graph_of(nodes, random_links(seed, shape, nodes))
    assert diameter_of(graph) == diameter(graph)


def test_equals_its_twin_where_the_longest_path_is_not_among_the_first_sources() -> None:
    # Random regular graphs have no middle: nearly all nodes are candidates, and 3 in 100 of these need a second batch.
    for seed in range(times(60)):
        graph = nx.random_regular_graph(3 + seed % 2, 200, seed=seed)
        assert diameter_of(graph) == diameter(graph), seed


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.path_graph(1000), 999),
        (nx.cycle_graph(1000), 500),
        (nx.cycle_graph(1001), 500),
        (nx.star_graph(1000), 2),
        (nx.complete_graph(200), 1),
        (nx.balanced_tree(3, 5), 10),
        (nx.hypercube_graph(9), 9),
        (nx.grid_2d_graph(20, 30), 48),
        (nx.lollipop_graph(70, 200), 201),
        (nx.barbell_graph(70, 9), 12),
        (nx.disjoint_union(nx.cycle_graph(90), nx.path_graph(60)), 59),
        (nx.disjoint_union(nx.path_graph(40), nx.cycle_graph(90)), 45),
    ],
)
def test_known_diameters(graph: nx.Graph, expected: int) -> None:
    assert diameter_of(nx.convert_node_labels_to_integers(graph)) == expected


def test_only_links_between_nodes_that_want_the_topic_count() -> None:
    # A ring 0-1-2-3-4-5: without node 0 it is a path of five nodes, without 0 and 3 two links apart.
    ring = np.arange(6, dtype=np.int32)
    rows = LinkGraph.from_links(6, np.array([0, 1, 2, 3, 4, 0], np.int32), np.array([1, 2, 3, 4, 5, 5], np.int32))
    start, nodes = np.array([0, 6, 11, 11, 15]), np.concatenate([ring, ring[1:], ring[[1, 2, 4, 5]]])
    start.setflags(write=False)
    nodes.setflags(write=False)
    assert topic_diameters(start, nodes, rows.out_start, rows.out_nodes).tolist() == [3, 4, 0, 1]
