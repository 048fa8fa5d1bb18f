"""Cutting lines of delimited text into columns, a batch at a time.

Fields may be in double quotes, with quotes inside them doubled. A line is a row: a quoted field that goes on in the
next line is not closed in its own, and its row is bad.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from topicloom.files.columns import in_one_piece

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
