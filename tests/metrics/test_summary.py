from __future__ import annotations

import json
from dataclasses import fields, replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, nodes_by_topic, random_interest
from reference.measures import LINK_SHAPES, graph_of, random_links, topic_row
from topicloom.kernels.components import merge_links
from topicloom.metrics import Measures, measure, summarise, topic_measures
from topicloom.model import Interest, Overlay

cases = {"seed": st.integers(0, 10**6), "shape": st.sampled_from(SHAPES), "links": st.sampled_from(LINK_SHAPES)}


def overlay_of(interest: Interest, links: list[tuple[int, int]]) -> Overlay:
    names = interest.node_names
    return Overlay.from_links(interest, [(names[u], names[v]) for u, v in links])


def one_topic(graph: nx.Graph) -> Measures:
    """The measures of a graph as an overlay of one topic that all its nodes want."""
    graph = nx.convert_node_labels_to_integers(graph)
    interest = Interest.from_pairs([(f"{u:03}", "t") for u in graph])
    return measure(interest, overlay_of(interest, list(graph.edges)))


@given(**cases)
def test_equals_its_twin(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    graph = graph_of(interest.node_count, chosen)
    rows = [topic_row(graph, sorted(nodes)) for nodes in nodes_by_topic(interest)]
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    mergeable = interest.subscription_count - interest.topic_count
    merged = interest.subscription_count - total["components"]
    assert measure(interest, overlay_of(interest, chosen)) == Measures(
        nodes=interest.node_count,
        topics=interest.topic_count,
        subscriptions=interest.subscription_count,
        links=len(chosen),
        average_degree=2 * len(chosen) / interest.node_count,
        max_degree=max(degree for _, degree in graph.degree),
        components=total["components"],
        components_unlinked=interest.subscription_count,
        components_connected=interest.topic_count,
        support=merged / mergeable if mergeable else 1.0,
        topic_connected=all(row["components"] == 1 for row in rows),
        mean_topic_diameter=total["diameter"] / interest.topic_count,
        max_topic_diameter=max(row["diameter"] for row in rows),
        relays=total["relays"],
        unreachable=total["unreachable"],
    )


@given(**cases)
def test_laws_of_support(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    before = None
    for count in sorted({0, len(chosen) // 3, len(chosen) // 2, len(chosen)}):
        overlay = overlay_of(interest, chosen[:count])
        now = measure(interest, overlay, diameters=False)
        contribution, _ = merge_links(interest.node_start, interest.node_topics, overlay.source, overlay.target)
        assert contribution.sum() == now.components_unlinked - now.components
        assert (now.support == 1.0) == now.topic_connected == (now.components == now.components_connected)
        if count == 0:
            mergeable = now.components_unlinked > now.components_connected
            assert now.support == (0.0 if mergeable else 1.0)
        if now.topic_connected:
            assert now.relays == now.unreachable == 0
        if before is not None:
            assert now.support >= before.support
            assert now.unreachable <= before.unreachable
        before = now


@given(**cases)
def test_order_of_topics_does_not_matter(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    overlay = overlay_of(interest, random_links(seed, links, interest.node_count))
    topics = topic_measures(interest, overlay)
    order = np.random.default_rng(seed).permutation(interest.topic_count)
    columns = {f.name: getattr(topics, f.name)[order] for f in fields(topics) if f.name != "topic_names"}
    assert summarise(replace(topics, **columns), overlay.degrees) == measure(interest, overlay)


@pytest.mark.parametrize(
    ("graph", "average_degree", "max_degree", "diameter"),
    [
        (nx.star_graph(99), 1.98, 99, 2),
        (nx.path_graph(100), 1.98, 2, 99),
        (nx.cycle_graph(100), 2.0, 2, 50),
        (nx.complete_graph(100), 99.0, 99, 1),
    ],
)
def test_known_overlays_of_one_topic(graph: nx.Graph, average_degree: float, max_degree: int, diameter: int) -> None:
    found = one_topic(graph)
    assert (found.average_degree, found.max_degree) == (average_degree, max_degree)
    assert (found.mean_topic_diameter, found.max_topic_diameter) == (diameter, diameter)
    assert (found.support, found.topic_connected, found.components) == (1.0, True, 1)
    assert (found.relays, found.unreachable) == (0, 0)


def test_unreachable_are_those_outside_the_group_with_most_subscribers() -> None:
    # Pieces a-b-c-d and f-h-g-i, and e, j and k alone. Topic t has two, three and one subscribers in them.
    interest = Interest.from_pairs([(node, "t") for node in "adfgij"] + [(node, "u") for node in "bcehk"])
    overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("c", "d"), ("f", "h"), ("h", "g"), ("g", "i")])
    found = topic_measures(interest, overlay)
    assert found.unreachable.tolist() == [3, 3]
    assert found.relays.tolist() == [3, 0]


def test_dictionary_is_ready_for_json_in_the_order_of_the_fields() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("b", "u")])
    overlay = Overlay.from_links(interest, [("a", "b")])
    found = measure(interest, overlay).to_dict()
    assert list(found) == [
        "nodes",
        "topics",
        "subscriptions",
        "links",
        "average_degree",
        "max_degree",
        "components",
        "components_unlinked",
        "components_connected",
        "support",
        "topic_connected",
        "mean_topic_diameter",
        "max_topic_diameter",
        "relays",
        "unreachable",
    ]
    assert json.loads(json.dumps(found)) == found
    kinds = {name: type(value) for name, value in found.items()}
    assert [name for name, kind in kinds.items() if kind is float] == [
        "average_degree",
        "support",
        "mean_topic_diameter",
    ]
    assert kinds["topic_connected"] is bool
    assert found["mean_topic_diameter"] == 0.5
    without = measure(interest, overlay, diameters=False).to_dict()
    assert without == found | {"mean_topic_diameter": None, "max_topic_diameter": None}


def test_nothing_at_all_is_topic_connected() -> None:
    found = measure(Interest.from_pairs([]), Overlay.from_links(Interest.from_pairs([]), []))
    assert (found.nodes, found.average_degree, found.support, found.topic_connected) == (0, 0.0, 1.0, True)
    assert (found.mean_topic_diameter, found.max_topic_diameter) == (0.0, 0)
