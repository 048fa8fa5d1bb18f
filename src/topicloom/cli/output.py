"""Output of commands, and checks of paths before work begins, so that no result is lost to a misspelt folder."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable, shortened

if TYPE_CHECKING:
    from topicloom.views.numbers import Number

    Cell = str | Number

one_line = printable

_quiet = False


def see_to_streams() -> None:
    """Make streams safe to print to: closed ones go nowhere, and encodings escape what they lack."""
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
    """Print only data and errors from now on; or print everything again."""
    global _quiet
    _quiet = quiet


def say(text: str) -> None:
    """Print plain text."""
    if not _quiet:
        print(text, flush=True)


def complain(text: str) -> None:
    """Print what is wrong in one line, on stderr."""
    with suppress(OSError):  # stderr may be closed
        print(f"topicloom: {shortened(one_line(text))}", file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """Print a value as one line of JSON, at once."""
    print(json.dumps(value), flush=True)


# The following are for commands that are still on Typer; others return views.


def print_facts(facts: Sequence[tuple[str, Cell]]) -> None:
    """Print names and values, unless output is quiet."""
    from topicloom.views import terminal

    if not _quiet:
        terminal.print_facts(facts)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print a table, unless output is quiet."""
    from topicloom.views import terminal

    if not _quiet:
        terminal.print_table(headers, rows)


def print_entry(title: str, lines: Sequence[tuple[str, str]]) -> None:
    """Print a title and labelled lines of prose, unless output is quiet."""
    from topicloom.views import terminal

    if not _quiet:
        terminal.print_entry(title, lines)


# Endings that promise one kind of file.
_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".json", ".jsonl", ".parquet", ".html", ".pdf", ".toml")
_KINDS = {".parquet": "Parquet", ".json": "JSON", ".jsonl": "JSON Lines", ".html": "HTML", ".toml": "TOML"}


def require_writable(path: Path, *inputs: Path, ending: str = ".parquet") -> None:
    """Refuse a path that cannot be written, is one of the inputs, or promises another kind of file."""
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
    """Refuse a path that is no file; its content is checked when it is read."""
    from topicloom.errors import InputError

    if path.is_dir():
        raise InputError(f"{path}: is a folder; give one file")
    if not path.exists():
        raise InputError(f"{path}: no such file")


def require_new_folder(path: Path) -> None:
    """Refuse a path where a folder cannot be made, or that exists."""
    from topicloom.errors import InputError
    from topicloom.io.whole import new_folder

    if path.exists():
        raise InputError(f"{path}: is there already; give a new folder")
    with suppress(_OnlyTryingError), new_folder(path):
        raise _OnlyTryingError


class _OnlyTryingError(Exception):
    """Leaves without writing anything."""
