from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, diameter_through_any, graph_of, random_links, topic_row
from topicloom.metrics import LinkGraph, TopicMeasures, measure_topics, soc_diameters, topic_measures
from topicloom.model import InputError, Interest, Overlay

COLUMNS = ["subscribers", "links", "components", "diameter", "relays", "unreachable"]

cases = {"seed": st.integers(0, 10**6), "shape": st.sampled_from(SHAPES), "links": st.sampled_from(LINK_SHAPES)}


def overlay_of(interest: Interest, links: list[tuple[int, int]]) -> Overlay:
    names = interest.node_names
    return Overlay.from_links(interest, [(names[u], names[v]) for u, v in links])


def rows(measures: TopicMeasures) -> list[dict[str, int]]:
    return measures.to_arrow().select(COLUMNS).to_pylist()


@given(**cases)
def test_equals_its_twin(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    graph = graph_of(interest.node_count, chosen)
    expected = [topic_row(graph, interest.nodes_of(t).tolist()) for t in range(interest.topic_count)]
    assert rows(topic_measures(interest, overlay_of(interest, chosen))) == expected


@given(**cases)
def test_soc_diameters_equal_their_twin(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    graph = graph_of(interest.node_count, chosen)
    expected = [diameter_through_any(graph, interest.nodes_of(t).tolist()) for t in range(interest.topic_count)]
    assert soc_diameters(interest, overlay_of(interest, chosen)).tolist() == expected


def test_relays_shorten_the_diameters_of_soc() -> None:
    """A path of four that want a topic, and somebody else next to its ends."""
    interest = Interest.from_pairs([*((f"n{i}", "t") for i in range(4)), ("other", "u")])
    overlay = Overlay.from_links(interest, [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n0", "other"), ("n3", "other")])
    inside = topic_measures(interest, overlay).diameter
    assert inside is not None
    assert (inside.tolist(), soc_diameters(interest, overlay).tolist()) == ([3, 0], [2, 0])
    with pytest.raises(InputError, match="other nodes"):
        soc_diameters(Interest.from_pairs([("a", "t")]), overlay)


@given(**cases)
def test_topics_measured_apart_give_the_same_rows(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    overlay = overlay_of(interest, chosen)
    graph = LinkGraph.from_links(interest.node_count, overlay.source, overlay.target)
    apart: list[dict[str, int]] = []
    for t, name in enumerate(interest.topic_names):
        nodes = interest.nodes_of(t).astype(np.int64)
        apart += rows(measure_topics(graph, [name], np.array([0, len(nodes)]), nodes))
    assert apart == rows(topic_measures(interest, overlay))


@given(**cases)
def test_order_of_links_does_not_matter(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    once, again = overlay_of(interest, chosen), overlay_of(interest, sorted(chosen))
    assert rows(topic_measures(interest, once)) == rows(topic_measures(interest, again))


@given(**cases)
def test_out_rows_hold_each_link_once_at_the_end_with_fewer_links(seed: int, shape: str, links: str) -> None:
    count = random_interest(seed, shape).node_count
    chosen = random_links(seed, links, count)
    both = np.array(chosen, np.int32).reshape(-1, 2)
    graph = LinkGraph.from_links(count, both[:, 0], both[:, 1])
    degrees = np.diff(graph.link_start)
    found = []
    for u in range(count):
        row = graph.out_nodes[graph.out_start[u] : graph.out_start[u + 1]].tolist()
        assert row == sorted(row)
        assert all((degrees[u], u) < (degrees[v], v) for v in row)
        assert len(row) ** 2 <= 2 * len(chosen)
        found += [(min(u, v), max(u, v)) for v in row]
        whole = graph.link_nodes[graph.link_start[u] : graph.link_start[u + 1]].tolist()
        assert whole == sorted({*graph_of(count, chosen)[u]})
    assert sorted(found) == sorted(chosen)


def test_table_and_file_hold_one_row_a_topic_under_any_name(tmp_path: Path) -> None:
    pairs = [("ß", "日本"), ("a", "日本"), ("a", "quote'\",\n"), ("b", "日本"), ("b", "z")]
    interest = Interest.from_pairs(pairs)
    measures = topic_measures(interest, Overlay.from_links(interest, [("a", "b")]))
    table = measures.to_arrow()
    assert table.column_names == ["topic", *COLUMNS[:3], "support", *COLUMNS[3:]]
    assert table["topic"].to_pylist() == ["quote'\",\n", "z", "日本"]
    assert table["support"].to_pylist() == [1.0, 1.0, 0.5]
    assert table["unreachable"].to_pylist() == [0, 0, 1]
    assert measures.to_pandas().to_dict("list") == table.to_pydict()
    measures.write(tmp_path / "topics.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "topics.parquet") == table
    assert [file.name for file in tmp_path.iterdir()] == ["topics.parquet"]


def test_diameters_left_out_are_null_and_change_nothing_else() -> None:
    interest = random_interest(1, "dense")
    overlay = overlay_of(interest, random_links(1, "sparse", interest.node_count))
    with_them, without = (topic_measures(interest, overlay, diameters=wanted).to_arrow() for wanted in (True, False))
    assert without["diameter"].null_count == interest.topic_count
    assert without.schema == with_them.schema
    assert without.drop("diameter") == with_them.drop("diameter")


def test_topic_without_subscribers_is_a_row_of_zeros() -> None:
    interest = Interest.from_ids(("a", "b"), ("none", "t"), np.array([0, 1]), np.array([1, 1]))
    measures = topic_measures(interest, Overlay.from_links(interest, [("a", "b")]))
    assert rows(measures)[0] == dict.fromkeys(COLUMNS, 0)
    assert measures.support.tolist() == [1.0, 1.0]


def test_an_overlay_may_be_measured_against_other_subscriptions_of_its_nodes_only() -> None:
    designed_for = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")])
    overlay = Overlay.from_links(designed_for, [("a", "b")])
    changed = Interest.from_pairs([("a", "t"), ("b", "u"), ("c", "u")])
    assert topic_measures(changed, overlay).components.tolist() == [1, 2]
    with pytest.raises(InputError, match="other nodes"):
        topic_measures(Interest.from_pairs([("a", "t"), ("b", "t"), ("d", "u")]), overlay)
