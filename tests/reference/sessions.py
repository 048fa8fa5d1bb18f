"""What a session of Spark keeps after a call."""

from __future__ import annotations

from pyspark.sql import SparkSession


def persisted(spark: SparkSession) -> set[int]:
    """Numbers of what stays persisted; Spark Connect does not tell."""
    if "connect" in type(spark).__module__:
        return set()
    return set(spark.sparkContext._jsc.getPersistentRDDs().keySet())  # type: ignore[union-attr]
