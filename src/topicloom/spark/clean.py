"""Options of ingest, and cleaning of rows.

What a person can choose about an ingest.

Cutting lines of delimited text into columns, a batch at a time.

Fields may be in double quotes, with quotes inside them doubled. A line is a row: a quoted field that goes on in the
next line is not closed in its own, and its row is bad.

Social graphs as subscriptions: every user is a topic.

Raw rows to clean pairs of names and notes, in the tasks of Spark.

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
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from topicloom.errors import InputError
from topicloom.io.tables import clean_names, filters_said, in_one_piece, problems
from topicloom.model.filters import PLAIN, protocol_of
from topicloom.model.roles import BOTH, ROLE_NAMES, Bits, known_roles
from topicloom.spark.intern import part_number, staging, writing_part

Graph = Literal["directed", "undirected"]
FORMATS = ("csv", "tsv", "jsonl", "parquet")


@dataclass(frozen=True)
class IngestOptions:
    """How raw rows are read and cleaned.

    Args:
        node_column: column that names the node, by name; by position from 1 where there is no header. `node` unless
            given; the first column of graphs and of files without a header.
        topic_column: column that names the topic, likewise. `topic` unless given, or the second column.
        role_column: column that says whether the node subscribes, publishes or both, likewise. `role` unless given,
            where there is such a column and no graph; empty for none.
        filters: the protocol whose wildcards topics may have: `mqtt`, `nats` or `amqp`; rows with others are bad.
            `none` for plain names. Unless given, what the files say.
        separator: between the columns of text files; a comma for .csv and a tab for .tsv unless given.
        header: whether text files begin with the names of their columns.
        where: a Spark SQL condition on the raw columns; rows that do not fulfil it are left out. Columns without
            names are called `_1`, `_2` and so on.
        format: one of csv, tsv, jsonl, parquet; by the ending of each file's name unless given.
        graph: rows are the edges of a social graph, and every user is a topic. In a directed one the first column
            follows, so subscribes to, the second; undirected edges count both ways. Self-loops are dropped.
        include_self: in a graph, subscribe each user to its own topic.
        max_name_bytes: the longest name, in UTF-8; rows with longer ones are bad.
        max_bad: the largest share of bad rows that is accepted.
    """

    node_column: str | None = None
    topic_column: str | None = None
    role_column: str | None = None
    filters: str | None = None
    separator: str | None = None
    header: bool = True
    where: str | None = None
    format: str | None = None
    graph: Graph | None = None
    include_self: bool = False
    max_name_bytes: int = 1024
    max_bad: float = 0.1

    def __post_init__(self) -> None:
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\n\r\0'):
            raise InputError(f"separator '{self.separator}': expected one character, not a quote", "separator")
        if self.separator is not None and not self.separator.isascii():
            raise InputError(f"separator '{self.separator}': expected an ASCII character", "separator")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"format '{self.format}': unknown; known are {', '.join(FORMATS)}", "format")
        if self.graph not in (None, "directed", "undirected"):
            raise InputError(f"graph '{self.graph}': expected directed or undirected", "graph")
        if self.include_self and self.graph is None:
            raise InputError(
                "include_self: only for graphs, with graph directed or undirected", "include_self", "graph"
            )
        if self.graph is not None and (self.role_column or self.filters):
            raise InputError("graphs have neither roles nor filters", "graph", "role_column", "filters")
        usual = ("node", "topic") if self.header else ("1", "2")
        if self.role_column in (self.node_column or usual[0], self.topic_column or usual[1]):
            raise InputError(f"column '{self.role_column}' cannot hold both names and roles", "role_column")
        if self.protocol is not None:
            protocol_of(self.protocol)
        if not 0 <= self.max_bad <= 1:
            raise InputError(f"max_bad {self.max_bad}: expected a share from 0 to 1", "max_bad")
        if self.max_name_bytes < 1:
            raise InputError(f"max_name_bytes {self.max_name_bytes}: expected at least 1", "max_name_bytes")
        if self.where is not None and not self.where.strip():
            raise InputError("where: the condition is empty", "where")

    @property
    def protocol(self) -> str | None:
        """The protocol whose wildcards topics may have; None for plain names."""
        return None if self.filters == PLAIN else self.filters


BLANK = "blank line"
TOO_FEW = "too few columns"
TOO_MANY = "too many columns"
UNCLOSED = "unclosed quote"
NOT_UTF8 = "not UTF-8"

# What is wrong with a line is kept as a place in this list, -1 where nothing is.
_REASONS = (BLANK, TOO_FEW, TOO_MANY, UNCLOSED, NOT_UTF8)
_FINE = -1


Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """How a line is cut: the separator, how many columns there must be, and which of them are wanted."""

    separator: str
    width: int
    wanted: tuple[int, ...]


def split_lines(lines: pa.StringArray, layout: Layout) -> tuple[list[pa.StringArray], pa.StringArray]:
    """The wanted columns of lines, and for each line what is wrong with it, or null.

    The columns are null where something is wrong.
    """
    wrong = np.where(np.asarray(pc.binary_length(lines)) == 0, _REASONS.index(BLANK), _FINE)
    _mark_broken(lines, wrong)
    rows = np.flatnonzero(wrong == _FINE)
    if len(rows) == len(lines):
        columns, wrong = _split(lines, layout)
    else:
        columns, wrong[rows] = _split(lines.take(pa.array(rows)), layout)
        places = np.full(len(lines), -1)
        places[rows] = np.arange(len(rows))
        columns = [column.take(pa.array(places, mask=places < 0)) for column in columns]
    if (wrong == _FINE).all():
        return columns, pa.nulls(len(lines), pa.string())
    return columns, pa.array(_REASONS).take(pa.array(wrong, mask=wrong == _FINE))


def split_header(line: str, separator: str) -> list[str]:
    """The fields of one line, trimmed."""
    width = line.count(separator) + 1
    while width > 1:
        columns, wrong = split_lines(pa.array([line]), Layout(separator, width, tuple(range(width))))
        if not wrong[0].is_valid:
            return [column[0].as_py().strip() for column in columns]
        width -= 1  # quoted separators do not separate
    return [line.strip().strip('"')]


def _mark_broken(lines: pa.StringArray, wrong: Codes) -> None:
    """Mark lines that are not UTF-8; Spark passes bytes on as they are."""
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        for row, raw in enumerate(lines.cast(pa.binary()).to_pylist()):
            try:
                raw.decode()
            except UnicodeDecodeError:
                wrong[row] = _REASONS.index(NOT_UTF8)


def _split(lines: pa.StringArray, layout: Layout) -> tuple[list[pa.StringArray], Codes]:
    """Lines that are neither blank nor broken, parsed at once.

    A quote that is not closed swallows the lines that follow. Their number tells, and then halves are tried until
    the culprit is alone; so each line is read as if it were alone, wherever batches begin.
    """
    count = len(lines)
    if count == 0:
        return [pa.array([], pa.string()) for _ in layout.wanted], np.empty(0, np.int64)
    widths: dict[int, int] = {}
    table = _parse(lines, layout, widths)
    if table.num_rows + len(widths) == count + 1:
        columns = [in_one_piece(column).slice(0, table.num_rows - 1) for column in table.columns]
        return _put_in_place(columns, widths, layout.width, count)
    if count == 1:
        return [pa.nulls(1, pa.string()) for _ in layout.wanted], np.array([_REASONS.index(UNCLOSED)])
    halves = [_split(half, layout) for half in (lines.slice(0, count // 2), lines.slice(count // 2))]
    columns = [pa.concat_arrays(pair) for pair in zip(halves[0][0], halves[1][0], strict=True)]
    return columns, np.concatenate([halves[0][1], halves[1][1]])


def _parse(lines: pa.StringArray, layout: Layout, widths: dict[int, int]) -> pa.Table:
    """The rows of the right width, and one of empty fields at the end; `widths` gets those of the others by row."""
    # The last row shows whether a quote of the line before it is closed.
    lines = pa.concat_arrays([lines, pa.array([layout.separator * (layout.width - 1)])])
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")
    buffer = joined.buffers()[2]
    names = [str(column) for column in range(layout.width)]
    wanted = [str(column) for column in layout.wanted]

    def note(row: pyarrow.csv.InvalidRow) -> str:
        widths[row.number - 1] = row.actual_columns
        return "skip"

    return pyarrow.csv.read_csv(
        pa.BufferReader(buffer),
        pyarrow.csv.ReadOptions(column_names=names, use_threads=False, block_size=buffer.size + 1),
        pyarrow.csv.ParseOptions(delimiter=layout.separator, ignore_empty_lines=False, invalid_row_handler=note),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=wanted,
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )


def _put_in_place(
    columns: list[pa.StringArray], widths: dict[int, int], width: int, count: int
) -> tuple[list[pa.StringArray], Codes]:
    """Parsed columns with nulls for the rows that were skipped."""
    wrong = np.full(count, _FINE)
    if not widths:
        return columns, wrong
    for row, actual in widths.items():
        wrong[row] = _REASONS.index(TOO_FEW if actual < width else TOO_MANY)
    skipped = wrong != _FINE
    places = pa.array(np.cumsum(~skipped) - 1, mask=skipped)
    return [column.take(places) for column in columns], wrong


def subscriptions_of(
    source: pa.StringArray, target: pa.StringArray, graph: Graph, *, include_self: bool
) -> tuple[pa.StringArray, pa.StringArray]:
    """Nodes and topics of edges: the source wants the target, and the target the source where undirected.

    A self-loop is a node without a topic, so that it can be counted and its user is known.
    """
    loops = pc.equal(source, target)
    nodes, topics = [source], [pc.if_else(loops, pa.scalar(None, pa.string()), target)]
    if graph == "undirected":
        forward = pc.invert(loops)
        nodes.append(target.filter(forward))
        topics.append(source.filter(forward))
    if include_self:
        users = pc.unique(pa.concat_arrays([source, target]))
        nodes.append(users)
        topics.append(users)
    return pa.concat_arrays(nodes), pa.concat_arrays(topics)


def repeated_edges(edges: int, subscriptions: int, users: int, graph: Graph, *, include_self: bool) -> int:
    """How many of the edges that are not loops are there again, from the number of distinct subscriptions."""
    distinct = subscriptions - (users if include_self else 0)
    return edges - (distinct // 2 if graph == "undirected" else distinct)


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
