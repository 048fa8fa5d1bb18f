"""Names to dense ids in name order: `SELECT DISTINCT ... dense_rank()`, by Spark's own shuffles.

Pairs are sorted by ranges, and the id of a node is its place in its range after the ranges before it; topics likewise.
So ids depend on names alone, no process holds all names, and the same subscriptions give the same rows for any
partitions.
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
from topicloom.spark.frames import types_of
from topicloom.spark.interned import ROLE, Interned, Totals
from topicloom.spark.packs import (
    RANKED,
    ROWS,
    TOPIC_ROWS,
    Deal,
    NodeRows,
    PairRows,
    bounds_of,
    numberings,
    pack_rows,
    ranked,
    topic_rows,
)

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


def intern(pairs: DataFrame | Cleaned, *, keep: Keep = local_checkpoint, range_pairs: int = 1 << 20) -> Interned:
    """Give nodes and topics dense ids in the order of their names.

    Args:
        pairs: what `clean` gave, or a data frame with `node` and `topic`, and perhaps `role`; repeats do not matter.
        keep: called with frames that are used several times. The default lets executors keep them as long as the
            result lives; a frame that it gives must have the same rows whenever it is read.
        range_pairs: about how many pairs a task has in memory at once.

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
    if not isinstance(pairs, Cleaned):
        require_columns(pairs.columns, ["node", "topic"], "data frame")
        columns = ["node", "topic", *([ROLE] if ROLE in pairs.columns else [])]
        pairs = Cleaned(keep(pairs.select(*columns).mapInArrow(pack_rows, types_of(ROWS))))
    has_roles = pairs.tally.has_roles
    ranges = _ranked(pairs, keep, range_pairs)
    topics = _topics(ranges)
    if has_roles and pairs.filters in (None, PLAIN) and (unheard := topics.where("NOT heard")).head(1):
        heard = pairs.pairs.join(unheard.selectExpr("name AS topic"), "topic", "left_anti")
        pairs = Cleaned(keep(heard.mapInArrow(pack_rows, types_of(ROWS))), pairs.graph, pairs.filters)
        ranges = _ranked(pairs, keep, range_pairs)
        topics = _topics(ranges)
    rows = ranges.drop("pairs").collect()
    if not rows:
        raise InputError("nothing to ingest: all rows publish, and nobody subscribes to anything")
    numbering, node_count = numberings(rows)
    node_rows, pair_rows = NodeRows(numbering), PairRows(numbering, has_roles)
    topics, topic_count = _numbered(topics.drop("heard"), keep)
    ids = topics.selectExpr("name AS topic", "id AS topic_id")
    columns = ["node", "topic", "node_id", "topic_id", *([ROLE] if has_roles else [])]
    subscriptions = sum(row["size"] for row in rows)
    return Interned(
        ranges.mapInArrow(pair_rows, pair_rows.schema).join(ids, "topic").select(*columns),
        ranges.mapInArrow(node_rows, NodeRows.SCHEMA),
        topics,
        pairs.graph,
        pairs.filters,
        Totals(
            node_count,
            topic_count,
            subscriptions,
            fingerprint.digest(sum(row["hashed"] for row in rows), subscriptions),
        ),
    )


def _ranked(cleaned: Cleaned, keep: Keep, range_pairs: int) -> DataFrame:
    """A row for each range of pairs, which are distinct and in order."""
    bounds = bounds_of(cleaned.tally.samples, -(-cleaned.tally.pairs // range_pairs))
    dealt = cleaned.packs.mapInArrow(Deal(bounds), Deal.SCHEMA).repartitionById(len(bounds) + 1, "range")
    return keep(dealt.mapInArrow(ranked, types_of(RANKED)))


def _topics(ranges: DataFrame) -> DataFrame:
    """Topics with their nodes, and whether one of these subscribes."""
    from pyspark.sql import functions as sql

    rows = ranges.select("range", "pairs").mapInArrow(topic_rows, TOPIC_ROWS)
    return rows.groupBy("name").agg(sql.sum("nodes").alias("nodes"), sql.max("heard").alias("heard"))


def _numbered(names: DataFrame, keep: Keep) -> tuple[DataFrame, int]:
    """Names in order with dense ids; and how many names there are."""
    from pyspark.sql import functions as sql

    placed = keep(names.orderBy("name").withColumn("place", sql.monotonically_increasing_id()))
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
    return placed.select((start + place).cast("int").alias("id"), "name", "nodes"), total
