"""Names to dense ids in name order: `SELECT DISTINCT ... dense_rank()`, by Spark's own shuffles.

Names are sorted by ranges, and an id is a name's place in its range after the ranges before it. So ids depend on names
alone, no process holds all names, and the same subscriptions give the same rows for any partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.io.tables import require_columns
from topicloom.model import fingerprint
from topicloom.model.filters import PLAIN
from topicloom.spark.clean import Cleaned, Keep
from topicloom.spark.interned import ROLE, Interned, Totals, subscriptions_sum

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Places in a range are the lower bits of Spark's rising ids, its number the others.
_PLACE_BITS = 33


def local_checkpoint(frame: DataFrame) -> DataFrame:
    """Compute a frame now; executors keep it as long as there is a reference to it."""
    return frame.localCheckpoint()


@contextmanager
def keeping() -> Iterator[Keep]:
    """Persist frames until the block ends, in memory or on disk."""
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist())
        return kept[-1]

    try:
        yield keep
    finally:
        for frame in kept:
            frame.unpersist()


def intern(pairs: DataFrame | Cleaned, *, keep: Keep = local_checkpoint) -> Interned:
    """Give nodes and topics dense ids in the order of their names.

    Args:
        pairs: what `clean` gave, or a data frame with `node` and `topic`, and perhaps `role`; repeats do not matter.
        keep: called with frames that are used several times. The default lets executors keep them as long as the
            result lives; a frame that it gives must have the same rows whenever it is read.

    Returns:
        The interest. Topics that are only published have no subscribers and are left out.

    Example:
        >>> from topicloom.spark import intern
        >>> pairs = spark.createDataFrame([("b", "x"), ("a", "y"), ("a", "x")], "node string, topic string")
        >>> interned = intern(pairs)
        >>> interned.nodes.orderBy("id").collect()
        [Row(id=0, name='a', topics=2), Row(id=1, name='b', topics=1)]
        >>> interned.totals.subscriptions
        3
    """
    graph, filters = (pairs.graph, pairs.filters) if isinstance(pairs, Cleaned) else (None, None)
    # The pairs of `clean` are distinct and kept already.
    distinct = pairs.pairs if isinstance(pairs, Cleaned) else keep(_distinct(pairs))
    if ROLE in distinct.columns and filters in (None, PLAIN):
        distinct = distinct.join(_heard(distinct), "topic", "left_semi")
    nodes, node_count = _numbered(distinct, "node", "topics", keep)
    topics, topic_count = _numbered(distinct, "topic", "nodes", keep)
    if not node_count:
        raise InputError("nothing to ingest: all rows publish, and nobody subscribes to anything")
    subscriptions, total = subscriptions_sum(distinct)
    rows = distinct
    for side, names in (("topic", topics), ("node", nodes)):
        ids = names.selectExpr(f"name AS {side}", f"id AS {side}_id")
        # Sorting both sides by names takes longer than a hash table of one.
        rows = rows.join(ids.hint("shuffle_hash") if side == "node" else ids, side)
    return Interned(
        rows.select("node", "topic", "node_id", "topic_id", *([ROLE] if ROLE in rows.columns else [])),
        nodes,
        topics,
        graph,
        filters,
        Totals(node_count, topic_count, subscriptions, fingerprint.digest(total, subscriptions)),
    )


def _distinct(pairs: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sql

    require_columns(pairs.columns, ["node", "topic"], "data frame")
    if ROLE not in pairs.columns:
        return pairs.groupBy("node", "topic").agg(sql.count("*").alias("rows"))
    hears = sql.max(sql.expr(f"coalesce({ROLE}, 'both') IN ('sub', 'both')"))
    speaks = sql.max(sql.expr(f"coalesce({ROLE}, 'both') IN ('pub', 'both')"))
    both = sql.when(hears & speaks, "both").when(hears, "sub").otherwise("pub")
    return pairs.groupBy("node", "topic").agg(both.alias(ROLE), sql.count("*").alias("rows"))


def _heard(pairs: DataFrame) -> DataFrame:
    """Topics that have a subscriber."""
    return pairs.where(f"{ROLE} <> 'pub'").select("topic").distinct()


def _numbered(pairs: DataFrame, side: str, counted: str, keep: Keep) -> tuple[DataFrame, int]:
    """Names in order with dense ids and how many pairs each has; and how many names there are."""
    from pyspark.sql import functions as sql

    counts = pairs.groupBy(sql.col(side).alias("name")).agg(sql.count("*").alias(counted))
    placed = keep(counts.orderBy("name").withColumn("place", sql.monotonically_increasing_id()))
    part = sql.shiftright("place", _PLACE_BITS)
    sizes = {row["part"]: row["count"] for row in placed.groupBy(part.alias("part")).count().collect()}
    first, total = {}, 0
    for number in sorted(sizes):
        first[number] = total
        total += sizes[number]
    start = sql.lit(0)
    if len(first) > 1:
        known = sql.create_map(*(sql.lit(value).cast("bigint") for pair in first.items() for value in pair))
        start = known[part]
    place = sql.col("place").bitwiseAND(sql.lit((1 << _PLACE_BITS) - 1))
    return placed.select((start + place).cast("int").alias("id"), "name", counted), total
