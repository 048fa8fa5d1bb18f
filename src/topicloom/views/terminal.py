"""Views and their parts in a terminal: facts in two columns, tables, entries of prose, notes."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NoReturn

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from topicloom.errors import printable
from topicloom.views.numbers import Number
from topicloom.views.view import Column, Entry, Fact, Note, On, Table, View

Cell = str | Number

# Wide enough for any table: a pipe has no width.
_UNLIMITED = 10_000


class _Console(Console):
    """A console that raises where a pipe is closed."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console() -> Console:
    """A console on stdout, as wide as the terminal, or as COLUMNS says."""
    unlimited = not sys.stdout.isatty() and not os.environ.get("COLUMNS")
    return _Console(width=_UNLIMITED if unlimited else None, highlight=False, markup=False, emoji=False)


def show(view: View) -> None:
    """Print a view and the views inside."""
    blocks = [block for block in view.blocks if On.TEXT in block.on]
    last: type | None = None
    for kind, group in groupby(blocks, type):
        if last in (Fact, Table) and kind is not Note:
            print()
        _SHOWN[kind](group)
        last = kind
    for inner in view.inside:
        show(inner)


def _show_facts(facts: Iterable[Fact]) -> None:
    print_facts([(fact.label, fact.shown) for fact in facts])


def _show_tables(tables: Iterable[Table]) -> None:
    for number, table in enumerate(tables):
        if number:
            print()
        columns: list[tuple[int, Column]] = [
            (i, column) for i, column in enumerate(table.columns) if On.TEXT in column.on
        ]
        print_table(
            [column.title or column.key for _, column in columns],
            [[column.show(row[i]) for i, column in columns] for row in table.rows],
        )


def _show_entries(entries: Iterable[Entry]) -> None:
    for entry in entries:
        print_entry(entry.title, entry.lines)


def _show_notes(notes: Iterable[Note]) -> None:
    for note in notes:
        print(note.text, flush=True)


_SHOWN: dict[type, Callable[[Iterable[Any]], None]] = {
    Fact: _show_facts,
    Table: _show_tables,
    Entry: _show_entries,
    Note: _show_notes,
}


def print_facts(facts: Sequence[tuple[str, Cell]]) -> None:
    """Print names and values, one a line, values right-aligned."""
    table = RichTable.grid(padding=(0, 3))
    table.add_column()
    table.add_column(justify="right")
    for fact in facts:
        table.add_row(*map(str, fact))
    console().print(table)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table: the first column names its rows, the others hold numbers.

    Columns that do not fit side by side are shared out evenly to tables one below the other, each with the names.
    """
    out = console()
    widths = [
        max(cell_len(line) for cell in (header, *column) for line in str(cell).split("\n"))
        for header, column in zip(headers, zip(*rows, strict=True), strict=True)
    ]
    for gap, part in _layouts(len(headers) - 1):
        parts = [range(begin, min(begin + part, len(headers))) for begin in range(1, len(headers), part)]
        if all(widths[0] + sum(gap + widths[i] for i in columns) <= out.width for columns in parts):
            break
    for columns in parts:
        # The box itself puts one space between columns.
        table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, gap - 1))
        table.add_column(headers[0], no_wrap=True, vertical="bottom")
        for i in columns:
            table.add_column(headers[i], justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(str(row[i]) for i in (0, *columns)))
        if columns.start > 1:
            out.print()
        out.print(table)


def _layouts(columns: int) -> Iterator[tuple[int, int]]:
    """Layouts, the best first: the gap before each column, and how many columns a table has."""
    for tables in range(1, columns + 1):
        yield 2, math.ceil(columns / tables)
        yield 1, math.ceil(columns / tables)


def print_entry(title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print a title and labelled lines of prose below it, wrapped to the width there is."""
    out = console()
    out.print(Text(title, style="bold"))
    label_width = max(cell_len(label) for label, _ in lines)
    for label, text in lines:
        wrapped = Text(printable(text)).wrap(out, max(20, out.width - label_width - 5))
        for number, line in enumerate(wrapped):
            line.rstrip()
            out.print(f"  {'' if number else label:{label_width}} ", line)
    out.print()
