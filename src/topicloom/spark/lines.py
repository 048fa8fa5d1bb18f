"""Lines of delimited text as columns, a batch at a time.

Fields may be in double quotes, with quotes inside them doubled. A line is a row: a quoted field that goes on in the
next line is not closed in its own, and its row is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from topicloom.io.tables import in_one_piece

# What is known of a raw row besides its columns, under names that hardly any file has.
LINE, FILE, BLOCK, WRONG = ("__line", "__file", "__block", "__wrong")

BOM = "\ufeff"

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


@dataclass(frozen=True)
class Run:
    """Successive rows of one block of one file; `first` is their place in the file if that is known."""

    rows: pa.RecordBatch
    file: str
    first: int | None


def runs(batches: Iterable[pa.RecordBatch]) -> Iterator[Run]:
    """Cut batches with `line`, `file` and `block` into runs."""
    place, before = None, 0
    for batch in batches:
        ends = {0}
        for name in (FILE, BLOCK):
            ends.update(pc.run_end_encode(batch[name]).run_ends.to_pylist())
        for start, stop in pairwise(sorted(ends)):
            here = (batch[FILE][start].as_py(), batch[BLOCK][start].as_py())
            if here != place:
                place, before = here, 0
            yield Run(batch.slice(start, stop - start), here[0], before if here[1] == 0 else None)
            before += stop - start


@dataclass(frozen=True)
class FirstLines:
    """Give the first two lines of each file: the header, or a line that names filters and then the header."""

    SCHEMA = "file string, line string"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass on the first lines."""
        for run in runs(batches):
            if run.first is not None and run.first < 2:
                top = run.rows.slice(0, 2 - run.first)
                lines = [text_of(line) for line in top[LINE]]
                yield pa.record_batch({"file": pa.array([run.file] * len(lines)), "line": pa.array(lines)})


@dataclass(frozen=True)
class Splitting:
    """How lines become columns.

    - `columns`: names of the columns that are wanted.
    - `headers`: the names of all columns of each file, by its path, if they differ from `usual`.
    - `said`: the files whose first line names filters.
    - `has_header`: whether files begin with the names of their columns.
    """

    separator: str
    columns: tuple[str, ...]
    usual: tuple[str, ...]
    headers: Mapping[str, tuple[str, ...]]
    said: frozenset[str]
    has_header: bool

    def __call__(self, run: Run) -> tuple[pa.RecordBatch, list[pa.StringArray], pa.StringArray]:
        """Cut a run: rows without the header, the wanted columns, and what is wrong with each row, or null."""
        rows = self._body(run)
        header = self.headers.get(run.file, self.usual)
        there = [name for name in self.columns if name in header]
        layout = Layout(self.separator, len(header), tuple(header.index(name) for name in there))
        found, wrong = split_lines(rows[LINE], layout)
        by_name = dict(zip(there, found, strict=True))
        nothing = pa.nulls(rows.num_rows, pa.string())
        return rows, [by_name.get(name, nothing) for name in self.columns], wrong

    def _body(self, run: Run) -> pa.RecordBatch:
        """The rows of a run without the lines that begin the file."""
        rows = run.rows
        if run.first == 1:
            # The line before the header names filters, and came alone.
            return rows.slice(int(self.has_header and run.file in self.said))
        if run.first != 0:
            return rows
        names_filters = run.file in self.said
        if not (names_filters or self.has_header) and text_of(rows[LINE][0]).startswith(BOM):
            first = pa.array([text_of(rows[LINE][0])[1:]], rows[LINE].type)
            columns = dict(zip(rows.schema.names, rows.columns, strict=True))
            rows = pa.record_batch(columns | {LINE: pa.concat_arrays([first, rows[LINE].slice(1)])})
        return rows.slice(names_filters + self.has_header)


@dataclass(frozen=True)
class SplitRows:
    """Lines to rows with columns, for a condition in SQL; `partitions` are columns that lines have beside."""

    splitting: Splitting
    partitions: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Split rows; none is left out."""
        for run in runs(batches):
            rows, columns, wrong = self.splitting(run)
            arrays = [rows[LINE], rows[FILE], wrong, *columns, *(rows[name] for name in self.partitions)]
            yield pa.record_batch(arrays, [LINE, FILE, WRONG, *self.splitting.columns, *self.partitions])


def text_of(line: Any) -> str:
    """A line as text, whatever its bytes."""
    return str(line.cast(pa.binary()).as_py().decode(errors="replace"))


def readable_path(uri: str) -> str:
    """A path as a person writes it, from what Spark calls a file."""
    return unquote(re.sub(r"^file:/+", "/", uri))
