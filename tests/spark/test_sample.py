"""Samples against their plain twin: induced, exact in number, the same whatever the partitions."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from reference import sample as twin
from reference.folders import write_folder
from topicloom.model import InputError, Interest
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.ingest import ingest
from topicloom.spark.sample import Sample, sample

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


def take(spark: SparkSession, pairs: Pairs, path: Path, kind: str, parts: int, **options: int) -> tuple[Sample, Pairs]:
    graph = None if kind == "topics" else kind
    folder = write_folder(Interest.from_pairs(pairs), path / f"in{parts}", parts=parts, graph=graph)
    found = sample(spark, folder, path / f"out{parts}", **options)
    rows = Interest.read(path / f"out{parts}").to_arrow().to_pylist()
    return found, {(row["node"], row["topic"]) for row in rows}


@pytest.fixture
def three_partitions(spark: SparkSession) -> Iterator[int]:
    """Other partitions than those of all tests."""
    shuffles = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    yield 5
    spark.conf.set("spark.sql.shuffle.partitions", shuffles)


@pytest.mark.parametrize(("kind", "uniform"), [("undirected", False), ("directed", True), ("topics", True)])
def test_samples_equal_the_plain_twin(spark: SparkSession, tmp_path: Path, kind: str, uniform: bool) -> None:
    check_against_the_twin(spark, tmp_path, kind, 3, uniform=uniform)


def test_partitions_make_no_other_sample(spark: SparkSession, tmp_path: Path, three_partitions: int) -> None:
    check_against_the_twin(spark, tmp_path, "topics", three_partitions, uniform=False)


def check_against_the_twin(spark: SparkSession, path: Path, kind: str, parts: int, *, uniform: bool) -> None:
    pairs = random_pairs(3, kind)
    options = {"nodes": len({u for u, _ in pairs}) // 2, "seeds": 4, "seed": 9, "uniform": uniform}
    found, kept = take(spark, pairs, path, kind, parts, **options)
    assert kept == twin.sample(pairs, social=kind != "topics", **options)
    nodes, topics = {u for u, _ in kept}, {t for _, t in kept}
    assert len(nodes) == options["nodes"]
    assert (found.nodes, found.topics, found.subscriptions) == (len(nodes), len(topics), len(kept))
    if kind == "topics":
        assert kept == {(u, t) for u, t in pairs if u in nodes}
    else:
        assert kept == {(u, t) for u, t in pairs if u in nodes | topics and t in nodes | topics}
    manifest = json.loads((path / f"out{parts}" / "manifest.json").read_text())
    assert manifest["source_fingerprint"] == Interest.from_pairs(pairs).fingerprint
    assert manifest["fingerprint"] == found.fingerprint == Interest.read(path / f"out{parts}").fingerprint
    assert manifest["options"] == {**options, "graph": None if kind == "topics" else kind}
    assert manifest["counts"]["subscriptions"] == found.subscriptions


def test_a_star_is_cut_exactly(spark: SparkSession, tmp_path: Path) -> None:
    """Every follower is waiting for the hub, and the hub alone would add them all."""
    pairs = {(f"f{i}", "hub") for i in range(30)} | {("hub", "f0")}
    found, kept = take(spark, pairs, tmp_path, "directed", 2, nodes=7, seeds=3, seed=1)
    assert found.nodes == 7
    assert kept == twin.sample(pairs, social=True, nodes=7, seeds=3, seed=1)


def test_new_seeds_are_drawn_where_a_component_ends(spark: SparkSession, tmp_path: Path) -> None:
    """First one node that is alone, then twice as many."""
    pairs = {(f"n{i}", f"t{i}") for i in range(3)}
    found, kept = take(spark, pairs, tmp_path, "topics", 2, nodes=3, seeds=1, seed=1)
    assert found.nodes == 3
    assert kept == pairs


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nodes": 0}, "nodes must be a whole number, 1 or more, not 0"),
        ({"nodes": 2, "seeds": 0}, "seeds must be a whole number, 1 or more, not 0"),
        ({"nodes": 2, "seed": -1}, "seed must be a whole number, 0 or more, not -1"),
        ({"nodes": 4}, "has 3 nodes; a sample cannot have 4"),
    ],
)
def test_what_cannot_be_sampled_is_refused(
    spark: SparkSession, tmp_path: Path, options: dict[str, int], says: str
) -> None:
    folder = write_folder(Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")]), tmp_path / "folder")
    with pytest.raises(InputError, match=says):
        sample(spark, folder, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_damage_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """A byte of the names, which Spark would otherwise read as other names."""
    (tmp_path / "subs.csv").write_text("node,topic\nsomebody,t\nsomeone,t\nnobody,u\n")
    ingest(spark, [tmp_path / "subs.csv"], tmp_path / "in")
    file = next((tmp_path / "in" / "nodes").iterdir())
    whole = file.read_bytes()
    assert whole.count(b"somebody") > 0
    file.write_bytes(whole.replace(b"somebody", b"somebadi", 1))
    with (
        pytest.raises(InputError, match=r"^Spark: .*nodes.*\(verbose shows more\)$"),
        spark_session(SparkOptions(), "here"),
    ):
        sample(spark, tmp_path / "in", tmp_path / "out", nodes=2, uniform=True)
    assert not (tmp_path / "out").exists()
