"""Profiles against their definitions."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from reference import profile as twin
from topicloom.designers import DESIGNERS
from topicloom.model import InputError, Interest
from topicloom.spark import Interned, Profile, profile
from topicloom.spark.distributions import QUANTILES, Distribution
from topicloom.spark.profile import MOST_POPULAR


def heavy_tailed(seed: int) -> set[tuple[str, str]]:
    """Up to 80 nodes and 60 topics, most of them small."""
    dice = random.Random(seed)
    rows = ((dice.paretovariate(0.5), dice.paretovariate(0.5)) for _ in range(600))
    return {(f"n{node:.0f}", f"t{topic:.0f}") for node, topic in rows if node < 80 and topic < 60}


def profiled(spark: SparkSession, pairs: set[tuple[str, str]], **options: int) -> Profile:
    return profile(Interned.of(spark, Interest.from_pairs(pairs)), **options)


@pytest.mark.parametrize("seed", range(2))
def test_profiles_equal_their_definitions(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    pairs = heavy_tailed(seed)
    found = profiled(spark, pairs)
    for distribution, sizes in (
        (found.topics_per_node, twin.topics_per_node(pairs)),
        (found.nodes_per_topic, twin.nodes_per_topic(pairs)),
    ):
        assert distribution.repeated().tolist() == sizes
        assert (distribution.min, distribution.max) == (sizes[0], sizes[-1])
        assert distribution.mean == sum(sizes) / len(sizes)
        assert dict(zip(distribution.sizes.tolist(), distribution.ccdf.tolist(), strict=True)) == twin.ccdf(sizes)
        for share in (*QUANTILES, 0, 1):
            assert distribution.quantile(share) == twin.quantile(sizes, share)
        for share in (*MOST_POPULAR, 1):
            assert distribution.share_of_largest(share) == twin.share_of_largest(sizes, share)
    common = twin.common_topics(pairs)
    assert found.common_topics.sampled_nodes is None
    assert found.common_topics.pairs == common.total()
    assert found.common_topics.incidences == sum(topics * count for topics, count in common.items())
    distribution = found.common_topics.distribution
    assert dict(zip(distribution.sizes.tolist(), distribution.counts.tolist(), strict=True)) == dict(common)


def test_pairs_are_estimated_where_they_are_too_many(spark: SparkSession, tmp_path: Path) -> None:
    pairs = {(f"n{node}", f"t{random.Random(node).randrange(4)}") for node in range(400)}
    pairs |= {(f"n{node}", f"u{random.Random(node).randrange(9)}") for node in range(400)}
    common = twin.common_topics(pairs)
    found = profiled(spark, pairs, max_pairs=10_000, seed=5).common_topics
    assert found.incidences == sum(topics * count for topics, count in common.items())
    assert found.seed == 5
    assert found.sampled_nodes is not None
    assert 30 <= found.sampled_nodes < 400
    assert 0 < found.standard_error < found.pairs / 10
    assert abs(found.pairs - common.total()) < 4 * found.standard_error
    assert found.distribution.mean == pytest.approx(found.incidences / common.total(), rel=0.1)


def test_a_sample_of_all_nodes_is_exact(spark: SparkSession, tmp_path: Path) -> None:
    pairs = set(product("abcde", "xyz"))
    found = profiled(spark, pairs, max_pairs=1).common_topics
    assert (found.sampled_nodes, found.pairs, found.standard_error) == (5, 10, 0)
    assert found.distribution.counts.tolist() == [10]


def test_memory_is_what_the_designers_say(spark: SparkSession, tmp_path: Path) -> None:
    pairs = heavy_tailed(7)
    interest = Interest.from_pairs(pairs)
    needs = profiled(spark, pairs).designer_memory
    assert [need.designer for need in needs] == list(DESIGNERS)
    for need in needs:
        assert need.bytes == DESIGNERS[need.designer].memory(interest, need.parameters)


def test_profiles_are_written_whole_and_again(spark: SparkSession, tmp_path: Path) -> None:
    found = profiled(spark, heavy_tailed(1))
    out = tmp_path / "out"
    found.write(out)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    found.write(out)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    numbers = json.loads((out / "profile.json").read_text())
    assert numbers["nodes"] == found.nodes
    assert numbers["common_topics"]["exact"]
    for name, table in found.tables().items():
        assert pyarrow.parquet.read_table(out / f"{name}.parquet").equals(table)
    for picture in ("ccdf.svg", "common_topics.svg"):
        assert before[picture].startswith(b"<?xml")


def test_nodes_that_share_nothing(spark: SparkSession, tmp_path: Path) -> None:
    found = profiled(spark, {("a", "x"), ("b", "y")})
    assert (found.common_topics.incidences, found.common_topics.pairs) == (0, 0)
    found.write(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "profile.json").read_text())["common_topics"]["common_topics"]["mean"] == 0


def test_a_wrong_seed_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="seed must be a whole number"):
        profiled(spark, {("a", "x")}, seed=-1)


def test_nothing_has_no_sizes() -> None:
    none = Distribution(np.empty(0, np.int64), np.empty(0, np.int64))
    assert (none.total, none.min, none.max, none.mean, none.quantile(0.5), none.share_of_largest(0.1)) == (0,) * 6
    assert Counter(none.ccdf.tolist()) == Counter()
