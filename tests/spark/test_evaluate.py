"""Evaluation on Spark gives what `measure` gives, to the last digit."""

from __future__ import annotations

import csv
import gzip
import importlib
import random

import numpy as np
import pytest
from pyspark.sql import SparkSession

from real_data import DATA, needs_data
from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, random_links
from topicloom.designers import design
from topicloom.metrics import measure, topic_measures
from topicloom.model import InputError, Interest, Overlay
from topicloom.spark import Interned, evaluate

module = importlib.import_module("topicloom.spark.evaluate")
SHARING = importlib.import_module("topicloom.spark.shared")


def assert_same(spark: SparkSession, overlay: Overlay, *, diameters: bool = True, as_frame: bool = False) -> None:
    interest = overlay.interest
    links = overlay.to_spark(spark) if as_frame else overlay
    found = evaluate(Interned.of(spark, interest), links, diameters=diameters)
    assert found.measures == measure(interest, overlay, diameters=diameters)
    assert found.topics.to_arrow().equals(topic_measures(interest, overlay, diameters=diameters).to_arrow())


def all_shapes(seed: int) -> Overlay:
    """Interests and links of every shape side by side, and a few links across that make relays."""
    pairs, links = [], []
    for at, (shape, links_shape) in enumerate((s, k) for s in SHAPES for k in LINK_SHAPES):
        interest = random_interest(seed, shape)
        rows = interest.to_arrow().to_pylist()
        pairs += [(f"{at:03}{row['node']}", f"{at:03}{row['topic']}") for row in rows]
        names = [f"{at:03}{name}" for name in interest.node_names]
        links += [(names[u], names[v]) for u, v in random_links(seed, links_shape, len(names))]
    dice = random.Random(seed)
    nodes = sorted({node for node, _ in pairs})
    across = {tuple(sorted(dice.sample(nodes, 2))) for _ in range(60)} - set(links)
    return Overlay.from_links(Interest.from_pairs(pairs), links + sorted(across))


@pytest.mark.parametrize("chunks", ["one", "many", "links by join", "links as a file"])
def test_evaluate_equals_measure(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, chunks: str) -> None:
    if chunks != "one":
        monkeypatch.setattr(module, "_SMALLEST_CHUNK", 1)
    if chunks == "links by join":
        monkeypatch.setattr(module, "WHOLE_BYTES", -1)
    if chunks == "links as a file":
        monkeypatch.setattr(SHARING, "IN_FUNCTION_BYTES", 0)
    overlay = all_shapes(7)
    assert topic_measures(overlay.interest, overlay).relays.sum() > 100
    assert_same(spark, overlay, as_frame=chunks == "many", diameters=chunks != "one")


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("name", "designer"), [("robots", "random-m"), ("listeners", "gm")])
def test_evaluate_equals_measure_on_real_data(spark: SparkSession, name: str, designer: str) -> None:
    interest = robots() if name == "robots" else listeners()
    assert_same(spark, design(interest, designer, **({"max_degree": 3} if designer == "random-m" else {})))


def robots() -> Interest:
    with (DATA / "subscriptions" / "ros_nodes.csv").open(newline="") as text:
        return Interest.from_pairs((f"{row['system']}/{row['node']}", row["topic"]) for row in csv.DictReader(text))


def listeners() -> Interest:
    """A seeded sample of 3,000, so that it takes a second."""
    with gzip.open(DATA / "subscriptions" / "deezer_genres.tsv.gz", "rt", encoding="utf-8") as text:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in text][1:]
    chosen = set(random.Random(1).sample(sorted({user for user, _ in rows}), 3000))
    return Interest.from_pairs((user, genre) for user, genre in rows if user in chosen)


SMALL = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")])


@pytest.mark.parametrize(
    ("links", "says"),
    [
        ([("a", "b"), ("b", "a")], "links: the link 'a' - 'b' is there more than once; leave one of them"),
        ([("a", "a")], "links: 'a' is linked with itself; a link needs two nodes"),
        ([("a", "b"), ("a", "z")], "links: target 'z' is not a node of the subscriptions; give links between these"),
        ([(None, "b")], "links: source is null; give links between these nodes"),
    ],
)
def test_wrong_links_are_refused(spark: SparkSession, links: list[tuple[str | None, str]], says: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(Interned.of(spark, SMALL), spark.createDataFrame(links, "source string, target string"))
    assert str(caught.value).startswith(says)


def test_frames_without_links_and_other_overlays_are_refused(spark: SparkSession) -> None:
    interned = Interned.of(spark, SMALL)
    with pytest.raises(InputError, match="links: no column 'source'"):
        evaluate(interned, spark.createDataFrame([("a", "b")], "here string, there string"))
    other = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")])
    with pytest.raises(InputError, match="was designed for other subscriptions"):
        evaluate(interned, design(other, "gm"))


def test_no_links_at_all(spark: SparkSession) -> None:
    assert_same(spark, Overlay.from_links(SMALL, []), as_frame=True)


def test_dealing_spreads_sizes_and_sets_large_topics_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALLEST_CHUNK", 1)
    sizes = np.random.default_rng(1).zipf(1.6, 5000).clip(max=10_000)
    dealt = module.deal(sizes, 16)
    share = -(-sizes.sum() // 16)
    load, topics = np.bincount(dealt, sizes), np.bincount(dealt)
    assert topics.min() >= 1
    large = np.flatnonzero(sizes > share)
    assert sorted(dealt[large]) == list(range(len(large)))
    assert (topics[: len(large)] == 1).all()
    rest = slice(len(large), None)
    assert np.ptp(topics[rest]) <= 1
    assert load[rest].max() <= 2 * share


def test_dealing_keeps_chunks_small_enough_to_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALLEST_CHUNK", 1)
    monkeypatch.setattr(module, "_LARGEST_CHUNK", 10)
    assert module.deal(np.full(100, 5), 2).max() + 1 == 50
    assert module.deal(np.array([7, 100]), 1).tolist() == [1, 0]
    assert module.deal(np.empty(0, np.int64), 4).tolist() == []
