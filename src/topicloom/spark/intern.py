"""Names to ids, over all files.

Parquet tables as folders of parts, which tasks write themselves.

Arrow writes what a task already has as Arrow, dictionaries included, several times faster than a way through Java,
and leaves no marker files. The folder must be one that all executors see, on this machine or on a shared disk.
A part is whole or absent, and a task that is repeated writes the same part again. Tasks make no folders: those of a
killed run may go on for a moment, and must not bring back what is cleared away.

Pairs of names on their way to ids: tasks write them down, and tell the driver what it must know of them all.

That is every topic with how often it was seen, a sample of the nodes, and counts. Spark adds up what the tasks tell.

Pairs by ranges of node names: a task can then have all pairs of its nodes, and tasks are in the order of names.

Each task takes some staged pairs and writes them into one file, a batch for each range; whoever works on a range then
reads that batch of every file. Topics are ids from here on.

Names to dense ids in name order, and the tables of an interest, written part by part.

Pairs are spread by ranges of node names, so a task has all subscriptions of its nodes, and the tasks are in
name order. Ids of nodes are then counted, never looked up. The names of topics are sorted on the driver and sent to
all tasks; they, and the different subscriptions of one task, must fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.ingest_folder import NODES, SUBSCRIPTIONS, TOPICS, nodes_table, subscriptions_table, topics_table
from topicloom.io.tables import in_one_piece, intern_names, open_parquet, parquet_writer, read_parquet, write_parquet
from topicloom.io.whole import replacing
from topicloom.model import fingerprint
from topicloom.model.roles import ROLE_NAMES, known_roles

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, Row, SparkSession


Add = Callable[[pa.RecordBatch], None]
# Of a row group that grows batch by batch.
_GROUP_ROWS = 1 << 19


def part_number() -> int:
    """The number of the task that this runs in."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def part_file(folder: Path, number: int) -> Path:
    """Where a part lies; sorted by name, parts are in the order of their numbers."""
    return folder / f"part-{number:05d}.parquet"


def write_part(folder: Path, number: int, table: pa.Table) -> None:
    """Write one part of a table."""
    with replacing(part_file(folder, number)) as temporary:
        # With Arrow's schema dictionaries would come back as such; to readers these are plain strings.
        write_parquet(table, temporary, store_schema=False, compression="zstd", dictionary_pagesize_limit=16 << 20)


@contextmanager
def writing_part(folder: Path, number: int, schema: pa.Schema) -> Iterator[Add]:
    """Give a function that adds a batch to a part; it is in place on leaving."""
    waiting: list[pa.RecordBatch] = []
    with replacing(part_file(folder, number)) as temporary, parquet_writer(temporary, schema) as writer:

        def add(batch: pa.RecordBatch) -> None:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= _GROUP_ROWS:
                flush()

        def flush() -> None:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting.clear()

        yield add
        flush()


def clear_attempts(folder: Path) -> None:
    """Remove what tasks that were killed left in the tables of a folder."""
    for file in folder.glob("*/.*"):
        file.unlink()


# What is told: how many rows of a `kind` have a `name`, and whether any of them is of somebody who listens.
SEEN_SCHEMA = "kind string, name string, number bigint, heard boolean"
_SEEN = pa.schema([("kind", pa.string()), ("name", pa.string()), ("number", pa.int64()), ("heard", pa.bool_())])
_COUNT, _TOPIC, _NODE = "count", "topic", "node"
# Counts of every part.
PAIRS = "pairs"
SELF_LOOPS = "self-loops"
WITH_ROLES = "with roles"

PAIR_COLUMNS = ("node", "topic", "role")
_PAIR = pa.schema([(name, pa.string()) for name in PAIR_COLUMNS])
# One node of so many rows is in the sample.
_SAMPLED = 4096
# Topics of batches that wait to be added up.
_WAITING = 1 << 20


@dataclass
class StagedPart:
    """The pairs of one task."""

    _write: Add
    _pairs: int = 0
    _self_loops: int = 0
    _with_roles: int = 0
    _nodes: list[pa.Array] = field(default_factory=list)
    _topics: list[pa.Table] = field(default_factory=list)

    def add(self, node: pa.StringArray, topic: pa.StringArray, role: pa.StringArray) -> None:
        """Write pairs down; one without a topic is a self-loop of a social graph, one without a role does both."""
        self._write(pa.record_batch([node, topic, role], schema=_PAIR))
        self._self_loops += topic.null_count
        self._pairs += len(topic) - topic.null_count
        self._with_roles += len(role) - role.null_count
        self._nodes.append(node.take(pa.array(np.arange(0, len(node), _SAMPLED))))
        heard = pc.fill_null(pc.not_equal(role, "pub"), True)
        ones = pa.array(np.ones(len(topic), np.int64))
        self._topics.append(_added_up(pa.table([topic, ones, heard], ["name", "number", "heard"])))
        if sum(table.num_rows for table in self._topics) > _WAITING:
            self._topics = [_added_up(pa.concat_tables(self._topics))]

    def seen(self, counts: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
        """What there is to tell, with counts that are the caller's own."""
        own = {PAIRS: self._pairs, SELF_LOOPS: self._self_loops, WITH_ROLES: self._with_roles}
        names, numbers = zip(*{**own, **counts}.items(), strict=True)
        yield from _told(_COUNT, pa.table([names, numbers], ["name", "number"]))
        if self._topics:
            yield from _told(_TOPIC, pa.concat_tables(self._topics))
            nodes = pa.chunked_array(self._nodes)
            yield from _told(_NODE, pa.table([nodes, pa.array(np.ones(len(nodes), np.int64))], ["name", "number"]))


@contextmanager
def staging(folder: Path) -> Iterator[StagedPart]:
    """The part of the pairs in the folder that this task writes; it is in place on leaving."""
    with writing_part(folder, part_number(), _PAIR) as write:
        yield StagedPart(write)


@dataclass(frozen=True)
class StagePairs:
    """Write the pairs of a frame that has them, with or without roles, and tell of them."""

    folder: Path

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write, and tell in batches of `SEEN_SCHEMA`."""
        with staging(self.folder) as part:
            for batch in batches:
                role = batch["role"] if "role" in batch.schema.names else pa.nulls(batch.num_rows, pa.string())
                part.add(batch["node"], batch["topic"], role)
        yield from part.seen({})


def _added_up(topics: pa.Table) -> pa.Table:
    """Each topic once; rows without one are left out."""
    by_name = topics.filter(topics["name"].is_valid()).group_by("name").aggregate([("number", "sum"), ("heard", "any")])
    return by_name.select(["name", "number_sum", "heard_any"]).rename_columns(["name", "number", "heard"])


def _told(kind: str, table: pa.Table) -> Iterator[pa.RecordBatch]:
    table = table.append_column("kind", pa.array([kind] * table.num_rows, pa.string()))
    if "heard" not in table.column_names:
        table = table.append_column("heard", pa.nulls(table.num_rows, pa.bool_()))
    yield from table.select(_SEEN.names).cast(_SEEN).to_batches()


@dataclass(frozen=True, eq=False)
class Staged:
    """All pairs, of all tasks.

    `topics` has the columns name, number of pairs, and whether somebody listens; `nodes` name and number, of a sample.
    """

    folder: Path
    counts: Mapping[str, int]
    topics: pa.Table
    nodes: pa.Table

    @classmethod
    def by_tasks(cls, told: DataFrame, folder: Path) -> Staged:
        """Have the tasks write, and gather what they tell in frames of `SEEN_SCHEMA`."""
        from pyspark.sql import functions as sql

        sums = (sql.sum("number").alias("number"), sql.max("heard").alias("heard"))
        table = told.groupBy("kind", "name").agg(*sums).toArrow()
        kinds = {kind: table.filter(pc.equal(table["kind"], kind)) for kind in (_COUNT, _TOPIC, _NODE)}
        counts = dict(zip(*(kinds[_COUNT][name].to_pylist() for name in ("name", "number")), strict=True))
        return cls(folder, counts, kinds[_TOPIC], kinds[_NODE])


# Of staged pairs that one task spreads: a million pairs, whose names are a gigabyte at most.
_GROUPS_PER_TASK = 2

Ids = npt.NDArray[np.int64]


def range_bounds(nodes: pa.Table, ranges: int) -> pa.LargeStringArray:
    """Names at which ranges begin, but for the first, so that all have about as many rows of the sample."""
    nodes = nodes.sort_by("name")
    if not nodes.num_rows:
        return pa.array([], pa.large_string())
    until = np.cumsum(nodes["number"].to_numpy())
    places = np.searchsorted(until, until[-1] * np.arange(1, ranges) / ranges, side="right")
    return nodes["name"].take(pa.array(np.unique(places))).cast(pa.large_string()).combine_chunks()


def range_of(names: pa.LargeStringArray, bounds: pa.LargeStringArray) -> Ids:
    """The range that each name lies in, by halving."""
    low: Ids = np.zeros(len(names), np.int64)
    high: Ids = np.full(len(names), len(bounds), np.int64)
    for _ in range(len(bounds).bit_length()):
        middle = (low + high) // 2
        there = np.asarray(pc.less_equal(bounds.take(pa.array(np.minimum(middle, len(bounds) - 1))), names))
        low, high = np.where(there & (low < high), middle + 1, low), np.where(there, high, middle)
    return low


def ids_among(known: pa.LargeStringArray, names: pa.Array) -> Ids:
    """Id of each name among the known ones, -1 where it is not, found once for each distinct name."""
    encoded = names.dictionary_encode()
    found: Any = pc.fill_null(pc.index_in(encoded.dictionary.cast(pa.large_string()), value_set=known), -1)
    ids: Ids = np.asarray(found).astype(np.int64)[np.asarray(pc.fill_null(encoded.indices, 0))]
    return np.where(np.asarray(names.is_valid()), ids, -1)


@dataclass(frozen=True)
class SpreadPairs:
    """Where pairs lie that were spread."""

    folder: Path
    files: int

    def of_range(self, number: int) -> Iterator[pa.RecordBatch]:
        """All pairs of one range: names of nodes, ids of topics (-1 for none), and roles if there are any."""
        for file in range(self.files):
            with pa.memory_map(str(_file(self.folder, file))) as source:
                yield pa.ipc.open_file(source).get_batch(number)


def spread(
    spark: SparkSession,
    staged: Staged,
    topics: Broadcast[Any],
    bounds: pa.LargeStringArray,
    folder: Path,
    *,
    roles: bool,
) -> SpreadPairs:
    """Spread staged pairs of the topics, or without a topic, over the ranges between bounds."""
    pieces = []
    for part in sorted(staged.folder.glob("*.parquet")):
        groups = pyarrow.parquet.read_metadata(part).num_row_groups
        pieces += [
            (part, range(groups)[first : first + _GROUPS_PER_TASK]) for first in range(0, groups, _GROUPS_PER_TASK)
        ]
    task = _Spread(topics, bounds, pieces, folder, PAIR_COLUMNS if roles else PAIR_COLUMNS[:2])
    spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(task, "pairs bigint").collect()
    return SpreadPairs(folder, len(pieces))


@dataclass(frozen=True)
class _Spread:
    topics: Broadcast[Any]
    bounds: pa.LargeStringArray
    pieces: list[tuple[Path, range]]
    folder: Path
    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (number for batch in batches for number in batch["id"].to_pylist()):
            part, groups = self.pieces[number]
            with open_parquet(part) as file:
                table = file.read_row_groups(list(groups), columns=list(self.columns))
            self._write(number, table)
            yield pa.record_batch({"pairs": pa.array([table.num_rows])})

    def _write(self, number: int, table: pa.Table) -> None:
        topic = in_one_piece(table["topic"])
        ids = ids_among(self.topics.value.names, topic)
        table = table.set_column(1, "topic", pa.array(ids.astype(np.int32)))
        # Those that are no topics are left out.
        table = table.filter(pa.array((ids >= 0) | np.asarray(topic.is_null())))
        nodes = in_one_piece(table["node"]).dictionary_encode()
        ranges = range_of(nodes.dictionary.cast(pa.large_string()), self.bounds)[np.asarray(nodes.indices)]
        order = np.argsort(ranges.astype(np.int16 if len(self.bounds) < 1 << 15 else np.int64), kind="stable")
        table = table.take(pa.array(order)).combine_chunks()
        ends = np.searchsorted(ranges[order], np.arange(len(self.bounds) + 2))
        file = _file(self.folder, number)
        with replacing(file) as temporary, pa.ipc.new_file(str(temporary), table.schema) as writer:
            for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
                batch = table.slice(start, stop - start).to_batches()
                writer.write_batch(batch[0] if batch else pa.RecordBatch.from_pylist([], table.schema))


def _file(folder: Path, number: int) -> Path:
    return folder / f"pairs-{number:05d}.arrow"


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
    total = sum(int(group["low"]) + (int(group["high"]) << 32) for group in groups)
    subscriptions = int(nodes_of_topic.sum(dtype=np.int64))
    return Interned(
        nodes=node_count,
        topics=len(topics.names),
        subscriptions=subscriptions,
        fingerprint=fingerprint.digest(total, subscriptions),
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

    Give how many nodes there are, how many users, and the halves of the sum for the fingerprint. Users are counted
    where it is known which topics lie in each range.
    """

    SCHEMA = "part int, nodes bigint, users bigint, low bigint, high bigint"

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
        total = fingerprint.subscriptions_sum(fingerprint.name_hashes(names), topics.hashes, node_of, topic_of)
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
                "low": pa.array([total & 0xFFFFFFFF]),
                "high": pa.array([total >> 32]),
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
