"""Raw rows to clean pairs of names and notes, in the tasks of Spark.

Pairs go to a part of a table that the task writes itself, and notes to another one: a note is a bad row with its place,
or says how many rows a block of a file has. Rows are counted within blocks, the pieces that Spark cuts files into, and
the counts put together afterwards (`quarantine`), so that every bad row has its line number, however files were cut.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.files.name_cleaning import clean_names, problems
from topicloom.files.name_tables import filters_said
from topicloom.model.filters import protocol_of
from topicloom.model.roles import BOTH, ROLE_NAMES, Bits, known_roles
from topicloom.pipeline.ingesting.delimited import BLANK, Layout, split_header, split_lines
from topicloom.pipeline.ingesting.ingest_options import Graph
from topicloom.pipeline.ingesting.social_graphs import subscriptions_of
from topicloom.pipeline.ingesting.staging import staging
from topicloom.pipeline.ingesting.table_parts import part_number, writing_part

# Kinds of rows that are not bad. Lines are also noted, block by block.
LINES = "lines"
FILTERED = "filtered"
HEADER = "header"
COUNTED = (LINES, FILTERED, HEADER, BLANK)
# A file with other columns than the first one.
OTHER_HEADER = "other header"

_RAW_CHARACTERS = 4096
NOTE_SCHEMA = "kind string, file string, block bigint, number bigint, raw string"
_NOTE = pa.schema(
    [("kind", pa.string()), ("file", pa.string()), ("block", pa.int64()), ("number", pa.int64()), ("raw", pa.string())]
)
# What is known of a raw row besides its columns, under names that hardly any file has.
INTERNAL = ("__file", "__block", "__value", "__wrong")
_ROLE_NAMES = pa.array([ROLE_NAMES.get(bits) for bits in range(int(BOTH) + 1)], pa.string())
_NOTHING = pa.scalar(None, pa.string())


@dataclass(frozen=True)
class Splitting:
    """How lines become columns: their layout, and the header that each file begins with, if any."""

    layout: Layout
    header: tuple[str, ...] | None

    def __call__(
        self, lines: pa.StringArray, *, is_top: bool, is_second: bool = False
    ) -> tuple[list[pa.StringArray], pa.StringArray]:
        """Columns and what is wrong with each line; whether the first one is the first or second of its file."""
        kinds = []
        if is_top:
            top = _text(lines[0]).removeprefix("\ufeff")
            lines = pa.concat_arrays([pa.array([top], lines.type), lines.slice(1)])
            if filters_said(top):
                kinds = [HEADER, *([] if len(lines) == 1 else self._kinds_of_header(_text(lines[1])))]
            else:
                kinds = self._kinds_of_header(top)
        elif is_second and self._kinds_of_header(_text(lines[0])) == [HEADER]:
            kinds = [HEADER]  # the line before it names filters, and came alone
        columns, wrong = split_lines(lines, self.layout)
        if kinds:
            count = len(kinds)
            wrong = pa.concat_arrays([pa.array(kinds), wrong.slice(count)])
            columns = [pa.concat_arrays([pa.nulls(count, pa.string()), column.slice(count)]) for column in columns]
        return columns, wrong

    def _kinds_of_header(self, line: str) -> list[str]:
        """The kind of a line that should be the header; of no line if files have none."""
        if self.header is None:
            return []
        return [HEADER if tuple(split_header(line, self.layout.separator)) == self.header else OTHER_HEADER]


@dataclass(frozen=True)
class SplitRows:
    """Lines to rows with all their columns, for a condition in SQL; nothing is left out."""

    splitting: Splitting
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows with what is `INTERNAL`, and the columns of the lines."""
        for run in _runs(batches):
            columns, wrong = self.splitting(run.rows["value"], is_top=run.is_top, is_second=run.is_second)
            arrays = [run.rows["file"], run.rows["block"], run.rows["value"], wrong, *columns]
            yield pa.record_batch(arrays, [*INTERNAL, *self.names])


@dataclass(frozen=True)
class CleanRows:
    """What makes a row clean, what it then means, and the folders for the pairs that come of rows, and for notes.

    Raw rows have a `file`, the `block` of it and the `value`, which is the line as it is, or null. Unless they are to
    be split here they also have `node`, `topic`, `role`, what is `wrong` with them and whether they are `kept`.
    """

    pairs: Path
    notes: Path
    max_name_bytes: int
    graph: Graph | None
    include_self: bool
    splitting: Splitting | None = None
    filters: str | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the pairs of names in raw rows, with their roles, and notes; tell of both."""
        counts: Counter[str] = Counter()
        last: _Run | None = None
        with staging(self.pairs) as part, writing_part(self.notes, part_number(), _NOTE) as note:
            for run in _runs(batches):
                if last is not None and last.place != run.place:
                    note(_lines(last))
                last = run
                counts[LINES] += run.rows.num_rows
                node, topic, role, kinds = self._cleaned(run)
                if kinds.null_count < len(kinds):
                    kinds_seen = pc.value_counts(kinds.drop_null()).to_pylist()
                    counts.update({kind["values"]: kind["counts"] for kind in kinds_seen})
                    note(_bad_rows(run, kinds))
                part.add(node, topic, role)
            if last is not None:
                note(_lines(last))
        yield from part.seen(counts)

    def _cleaned(self, run: _Run) -> tuple[pa.StringArray, ...]:
        """Nodes, topics and roles of the good rows, and the kind of note that each row gets."""
        if self.splitting is not None:
            (node, topic, *more), wrong = self.splitting(run.rows["value"], is_top=run.is_top, is_second=run.is_second)
            role, kept = more[0] if more else pa.nulls(len(node), pa.string()), None
        else:
            node, topic, role, wrong, kept = (run.rows[name] for name in ("node", "topic", "role", "wrong", "kept"))
        node, topic, role = clean_names(node), clean_names(topic), clean_names(role)
        bits = known_roles(role)
        kinds = self._kinds(node, topic, bits, wrong, kept)
        given = pc.greater(pc.binary_length(role), 0)
        role = pc.if_else(given, _ROLE_NAMES.take(pa.array(bits)), _NOTHING)
        if kinds.null_count < len(kinds):
            good = kinds.is_null()
            node, topic, role = node.filter(good), topic.filter(good), role.filter(good)
        if self.graph is not None:
            node, topic = subscriptions_of(node, topic, self.graph, include_self=self.include_self)
            role = pa.nulls(len(node), pa.string())
        return node, topic, role, kinds

    def _kinds(
        self,
        node: pa.StringArray,
        topic: pa.StringArray,
        roles: Bits,
        wrong: pa.StringArray,
        kept: pa.BooleanArray | None,
    ) -> pa.StringArray:
        """The kind of note that each row gets; null for the good ones."""
        kinds = wrong
        if kept is not None:
            kinds = pc.coalesce(kinds, pc.if_else(pc.fill_null(kept, False), _NOTHING, FILTERED))
        found = problems(node, "node", self.max_name_bytes) | problems(topic, "topic", self.max_name_bytes)
        found |= {"unknown role": roles == 0, "malformed filter": self._malformed(topic)}
        for reason, mask in found.items():
            if mask.any():
                kinds = pc.coalesce(kinds, pc.if_else(pa.array(mask), reason, _NOTHING))
        return kinds

    def _malformed(self, topic: pa.StringArray) -> npt.NDArray[np.bool_]:
        if self.filters is None:
            return np.zeros(len(topic), np.bool_)
        protocol = protocol_of(self.filters)
        encoded = topic.dictionary_encode()
        wrong = [filter_ for filter_ in encoded.dictionary.to_pylist() if protocol.problem(filter_) is not None]
        return np.asarray(pc.is_in(topic, value_set=pa.array(wrong, pa.string())))


@dataclass(frozen=True)
class _Run:
    """Successive rows of one block of one file, and how many rows of the block came before."""

    rows: pa.RecordBatch
    place: tuple[str, int]
    before: int

    @property
    def is_top(self) -> bool:
        return self.place[1] == 0 == self.before

    @property
    def is_second(self) -> bool:
        return self.place[1] == 0 and self.before == 1

    @property
    def end(self) -> int:
        return self.before + int(self.rows.num_rows)


def _runs(batches: Iterable[pa.RecordBatch]) -> Iterator[_Run]:
    place, before = None, 0
    for batch in batches:
        ends = {0}
        for name in ("file", "block"):
            ends.update(pc.run_end_encode(batch[name]).run_ends.to_pylist())
        bounds = sorted(ends)
        for start, stop in pairwise(bounds):
            here = (batch["file"][start].as_py(), batch["block"][start].as_py())
            if here != place:
                place, before = here, 0
            yield _Run(batch.slice(start, stop - start), here, before)
            before += stop - start


def _lines(run: _Run) -> pa.RecordBatch:
    """The note on a block that ends with this run."""
    return _notes([(LINES, *run.place, run.end, None)])


def _bad_rows(run: _Run, kinds: pa.StringArray) -> pa.RecordBatch:
    """A note for each bad row."""
    bad = pc.and_(kinds.is_valid(), pc.invert(pc.is_in(kinds, value_set=pa.array(COUNTED))))
    return _notes(
        [
            (kinds[row].as_py(), *run.place, run.before + row + 1, _raw(run.rows, row))
            for row in np.flatnonzero(bad).tolist()
        ]
    )


def _notes(notes: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = [[note[place] for note in notes] for place in range(len(_NOTE))]
    return pa.record_batch([pa.array(c, field.type) for c, field in zip(columns, _NOTE, strict=True)], schema=_NOTE)


def _raw(rows: pa.RecordBatch, row: int) -> str:
    """A row as it was; where it never was text, its two columns as JSON."""
    if rows["value"][row].is_valid:
        return _text(rows["value"][row])[:_RAW_CHARACTERS]
    return json.dumps([rows[name][row].as_py() for name in ("node", "topic")], ensure_ascii=False)[:_RAW_CHARACTERS]


def _text(line: pa.StringScalar) -> str:
    """A line as text, whatever its bytes."""
    return str(line.cast(pa.binary()).as_py().decode(errors="replace"))
