"""Pairs by ranges of node names: a task can then have all pairs of its nodes, and tasks are in the order of names.

Each task takes some staged pairs and writes them into one file, a batch for each range; whoever works on a range then
reads that batch of every file. Topics are ids from here on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from topicloom.files.columns import in_one_piece
from topicloom.files.parquet import open_parquet
from topicloom.pipeline.ingesting.staging import PAIR_COLUMNS, Staged
from topicloom.pipeline.ingesting.table_parts import placing

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

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
        with placing(_file(self.folder, number)) as temporary, pa.ipc.new_file(str(temporary), table.schema) as writer:
            for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
                batch = table.slice(start, stop - start).to_batches()
                writer.write_batch(batch[0] if batch else pa.RecordBatch.from_pylist([], table.schema))


def _file(folder: Path, number: int) -> Path:
    return folder / f"pairs-{number:05d}.arrow"
