"""Interning by ranges of pairs: ids, roles and fingerprint are those of one machine, whatever the ranges."""

from __future__ import annotations

import random

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from topicloom import Interest
from topicloom.spark import Interned, intern


def require_same(found: Interned, expected: Interest) -> None:
    assert found.to_interest() == expected
    assert found.fingerprint == expected.fingerprint
    wanted = Interned.of(found.spark, expected)
    for table in ("nodes", "topics", "subscriptions"):
        one, other = (getattr(each, table).collect() for each in (found, wanted))
        assert sorted(one) == sorted(other), table


@pytest.mark.parametrize("range_pairs", [60, 300, 1 << 20])
def test_a_node_with_most_pairs_is_several_ranges(spark: SparkSession, range_pairs: int) -> None:
    pairs = [("hot", f"t{i}") for i in range(700)] + [(f"n{i}", "hot") for i in range(300)]
    pairs += [(f"n{i}", f"t{i * i % 7}") for i in range(100)] * 3
    random.Random(1).shuffle(pairs)
    found = intern(spark.createDataFrame(pairs, "node string, topic string"), range_pairs=range_pairs)
    require_same(found, Interest.from_pairs(pairs))
    parts = found.nodes.selectExpr("spark_partition_id() AS part").distinct().count()
    assert parts == 1 if range_pairs > 1000 else parts > 1


def test_roles_by_ranges_without_topics_that_are_only_published(spark: SparkSession) -> None:
    rng = random.Random(2)
    rows = [
        (f"n{rng.randrange(40)}", f"t{rng.randrange(60)}", rng.choices(("sub", "pub", "both"), (1, 6, 1))[0])
        for _ in range(300)
    ]
    expected = Interest.from_roles(rows)
    assert expected.topic_count < 60
    for range_pairs in (20, 1 << 20):
        frame = spark.createDataFrame(rows, "node string, topic string, role string")
        require_same(intern(frame, range_pairs=range_pairs), expected)


def test_a_missing_name_is_refused(spark: SparkSession) -> None:
    with pytest.raises(PythonException, match="null name in column 'topic'; every row needs a name"):
        intern(spark.createDataFrame([("a", None)], "node string, topic string"))
