"""Pairs of names on their way to ids: tasks write them down, and tell the driver what it must know of them all.

That is every topic with how often it was seen, a sample of the nodes, and counts. Spark adds up what the tasks tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.pipeline.ingesting.table_parts import Add, part_number, writing_part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
