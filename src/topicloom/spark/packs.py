"""Many pairs of names in one value of a data frame: an Arrow table as bytes.

Spark moves, keeps and spills such a pack as it does any row, but Java does not touch its names. Row by row, a shuffle
of 10 million pairs and back took 2 microseconds a pair.

Pairs are sorted by ranges of (node, topic), so each range is distinct and in order by itself, and a node that has most
of the pairs is several ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.io.tables import in_one_piece, sorted_names
from topicloom.model import fingerprint
from topicloom.model.roles import BOTH, ROLE_NAMES, SUBSCRIBES, role_bits
from topicloom.spark.interned import ROLE

Pair = tuple[str, str]

# Pairs of one pack, and how many of them stand for it when ranges are chosen.
_PACK_PAIRS = 1 << 17
_SAMPLED = 24
# Pairs of a batch of rows.
_BATCH_PAIRS = 1 << 16
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
# A bit beside those of a role: the row says it.
SAID = np.uint8(4)
# Rows of packs, and rows beside them that are no pairs: their reason, text and file, and how many raw rows each is.
ROWS = pa.schema(
    {
        **{name: pa.string() for name in ("reason", "text", "file")},
        "rows": pa.int64(),
        "said": pa.bool_(),
        "size": pa.int64(),
        "sample": pa.binary(),
        "pairs": pa.binary(),
    }
)
RANKED = pa.schema(
    {
        "range": pa.int32(),
        **{name: pa.string() for name in ("first", "last")},
        **{name: pa.int64() for name in ("nodes", "of_first", "size", "hashed")},
        "pairs": pa.binary(),
    }
)
# Names of roles by their bits.
_ROLE_NAMES = pa.array([ROLE_NAMES.get(bits) for bits in range(4)], pa.string())


def packed(table: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked(pack: Any) -> pa.Table:
    """The table of a pack, which is a scalar of a binary column."""
    return pa.ipc.open_stream(pack.as_buffer()).read_all()


class Packer:
    """Collects pairs until they fill a pack."""

    def __init__(self) -> None:
        self._held: list[pa.Table] = []

    def add(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """Take pairs; give a row with a pack if they fill one."""
        self._held.append(table)
        if sum(map(len, self._held)) >= _PACK_PAIRS:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Give a row with a pack of what is left."""
        if not any(map(len, self._held)):
            return
        pairs = pa.concat_tables(self._held).combine_chunks()
        self._held = []
        places = np.linspace(0, len(pairs) - 1, min(len(pairs), _SAMPLED)).astype(np.int64)
        row = {
            "rows": pc.sum(pairs["rows"]).as_py(),
            "said": ROLE in pairs.column_names and bool((np.asarray(pairs[ROLE]) & SAID).any()),
            "size": len(pairs),
            "sample": packed(pairs.select(["node", "topic"]).take(pa.array(places))),
            "pairs": packed(pairs),
        }
        yield pa.RecordBatch.from_pylist([row], ROWS)


def sampled_pairs(samples: Iterable[bytes]) -> list[Pair]:
    """The pairs of samples, in order."""
    tables = [pa.ipc.open_stream(sample).read_all() for sample in samples]
    return sorted(pair for table in tables for pair in zip(*(column.to_pylist() for column in table), strict=True))


def bounds_of(samples: Sequence[Pair], ranges: int) -> list[Pair]:
    """Pairs at which ranges of about equal size begin, but for the first; `samples` are in order."""
    return sorted({samples[len(samples) * place // ranges] for place in range(1, ranges)}) if samples else []


@dataclass(frozen=True)
class Deal:
    """Cut packs into those of ranges."""

    SCHEMA = "range int, pairs binary"

    bounds: Sequence[Pair]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give a smaller pack for each range that a pack has pairs of."""
        for batch in batches:
            for pack in batch["pairs"]:
                for number, table in _cut(unpacked(pack), self.bounds, 0):
                    arrays = pa.array([number], pa.int32()), pa.array([packed(table)], pa.binary())
                    yield pa.record_batch(list(arrays), ["range", "pairs"])


def _cut(table: pa.Table, bounds: Sequence[Pair], first: int) -> Iterator[tuple[int, pa.Table]]:
    if not bounds or not table.num_rows:
        if table.num_rows:
            yield first, table
        return
    middle = len(bounds) // 2
    node, topic = bounds[middle]
    same = pc.and_(pc.equal(table["node"], node), pc.greater_equal(table["topic"], topic))
    above = pc.or_(pc.greater(table["node"], node), same)
    yield from _cut(table.filter(pc.invert(above)), bounds[:middle], first)
    yield from _cut(table.filter(above), bounds[middle + 1 :], first + middle + 1)


def ranked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make one pack of all those of a range: pairs once and in order, their names as dictionaries in order."""
    packs = [(number, pack) for batch in batches for number, pack in zip(batch["range"], batch["pairs"], strict=True)]
    if not packs:
        return
    table = pa.concat_tables([_with_role(unpacked(pack)) for _, pack in packs])
    nodes, node_places = sorted_names(table["node"])
    topics, topic_places = sorted_names(table["topic"])
    # One number for each row: sorting numbers takes a tenth of sorting names.
    role = np.asarray(table[ROLE]) & BOTH
    keys = np.unique((node_places * len(topics) + topic_places) << 2 | role)
    pairs = keys >> 2
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    node, topic = np.divmod(pairs[first], len(topics))
    hashes = fingerprint.name_hashes(nodes.to_pylist()), fingerprint.name_hashes(topics.to_pylist())
    total = fingerprint.subscriptions_sum(*hashes, node, topic)
    pairs_of_node = np.bincount(node)
    done = {
        "node": pa.DictionaryArray.from_arrays(node.astype(np.int32), nodes),
        "topic": pa.DictionaryArray.from_arrays(topic.astype(np.int32), topics),
        ROLE: np.bitwise_or.reduceat(keys & int(BOTH), first).astype(np.uint8),
    }
    row = {
        "range": packs[0][0].as_py(),
        "first": nodes[0].as_py(),
        "last": nodes[-1].as_py(),
        "nodes": len(nodes),
        "of_first": int(pairs_of_node[0]),
        "size": len(node),
        "hashed": total - (1 << 64 if total >> 63 else 0),
        "pairs": packed(pa.table(done)),
    }
    yield pa.RecordBatch.from_pylist([row], RANKED)


def _with_role(table: pa.Table) -> pa.Table:
    """Pairs with bits of roles; without roles, nodes do both."""
    if ROLE not in table.column_names:
        table = table.append_column(ROLE, pa.array(np.full(table.num_rows, BOTH)))
    return table.select(["node", "topic", ROLE])


@dataclass(frozen=True)
class Numbering:
    """Ids of the nodes of a range.

    - `start`: the id of its first node.
    - `continues`: whether that node begins in an earlier range, which counts all its pairs.
    - `more`: pairs of its last node in later ranges.
    """

    start: int
    continues: bool
    more: int = 0


def numberings(rows: Iterable[Any]) -> tuple[dict[int, Numbering], int]:
    """The ids of the nodes of each range, and how many nodes there are; a row has the columns of `RANKED`."""
    found: dict[int, Numbering] = {}
    begun, end, last = 0, 0, None
    for row in sorted(rows, key=lambda row: int(row["range"])):
        number, continues = int(row["range"]), row["first"] == last
        found[number] = Numbering(end - continues, continues)
        if continues:
            found[begun] = replace(found[begun], more=found[begun].more + row["of_first"])
        if not continues or row["nodes"] > 1:
            begun = number
        end, last = end - continues + row["nodes"], row["last"]
    return found, end


@dataclass(frozen=True)
class NodeRows:
    """The nodes of ranges: their ids, and how many topics they have."""

    SCHEMA = "id int, name string, topics bigint"

    numbering: Mapping[int, Numbering]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give a row for each node that begins in a range."""
        for number, table in _tables(batches):
            node, known = in_one_piece(table["node"]), self.numbering[number]
            topics = np.bincount(np.asarray(node.indices), minlength=len(node.dictionary))
            topics[-1] += known.more
            ids = np.arange(known.start, known.start + len(topics), dtype=np.int32)
            rows = pa.record_batch({"id": ids, "name": node.dictionary, "topics": topics})
            yield rows.slice(int(known.continues))


def topic_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give a row for each topic of a range: how many nodes it has there, and whether one of them subscribes."""
    for _, table in _tables(batches):
        topic = in_one_piece(table["topic"])
        places, count = np.asarray(topic.indices), len(topic.dictionary)
        heard = np.bincount(places, (np.asarray(table[ROLE]) & SUBSCRIBES) > 0, count) > 0
        nodes = np.bincount(places, minlength=count)
        yield pa.record_batch({"name": topic.dictionary, "nodes": nodes, "heard": heard})


TOPIC_ROWS = "name string, nodes bigint, heard boolean"


@dataclass(frozen=True)
class PairRows:
    """Packs of ranges as rows; with roles if there are any."""

    numbering: Mapping[int, Numbering]
    has_roles: bool

    @property
    def schema(self) -> str:
        """The columns of the rows."""
        return "node string, topic string, node_id int" + (", role string" if self.has_roles else "")

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give a row for each pair."""
        for number, table in _tables(batches):
            for part in table.to_batches(max_chunksize=_BATCH_PAIRS):
                columns = {name: part[name].cast(pa.string()) for name in ("node", "topic")}
                columns["node_id"] = pc.add(part["node"].indices, pa.scalar(self.numbering[number].start, pa.int32()))
                if self.has_roles:
                    columns[ROLE] = _ROLE_NAMES.take(part[ROLE])
                yield pa.record_batch(columns)


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for number, pack in zip(batch["range"].to_pylist(), batch["pairs"], strict=True):
            yield number, unpacked(pack)


def pack_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack rows that have `node`, `topic` and perhaps `role`."""
    packer = Packer()
    for batch in batches:
        columns = {name: batch[name] for name in ("node", "topic")}
        for name, column in columns.items():
            if column.null_count:
                raise InputError(f"null name in column '{name}'; every row needs a name")
        if ROLE in batch.schema.names:
            columns[ROLE] = role_bits(batch[ROLE], "data frame") | SAID
        yield from packer.add(pa.table(columns | {"rows": np.ones(len(batch), np.int64)}))
    yield from packer.rest()


def counted_pairs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Packs as rows again."""
    for batch in batches:
        for pack in batch["pairs"]:
            table = unpacked(pack)
            role = (np.asarray(_with_role(table)[ROLE]) & BOTH).astype(np.int32)
            yield from table.select(["node", "topic", "rows"]).append_column("bits", pa.array(role)).to_batches()


COUNTED_PAIRS = "node string, topic string, rows bigint, bits int"
