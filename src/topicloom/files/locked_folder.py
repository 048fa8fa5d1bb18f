"""A folder that one process at a time works on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.errors import InputError

LOCK = "lock"


@contextmanager
def alone(folder: Path, lock_name: str = LOCK) -> Iterator[None]:
    """Make sure that no other process works on a folder, which is made where it is missing."""
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / lock_name, os.O_WRONLY | os.O_CREAT, 0o666)
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: another process is at work on it") from None
        yield
    finally:
        os.close(lock)
