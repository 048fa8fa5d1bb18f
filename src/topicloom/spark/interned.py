"""An interest as data frames: what every step on Spark takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.model import fingerprint
from topicloom.model.interest import Interest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROLE = "role"
_LOW_HALF = 0xFFFFFFFF


@dataclass(frozen=True)
class Totals:
    """How much an interest holds, and its fingerprint."""

    nodes: int
    topics: int
    subscriptions: int
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Interned:
    """Subscriptions by name and by id, their nodes and their topics.

    Ids are dense and in the order of the names by code point.

    - `subscriptions`: `node`, `topic` (strings), `node_id`, `topic_id` (int), and `role` if roles are known.
    - `nodes`: `id` (int), `name`, `topics` (bigint): how many topics the node has.
    - `topics`: `id` (int), `name`, `nodes` (bigint): how many nodes the topic has.
    - `graph`: `directed` or `undirected` if every topic is a user too; else None.
    - `filters`: the protocol whose wildcards topics may have; None for plain names.
    - `known_totals`: the totals if they are known already; `totals` counts them otherwise.
    """

    subscriptions: DataFrame
    nodes: DataFrame
    topics: DataFrame
    graph: str | None = None
    filters: str | None = None
    known_totals: Totals | None = None

    @classmethod
    def of(cls, spark: SparkSession, interest: Interest) -> Interned:
        """Make one of an interest in memory, for tests and small data. Topics with wildcards are refused."""
        if interest.filters is not None:
            raise InputError("topics with wildcards are not for Spark; design, measure and compare take them")
        return cls(
            spark.createDataFrame(_subscriptions(interest)),
            spark.createDataFrame(_names("topics", interest.node_names, np.diff(interest.node_start))),
            spark.createDataFrame(_names("nodes", interest.topic_names, np.diff(interest.topic_start))),
            known_totals=Totals(
                interest.node_count, interest.topic_count, interest.subscription_count, interest.fingerprint
            ),
        )

    @property
    def spark(self) -> SparkSession:
        """The session of its data frames."""
        return self.subscriptions.sparkSession

    @cached_property
    def totals(self) -> Totals:
        """Counts and fingerprint, by a job if they are not known."""
        if self.known_totals is not None:
            return self.known_totals
        subscriptions, total = subscriptions_sum(self.subscriptions)
        return Totals(self.nodes.count(), self.topics.count(), subscriptions, fingerprint.digest(total, subscriptions))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its subscriptions, equal to that of the `Interest`."""
        return self.totals.fingerprint

    def to_interest(self) -> Interest:
        """Collect it as an `Interest`; it must fit in memory."""
        return Interest.from_spark(self.subscriptions, filters=self.filters or "none")


def subscriptions_sum(pairs: DataFrame) -> tuple[int, int]:
    """Count the rows of a frame with `node` and `topic`, and sum the hashes of them modulo 2^64."""
    from pyspark.sql import functions as sql

    row = sql.xxhash64(sql.xxhash64("node"), sql.xxhash64("topic"))
    # A sum of whole hashes would overflow, which Spark refuses; halves have room for 2^31 rows.
    low, high = row.bitwiseAND(sql.lit(_LOW_HALF)), sql.shiftrightunsigned(row, 32)
    sums = pairs.agg(sql.count("*").alias("rows"), sql.sum(low).alias("low"), sql.sum(high).alias("high")).first()
    assert sums is not None
    return sums["rows"], ((sums["low"] or 0) + ((sums["high"] or 0) << 32)) % 2**64


def _subscriptions(interest: Interest) -> pa.Table:
    table = interest.to_arrow().replace_schema_metadata(None)
    for column, known in (("node", interest.node_names), ("topic", interest.topic_names)):
        ids = pc.index_in(table[column], value_set=pa.array(known, pa.string()))
        table = table.append_column(f"{column}_id", ids.cast(pa.int32()))
    return table.select(["node", "topic", "node_id", "topic_id", *([ROLE] if ROLE in table.column_names else [])])


def _names(counted: str, names: tuple[str, ...], sizes: npt.NDArray[np.int64]) -> pa.Table:
    ids = pa.array(np.arange(len(names), dtype=np.int32))
    return pa.table({"id": ids, "name": pa.array(names, pa.string()), counted: pa.array(sizes, pa.int64())})
