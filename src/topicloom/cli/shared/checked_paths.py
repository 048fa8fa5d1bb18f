"""Checks of files before any work, so that an hour's result is not lost to a misspelt folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# Endings that promise one kind of file.
_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".json", ".jsonl", ".parquet", ".html", ".pdf")
_KINDS = {".parquet": "Parquet", ".json": "JSON", ".jsonl": "JSON Lines", ".html": "HTML"}


def require_writable(path: Path, *inputs: Path, ending: str = ".parquet") -> None:
    """An error where `path` cannot be written, is one of the inputs, or promises another kind of file."""
    from topicloom.errors import InputError
    from topicloom.files.atomic import replacing

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
    from topicloom.files.whole_folder import new_folder

    if path.exists():
        raise InputError(f"{path}: is there already; give a new folder")
    with suppress(_OnlyTryingError), new_folder(path):
        raise _OnlyTryingError


class _OnlyTryingError(Exception):
    """Leaves without writing anything."""
