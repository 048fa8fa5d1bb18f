"""An interest as data frames, and back."""

from __future__ import annotations

from pyspark.sql import SparkSession

from topicloom import Interest, Overlay
from topicloom.spark import Interned

ROWS = [("b", "x", "sub"), ("a", "x", "pub"), ("é", "y", "both"), ("Z", "y", "sub")]


def test_an_interest_and_back(spark: SparkSession) -> None:
    for interest in (Interest.from_pairs([row[:2] for row in ROWS]), Interest.from_roles(ROWS)):
        interned = Interned.of(spark, interest)
        assert interned.to_interest() == interest
        assert [row["name"] for row in interned.nodes.orderBy("id").collect()] == list(interest.node_names)
        assert {tuple(row)[2:4] for row in interned.subscriptions.collect()} == {
            (node, topic) for node in range(4) for topic in interest.topics_of(node).tolist()
        }


def test_totals_are_counted(spark: SparkSession) -> None:
    interned = Interned.of(spark, Interest.from_pairs([row[:2] for row in ROWS]))
    counted = Interned(interned.subscriptions, interned.nodes, interned.topics)
    assert counted.totals == interned.totals
    assert counted.fingerprint == interned.fingerprint


def test_links_as_a_frame(spark: SparkSession) -> None:
    interest = Interest.from_pairs([row[:2] for row in ROWS])
    links = Overlay.from_links(interest, [("a", "b"), ("Z", "é")]).to_spark(spark)
    assert [tuple(row) for row in links.collect()] == [("a", "b"), ("Z", "é")]
