"""Output of commands, and checks of paths before work begins.

What commands print: lines, tables, JSON.

Checks of files before any work, so that an hour's result is not lost to a misspelt folder.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from topicloom.errors import shortened
from topicloom.views.numbers import Number

Cell = str | Number

# Wide enough for any table: what is piped has no width.
_UNLIMITED = 10_000

_quiet = False


class _Console(Console):
    """A console that leaves closed pipes to whoever runs the command."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def _console() -> Console:
    unlimited = not sys.stdout.isatty() and not os.environ.get("COLUMNS")
    width = _UNLIMITED if unlimited else None
    return _Console(width=width, highlight=False, markup=False, emoji=False, quiet=_quiet)


def see_to_streams() -> None:
    """Make sure that anything can be printed: where a stream is closed nowhere, and else whatever its encoding."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The next file that is opened would get its number, and what others print would get into that file.
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115  for good
            setattr(sys, name, stream)
    for printed in (sys.stdout, sys.stderr):
        if isinstance(printed, io.TextIOWrapper):
            printed.reconfigure(errors="backslashreplace")


def be_quiet(quiet: bool) -> None:
    """Print nothing from now on but JSON and what is wrong; or print everything again."""
    global _quiet
    _quiet = quiet


def say(text: str) -> None:
    """Print plain text."""
    if not _quiet:
        print(text, flush=True)


def complain(text: str) -> None:
    """Print what is wrong in one line, on stderr."""
    with suppress(OSError):  # nobody hears it
        print(f"topicloom: {shortened(one_line(text))}", file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """Print a value as one line of JSON, at once, for whoever follows."""
    print(json.dumps(value), flush=True)


def print_facts(facts: Sequence[tuple[str, Cell]]) -> None:
    """Print names and values, one a line, values right-aligned."""
    table = Table.grid(padding=(0, 3))
    table.add_column()
    table.add_column(justify="right")
    for fact in facts:
        table.add_row(*map(str, fact))
    _console().print(table)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table: the first column names its rows, the others hold numbers.

    Columns that do not fit beside each other are shared out evenly to tables one below the other, each with the names.
    """
    console = _console()
    widths = [
        max(cell_len(line) for cell in (header, *column) for line in str(cell).split("\n"))
        for header, column in zip(headers, zip(*rows, strict=True), strict=True)
    ]
    for gap, part in _layouts(len(headers) - 1):
        parts = [range(begin, min(begin + part, len(headers))) for begin in range(1, len(headers), part)]
        if all(widths[0] + sum(gap + widths[i] for i in columns) <= console.width for columns in parts):
            break
    for columns in parts:
        # The box itself puts one space between columns.
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, gap - 1))
        table.add_column(headers[0], no_wrap=True, vertical="bottom")
        for i in columns:
            table.add_column(headers[i], justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(str(row[i]) for i in (0, *columns)))
        if columns.start > 1:
            console.print()
        console.print(table)


def _layouts(columns: int) -> Iterator[tuple[int, int]]:
    """Ways to set columns, the best first: the gap before each, and how many of them a table has."""
    for tables in range(1, columns + 1):
        yield 2, math.ceil(columns / tables)
        yield 1, math.ceil(columns / tables)


def print_entry(title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print a title and labelled lines of prose below it, wrapped to the width there is."""
    console = _console()
    console.print(Text(title, style="bold"))
    label_width = max(cell_len(label) for label, _ in lines)
    for label, text in lines:
        wrapped = Text(text).wrap(console, max(20, console.width - label_width - 5))
        for number, line in enumerate(wrapped):
            line.rstrip()
            console.print(f"  {'' if number else label:{label_width}} ", line)
    console.print()


def one_line(text: str) -> str:
    """The text with line breaks and whatever else cannot be printed escaped, as names may hold anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


# Endings that promise one kind of file.
_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".json", ".jsonl", ".parquet", ".html", ".pdf")
_KINDS = {".parquet": "Parquet", ".json": "JSON", ".jsonl": "JSON Lines", ".html": "HTML"}


def require_writable(path: Path, *inputs: Path, ending: str = ".parquet") -> None:
    """An error where `path` cannot be written, is one of the inputs, or promises another kind of file."""
    from topicloom.errors import InputError
    from topicloom.io.whole import replacing

    if path.suffix.lower() in _ENDINGS and path.suffix.lower() != ending:
        raise InputError(f"{path}: is written as {_KINDS[ending]}; give a name that ends in {ending}")
    for given in inputs:
        if path.is_file() and given.exists() and path.samefile(given):
            raise InputError(f"{path}: is read by this command; give another file to write to")
    with suppress(_OnlyTryingError), replacing(path):
        raise _OnlyTryingError


def require_readable(path: Path) -> None:
    """An error where `path` is no file; what is in it shows when it is read."""
    from topicloom.errors import InputError

    if path.is_dir():
        raise InputError(f"{path}: is a folder; give one file")
    if not path.exists():
        raise InputError(f"{path}: no such file")


def require_new_folder(path: Path) -> None:
    """An error where a folder cannot be made at `path`, or something is there already."""
    from topicloom.errors import InputError
    from topicloom.io.whole import new_folder

    if path.exists():
        raise InputError(f"{path}: is there already; give a new folder")
    with suppress(_OnlyTryingError), new_folder(path):
        raise _OnlyTryingError


class _OnlyTryingError(Exception):
    """Leaves without writing anything."""
