"""Temporary files and folders, which the next run clears where the one that made them was killed.

Their maker holds a lock on each for as long as it lives, however it ends; so whoever gets that lock knows that it is
dead, whatever process has its number now, in this container or another.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PRIVATE = 0o700
# A process and a random number, so that a person can tell whose it is.
_OURS = re.compile(r"(\.|topicloom-).+\.[0-9]+-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_BYTES = 100

_cleared: set[Path] = set()


@contextmanager
def temporary_file(target: Path) -> Iterator[Path]:
    """An empty file beside a target, which only its owner can read; it is removed in the end if it is still there."""
    # Once in a process, as there may be thousands of files in one folder.
    if target.parent not in _cleared:
        clear_left_over(target.parent)
        _cleared.add(target.parent)
    with _locked(target.parent, f".{_cut(target.name)}", _new_file) as path:
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(target: Path, mode: int = _PRIVATE) -> Iterator[Path]:
    """An empty folder beside a target; it is removed in the end with all that is in it."""
    clear_left_over(target.parent)
    with _locked(target.parent, f".{_cut(target.name)}", lambda path: path.mkdir(mode)) as path:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """An empty folder among the system's temporary files, for its owner alone; it is removed in the end."""
    place = Path(tempfile.gettempdir())
    clear_left_over(place)
    with _locked(place, f"topicloom-{kind}", lambda path: path.mkdir(_PRIVATE)) as path:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            # Java outlives who started it for a moment, and may have made a folder anew that was cleared.
            clear_left_over(place)


def clear_left_over(folder: Path) -> None:
    """Remove what dead processes left in a folder."""
    with suppress(OSError):
        for path in [Path(entry.path) for entry in os.scandir(folder) if _OURS.fullmatch(entry.name)]:
            _clear(path)


def _clear(path: Path) -> None:
    with suppress(OSError):  # somebody else's, or one that another run is clearing
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(held)


@contextmanager
def _locked(place: Path, name: str, make: Callable[[Path], None]) -> Iterator[Path]:
    while True:
        path = place / f"{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
        make(path)
        # Another run may take it for a dead one's until it is locked.
        with suppress(FileNotFoundError):
            held = os.open(path, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks, where nothing is ever cleared
                fcntl.flock(held, fcntl.LOCK_EX)
            if _is(path, held):
                break
            os.close(held)
    try:
        yield path
    finally:
        os.close(held)


def _is(path: Path, held: int) -> bool:
    """Whether a path still leads to what is held."""
    try:
        return os.path.samestat(os.fstat(held), path.stat())
    except FileNotFoundError:
        return False


def _new_file(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _cut(name: str) -> str:
    """The beginning of a name, short enough that more can follow it."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST_BYTES])
