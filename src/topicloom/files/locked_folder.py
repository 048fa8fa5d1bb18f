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
def alone(folder: Path, lock_name: str = LOCK, *, what: str = "it", mode: int = 0o777) -> Iterator[None]:
    """Make sure that no other process works on a folder, which is made where it is missing.

    The lock ends with the process, however that ends; `what` is what a second process is told of.
    """
    try:
        folder.mkdir(mode, exist_ok=True)
        lock = os.open(folder / lock_name, os.O_WRONLY | os.O_CREAT, mode & 0o666)
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: another process is at work on {what}") from None
        yield
    finally:
        os.close(lock)
