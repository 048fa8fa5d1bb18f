"""Checks of output files before any work, so that an hour's result is not lost to a misspelt folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# Endings that promise something else than the Parquet that is written.
_TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".json")


def require_writable(path: Path, *inputs: Path) -> None:
    """An error where `path` cannot be written, is one of the inputs, or promises not to be Parquet."""
    from topicloom.model.errors import InputError
    from topicloom.model.files import replacing

    if path.suffix.lower() in _TEXT_ENDINGS:
        raise InputError(f"{path}: is written as Parquet; give a name that ends in .parquet")
    for given in inputs:
        if path.exists() and given.exists() and path.samefile(given):
            raise InputError(f"{path}: is read by this command; give another file to write to")
    with suppress(_OnlyTryingError), replacing(path):
        raise _OnlyTryingError


class _OnlyTryingError(Exception):
    """Leaves `replacing` without replacing anything."""
