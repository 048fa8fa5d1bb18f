"""Evaluation on Spark gives what `measure` gives, to the last digit."""

from __future__ import annotations

import csv
import gzip
import importlib
import random
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from effort import THOROUGH
from real_data import DATA, needs_data
from reference.folders import write_folder
from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, random_links
from topicloom.designers import design
from topicloom.metrics import measure, topic_measures
from topicloom.model import InputError, Interest, Overlay

module = importlib.import_module("topicloom.spark.evaluate")


def assert_same(spark: SparkSession, folder: Path, overlay: Overlay, *, diameters: bool = True) -> None:
    interest, file = overlay.interest, folder.parent / "overlay.parquet"
    overlay.write(file)
    found = module.evaluate(spark, folder, file, diameters=diameters)
    assert found.measures == measure(interest, overlay, diameters=diameters)
    assert found.topics.to_arrow().equals(topic_measures(interest, overlay, diameters=diameters).to_arrow())


def all_shapes(seed: int) -> tuple[Interest, list[tuple[str, str]]]:
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
    return Interest.from_pairs(pairs), links + sorted(across)


@pytest.mark.parametrize("parts", [1, 7] if THOROUGH else [7])
@pytest.mark.parametrize("chunks", ["one", "many", "links by join"])
def test_evaluate_equals_measure(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: str, parts: int
) -> None:
    if chunks != "one":
        monkeypatch.setattr(module, "_SMALLEST_CHUNK", 1)
    if chunks == "links by join":
        monkeypatch.setattr(module, "WHOLE_BYTES", -1)
    interest, links = all_shapes(parts)
    overlay = Overlay.from_links(interest, links)
    assert topic_measures(interest, overlay).relays.sum() > 100
    folder = write_folder(interest, tmp_path / "folder", parts=parts)
    assert_same(spark, folder, overlay)
    if chunks == "one":
        assert_same(spark, folder, overlay, diameters=False)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("name", "designer"), [("robots", "random-m"), ("listeners", "gm")])
def test_evaluate_equals_measure_on_real_data(spark: SparkSession, tmp_path: Path, name: str, designer: str) -> None:
    interest = robots() if name == "robots" else listeners()
    overlay = design(interest, designer, **({"max_degree": 3} if designer == "random-m" else {}))
    folder = write_folder(interest, tmp_path / "folder", parts=3)
    assert_same(spark, folder, overlay)


def robots() -> Interest:
    with (DATA / "subscriptions" / "ros_nodes.csv").open(newline="") as text:
        return Interest.from_pairs((f"{row['system']}/{row['node']}", row["topic"]) for row in csv.DictReader(text))


def listeners() -> Interest:
    """A seeded sample of 3,000, so that it takes a second."""
    with gzip.open(DATA / "subscriptions" / "deezer_genres.tsv.gz", "rt", encoding="utf-8") as text:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in text][1:]
    chosen = set(random.Random(1).sample(sorted({user for user, _ in rows}), 3000))
    return Interest.from_pairs((user, genre) for user, genre in rows if user in chosen)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_folder(Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")]), tmp_path / "small")


@pytest.mark.parametrize(
    ("links", "says"),
    [
        ("source,target\na,b\nb,a\n", "row 2: repeats the link 'b' - 'a' of row 1"),
        ("source,target\na,a\n", "row 1: links 'a' with itself"),
        ("source,target\na,b\na,z\n", "row 2: target 'z' is not a node of the subscriptions"),
        ("from,to\na,b\n", "no column 'source'"),
    ],
)
def test_links_are_refused_as_ever(spark: SparkSession, small: Path, tmp_path: Path, links: str, says: str) -> None:
    (tmp_path / "links.csv").write_text(links)
    with pytest.raises(InputError, match=says) as caught:
        module.evaluate(spark, small, tmp_path / "links.csv")
    assert "\n" not in str(caught.value)


def test_an_overlay_for_other_subscriptions_is_refused(spark: SparkSession, small: Path, tmp_path: Path) -> None:
    other = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")])
    design(other, "gm").write(tmp_path / "overlay.parquet")
    with pytest.raises(InputError, match="was designed for other subscriptions"):
        module.evaluate(spark, small, tmp_path / "overlay.parquet")


def test_only_ingest_folders_are_taken(spark: SparkSession, small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        module.evaluate(spark, tmp_path / "absent", tmp_path / "links.csv")
    (small / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="not the manifest"):
        module.evaluate(spark, small, tmp_path / "links.csv")
    (small / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        module.evaluate(spark, small, tmp_path / "links.csv")


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
