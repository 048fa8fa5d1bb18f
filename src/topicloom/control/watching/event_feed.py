"""Events from a file that grows, a folder that gets files, standard input, or a collector.

Ids rise. A line that is no event is told and passed over, and so is an event whose id is not above all before it; a
collector that cannot ask a broker says so, and what that broker told before stays.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from topicloom.errors import InputError
from topicloom.model.events import Event
from topicloom.sources.fleet_changes import Look

STANDARD_INPUT = "-"
_CHUNK = 1 << 16

# Gives what has come since it was last called, and what is wrong.
Feed = Callable[[], tuple[list[Event], list[str]]]


class LineFeed:
    """Events from lines; `last` is the highest id so far."""

    def __init__(self, path: str, last: int = -1) -> None:
        self._path = path
        self._last = last
        self._read: dict[str, int] = {}
        self._rest = b""
        if path == STANDARD_INPUT:
            os.set_blocking(sys.stdin.fileno(), False)
        elif not Path(path).exists():
            raise InputError("no such file or folder", file=path)

    def __call__(self) -> tuple[list[Event], list[str]]:
        """The events that have come, and what is wrong."""
        events, problems = [], []
        for where, line in self._lines():
            try:
                event = Event.from_json(line.decode(errors="replace"), where)
            except InputError as error:
                problems.append(str(error))
                continue
            if event.id > self._last:
                events.append(event)
                self._last = event.id
        return events, problems

    def _lines(self) -> Iterator[tuple[str, bytes]]:
        if self._path == STANDARD_INPUT:
            yield from self._piped()
            return
        path = Path(self._path)
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        for file in files:
            with file.open("rb") as opened:
                opened.seek(self._read.get(file.name, 0))
                # A line without an end is still being written.
                while (line := opened.readline()).endswith(b"\n"):
                    self._read[file.name] = opened.tell()
                    if line.strip():
                        yield str(file), line

    def _piped(self) -> Iterator[tuple[str, bytes]]:
        try:
            while chunk := os.read(sys.stdin.fileno(), _CHUNK):
                self._rest += chunk
        except BlockingIOError:
            pass
        *lines, self._rest = self._rest.split(b"\n")
        yield from (("standard input", line) for line in lines if line.strip())


def collected(looks: Iterator[Look]) -> Feed:
    """Events from looks at a fleet, of which each call takes one."""

    def look() -> tuple[list[Event], list[str]]:
        one = next(looks)
        return one.events, [f"{broker} cannot be asked: {why}" for broker, why in one.collection.problems.items()]

    return look
