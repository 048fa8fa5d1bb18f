"""Samples against their plain twin: induced, exact in number, the same whatever the partitions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from reference import sample as twin
from reference.sessions import persisted
from topicloom.model import InputError, Interest
from topicloom.spark import Interned, sample

Pairs = set[tuple[str, str]]


def random_pairs(seed: int, kind: str) -> Pairs:
    """Users that want users, or nodes that want topics: sparse ones in several pieces, and denser ones."""
    dice = random.Random(f"{kind} {seed}")
    count = dice.randint(12, 40)
    nodes = [f"u{i}" for i in range(count)]
    topics = [f"t{i}" for i in range(count)] if kind == "topics" else nodes
    draws = ((dice.choice(nodes), dice.choice(topics)) for _ in range(int(count * dice.choice([0.9, 1.5, 3]))))
    pairs = {(u, t) for u, t in draws if u != t}
    return pairs | {(t, u) for u, t in pairs} if kind == "undirected" else pairs


def taken(spark: SparkSession, pairs: Pairs, kind: str, parts: int, **options: Any) -> Pairs:
    """A sample of an interest whose subscriptions are in so many partitions."""
    interned = Interned.of(spark, Interest.from_pairs(pairs))
    dealt = replace(
        interned,
        subscriptions=interned.subscriptions.repartition(parts),
        graph=None if kind == "topics" else kind,
    )
    return {(row["node"], row["topic"]) for row in sample(dealt, **options).collect()}


@pytest.fixture
def three_partitions(spark: SparkSession) -> Iterator[int]:
    """Other partitions than those of all tests."""
    shuffles = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    yield 5
    spark.conf.set("spark.sql.shuffle.partitions", shuffles)


@pytest.mark.parametrize(("kind", "uniform"), [("undirected", False), ("directed", True), ("topics", True)])
def test_samples_equal_the_plain_twin(spark: SparkSession, kind: str, uniform: bool) -> None:
    check_against_the_twin(spark, kind, 3, uniform=uniform)


def test_partitions_make_no_other_sample(spark: SparkSession, three_partitions: int) -> None:
    check_against_the_twin(spark, "topics", three_partitions, uniform=False)


def check_against_the_twin(spark: SparkSession, kind: str, parts: int, *, uniform: bool) -> None:
    pairs = random_pairs(3, kind)
    options: dict[str, Any] = {"nodes": len({u for u, _ in pairs}) // 2, "seeds": 4, "seed": 9, "uniform": uniform}
    kept = taken(spark, pairs, kind, parts, **options)
    assert kept == twin.sample(pairs, social=kind != "topics", **options)
    nodes, topics = {u for u, _ in kept}, {t for _, t in kept}
    assert len(nodes) == options["nodes"]
    users = nodes if kind == "topics" else nodes | topics
    assert kept == {(u, t) for u, t in pairs if u in users and (kind == "topics" or t in users)}


def test_a_star_is_cut_exactly(spark: SparkSession) -> None:
    """Every follower is waiting for the hub, and the hub alone would add them all."""
    pairs = {(f"f{i}", "hub") for i in range(30)} | {("hub", "f0")}
    kept = taken(spark, pairs, "directed", 2, nodes=7, seeds=3, seed=1)
    assert len({u for u, _ in kept}) == 7
    assert kept == twin.sample(pairs, social=True, nodes=7, seeds=3, seed=1)


def test_new_seeds_are_drawn_where_a_component_ends(spark: SparkSession) -> None:
    """First one node that is alone, then twice as many."""
    pairs = {(f"n{i}", f"t{i}") for i in range(3)}
    assert taken(spark, pairs, "topics", 2, nodes=3, seeds=1, seed=1) == pairs


def test_roles_are_kept_and_nothing_else(spark: SparkSession) -> None:
    rows = [("a", "x", "sub"), ("b", "x", "pub"), ("c", "y", "both")]
    before = persisted(spark)
    part = sample(Interned.of(spark, Interest.from_roles(rows)), 3)
    assert persisted(spark) <= before, "nothing stays persisted in the session"
    assert part.columns == ["node", "topic", "role"]
    assert {tuple(row) for row in part.collect()} == set(rows)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nodes": 0}, "nodes must be a whole number, 1 or more, not 0"),
        ({"nodes": 2, "seeds": 0}, "seeds must be a whole number, 1 or more, not 0"),
        ({"nodes": 2, "seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"nodes": 4}, "there are 3 nodes; a sample cannot have 4"),
    ],
)
def test_what_cannot_be_sampled_is_refused(spark: SparkSession, options: dict[str, int], says: str) -> None:
    interned = Interned.of(spark, Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")]))
    with pytest.raises(InputError, match=says):
        sample(interned, **options)
