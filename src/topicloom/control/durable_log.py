"""A log that survives: lines of JSON, each on the disk before anything follows from it.

Each has a checksum of itself and of the checksum before it, so that a line that is lost or moved is seen, too.

A killed process leaves at most one unfinished line, the last, which nothing followed from; it is cut off when the log
is opened again. Any other damage is an error.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from topicloom.churn.snapshot import checksum
from topicloom.errors import InputError

_CHECKSUM = 8


class DurableLog:
    """Entries in the order they were appended; `entries` are those that are on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: list[dict[str, Any]] = []
        self._last = ""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.ftruncate(self._file, self._read())
            except BaseException:
                os.close(self._file)
                raise
        except OSError as error:
            raise InputError(f"{path}: cannot be read and written ({error.strerror})") from None
        sync_folder(path.parent)

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(entry, ensure_ascii=False)
        mark = checksum(self._last + text)
        line = f"{mark} {text}\n".encode()
        try:
            before = os.fstat(self._file).st_size
            try:
                written = os.write(self._file, line)
                if written < len(line):
                    os.write(self._file, line[written:])
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, before)
                raise
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None
        self.entries.append(entry)
        self._last = mark

    def close(self) -> None:
        """End it."""
        os.close(self._file)

    def _read(self) -> int:
        """Take in all complete lines, and give how many bytes they are."""
        raw = self._path.read_bytes()
        *lines, unfinished = raw.split(b"\n")
        for number, line in enumerate(lines, 1):
            text = line[_CHECKSUM + 1 :].decode(errors="replace")
            self._last = checksum(self._last + text)
            if line[: _CHECKSUM + 1] != f"{self._last} ".encode():
                raise InputError(f"{self._path}: line {number} is damaged; put the file back from a copy")
            self.entries.append(json.loads(text))
        return len(raw) - len(unfinished)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
