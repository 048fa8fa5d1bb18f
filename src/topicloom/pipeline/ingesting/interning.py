"""Names to dense ids in name order, and the tables of an interest, written part by part.

Pairs are spread by ranges of node names, so a task has all subscriptions of its nodes, and the tasks are in
name order. Ids of nodes are then counted, never looked up. The names of topics are sorted on the driver and sent to
all tasks; they, and the different subscriptions of one task, must fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.files.columns import in_one_piece
from topicloom.files.ingest_folder import (
    NODES,
    SUBSCRIPTIONS,
    TOPICS,
    nodes_table,
    subscriptions_table,
    topics_table,
)
from topicloom.files.name_ids import intern_names
from topicloom.files.parquet import read_parquet
from topicloom.model import fingerprint
from topicloom.model.roles import ROLE_NAMES, known_roles
from topicloom.pipeline.ingesting.spreading import SpreadPairs, range_bounds, range_of, spread
from topicloom.pipeline.ingesting.staging import PAIRS, WITH_ROLES, Staged
from topicloom.pipeline.ingesting.table_parts import part_file, write_part

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import Row, SparkSession

# Pairs of a task and of a part of the output: some tens of megabytes as Arrow.
_ROWS_PER_TASK = 1_000_000
_ROWS_PER_PART = 1_000_000
# Folders of what is needed on the way.
_SPREAD, _GROUPED = "spread", "grouped"


@dataclass(frozen=True)
class Interned:
    """How much was written, and the fingerprint of the interest; `users` are all nodes and topics, if counted."""

    nodes: int
    topics: int
    subscriptions: int
    fingerprint: str
    unheard: int
    users: int | None


@dataclass(frozen=True)
class _Topics:
    """All topics in the order of their ids, and the hashes of their names."""

    names: pa.LargeStringArray
    hashes: fingerprint.Hashes


def write_interest(
    spark: SparkSession, staged: Staged, folder: Path, scratch: Path, *, filters: bool = False, users: bool = False
) -> Interned:
    """Write `subscriptions/`, `nodes/` and `topics/` of staged pairs of names, which may repeat.

    `scratch` is a folder for what is needed on the way. Where there are roles, they are written too, and rows of
    topics that nobody subscribes to are left out and counted as unheard; unless topics are filters, of which others
    may match the same names. `users` says that nodes and topics are the same things, to be counted together.
    """
    rows, roles = staged.counts[PAIRS], staged.counts[WITH_ROLES] > 0
    topics, unheard = _heard_topics(staged.topics, every=filters)
    cores = spark.sparkContext.defaultParallelism
    bounds = range_bounds(staged.nodes, cores * max(1, math.ceil(rows / _ROWS_PER_TASK / cores)))
    ranges = len(bounds) + 1
    for name in (_SPREAD, _GROUPED):
        (scratch / name).mkdir()
    sent = spark.sparkContext.broadcast(topics)
    try:
        pairs = spread(spark, staged, sent, bounds, scratch / _SPREAD, roles=roles)
        topic_ranges = np.searchsorted(range_of(topics.names, bounds), np.arange(ranges + 1)).tolist()
        group = _GroupByNode(sent, pairs, scratch / _GROUPED, topic_ranges if users else None)
        groups = spark.range(0, ranges, 1, ranges).mapInArrow(group, _GroupByNode.SCHEMA).collect()
        # Parts of the output are cut by ids, so that its files are the same however the work was spread.
        node_count = sum(int(group["nodes"]) for group in groups)
        parts = math.ceil(rows / _ROWS_PER_PART)
        size = math.ceil(node_count / parts)
        write = _WriteParts(sent, _id_ranges(groups), str(scratch / _GROUPED), str(folder), size)
        written = spark.range(0, parts, 1, parts).mapInArrow(write, _WriteParts.SCHEMA).toArrow()
    finally:
        sent.destroy()
    nodes_of_topic = np.zeros(len(topics.names), np.int32)
    np.add.at(nodes_of_topic, written["topic"].to_numpy(), written["nodes"].to_numpy())
    ids = np.arange(len(topics.names), dtype=np.int32)
    write_part(folder / TOPICS, 0, topics_table(ids, topics.names, nodes_of_topic))
    sums = np.array([group["sum"] for group in groups], np.int64).view(np.uint64)
    subscriptions = int(nodes_of_topic.sum(dtype=np.int64))
    return Interned(
        nodes=node_count,
        topics=len(topics.names),
        subscriptions=subscriptions,
        fingerprint=fingerprint.digest(sums.sum(axis=0, dtype=np.uint64), subscriptions),
        unheard=unheard,
        users=sum(int(group["users"]) for group in groups) if users else None,
    )


def _heard_topics(seen: pa.Table, *, every: bool) -> tuple[_Topics, int]:
    """Topics that somebody subscribes to, or all, and how many rows the others have."""
    heard = seen if every else seen.filter(seen["heard"])
    if not heard.num_rows:
        raise InputError("nothing to ingest: all rows publish, and nobody subscribes to anything")
    names = heard["name"].cast(pa.large_string()).combine_chunks()
    # Arrow compares bytes of UTF-8, which is the order of code points.
    names = names.take(pc.sort_indices(names))
    unheard = int(pc.sum(seen["number"]).as_py() - pc.sum(heard["number"]).as_py())
    return _Topics(names, fingerprint.name_hashes(names.to_pylist())), unheard


def gathered(batches: Iterable[pa.RecordBatch], many: int) -> pa.Table:
    """Pairs of names as one table; where there are many, without repeats, so that only different ones take memory."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows > many:
            held = pa.Table.from_batches(held).group_by(batch.schema.names).aggregate([]).to_batches()
            rows = sum(batch.num_rows for batch in held)
            many = max(many, 2 * rows)
    return pa.Table.from_batches(held)


def _id_ranges(groups: Sequence[Row]) -> list[tuple[int, range]]:
    """The ids of the nodes of each task that has any; tasks are in name order."""
    ranges, first = [], 0
    for group in sorted(groups, key=lambda group: int(group["part"])):
        ranges.append((int(group["part"]), range(first, first + int(group["nodes"]))))
        first += int(group["nodes"])
    return ranges


@dataclass(frozen=True)
class _GroupByNode:
    """Write one row for each node of a range, in name order, with the ids of its topics and its roles in them.

    Give how many nodes there are, how many users, and the sum for the fingerprint. Users are counted where it is known
    which topics lie in each range.
    """

    SCHEMA = "part int, nodes bigint, users bigint, sum array<bigint>"

    topics: Broadcast[_Topics]
    pairs: SpreadPairs
    folder: Path
    topic_ranges: list[int] | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield self._grouped(number)

    def _grouped(self, number: int) -> pa.RecordBatch:
        table = gathered(self.pairs.of_range(number), 2 * _ROWS_PER_TASK)
        topics = self.topics.value
        users = self._users(number, table["node"])
        count = len(topics.names)
        table = table.filter(pc.greater_equal(table["topic"], 0))
        names, nodes = intern_names(table["node"])
        # Sorted and without repeats, as one number for each pair.
        pairs = nodes * count + table["topic"].to_numpy()
        keys = np.unique(pairs)
        node_of, topic_of = keys // count, keys % count
        starts = np.zeros(len(names) + 1, np.int32)
        np.cumsum(np.bincount(node_of, minlength=len(names)), out=starts[1:])
        total = fingerprint.subscriptions_sum(fingerprint.name_hashes(names)[node_of], topics.hashes[topic_of])
        lists = {"topics": pa.ListArray.from_arrays(pa.array(starts), pa.array(topic_of.astype(np.int32)))}
        if "role" in table.column_names:
            roles = np.zeros(len(keys), np.uint8)
            np.bitwise_or.at(roles, np.searchsorted(keys, pairs), known_roles(table["role"]))
            lists["roles"] = pa.ListArray.from_arrays(pa.array(starts), pa.array(roles))
        write_part(self.folder, number, pa.table({"name": pa.array(names, pa.string()), **lists}))
        return pa.record_batch(
            {
                "part": pa.array([number], pa.int32()),
                "nodes": pa.array([len(names)]),
                "users": pa.array([users]),
                "sum": pa.array([total.view(np.int64).tolist()]),
            }
        )

    def _users(self, number: int, nodes: pa.ChunkedArray) -> int:
        if self.topic_ranges is None:
            return 0
        topics = self.topics.value.names[self.topic_ranges[number] : self.topic_ranges[number + 1]]
        return len(pc.unique(pa.chunked_array([*nodes.cast(pa.large_string()).chunks, topics])))


@dataclass(frozen=True)
class _WriteParts:
    """Write a part of `nodes/` and one of `subscriptions/`; give how many nodes want each topic in it."""

    SCHEMA = "topic int, nodes int"

    topics: Broadcast[_Topics]
    groups: list[tuple[int, range]]
    grouped: str
    folder: str
    size: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch["id"].to_pylist():
                table = self._nodes(range(part * self.size, (part + 1) * self.size))
                if table.num_rows:
                    yield self._written(part, table)

    def _nodes(self, ids: range) -> pa.Table:
        """The nodes that have these ids, with their topics."""
        tables = []
        for part, group in self.groups:
            common = range(max(ids.start, group.start), min(ids.stop, group.stop))
            if common:
                table = read_parquet(part_file(Path(self.grouped), part))
                tables.append(table.slice(common.start - group.start, len(common)))
        return pa.concat_tables(tables) if tables else pa.table({})

    def _written(self, part: int, table: pa.Table) -> pa.RecordBatch:
        names, lists = in_one_piece(table["name"]), in_one_piece(table["topics"])
        sizes = np.asarray(pc.list_value_length(lists))
        ids = np.arange(part * self.size, part * self.size + len(names), dtype=np.int32)
        write_part(Path(self.folder, NODES), part, nodes_table(ids, names, sizes))
        rows = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
        topic_ids = lists.flatten()
        subscriptions = subscriptions_table(
            node=pa.DictionaryArray.from_arrays(pa.array(rows), names),
            topic=_dictionary(topic_ids, self.topics.value.names),
            node_ids=ids[rows],
            topic_ids=topic_ids,
            roles=_role_names(in_one_piece(table["roles"]).flatten()) if "roles" in table.column_names else None,
        )
        write_part(Path(self.folder, SUBSCRIPTIONS), part, subscriptions)
        wanted, counts = np.unique(np.asarray(topic_ids), return_counts=True)
        return pa.record_batch({"topic": wanted, "nodes": counts.astype(np.int32)})


def _role_names(bits: pa.UInt8Array) -> pa.DictionaryArray:
    names = pa.array([ROLE_NAMES[bit] for bit in sorted(ROLE_NAMES)], pa.string())
    return pa.DictionaryArray.from_arrays(pc.subtract(bits, pa.scalar(1, pa.uint8())).cast(pa.int8()), names)


def _dictionary(ids: pa.Int32Array, names: pa.LargeStringArray) -> pa.DictionaryArray:
    """Names of ids, each name that occurs kept once."""
    encoded = ids.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, names.take(encoded.dictionary).cast(pa.string()))
