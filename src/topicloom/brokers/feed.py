"""Events from a file that grows, a folder that gets files, standard input, or a collector.

The ids of events must rise. A line that is no event is reported and skipped, and so is an event with an id that is not
higher than all ids before it. A broker that cannot be asked is reported, and keeps what it wanted.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from topicloom.brokers.collect import Collected, Collection, collect
from topicloom.errors import InputError
from topicloom.model.demand import Demand, Wish
from topicloom.model.events import Event
from topicloom.model.fleet import Fleet

STANDARD_INPUT = "-"
_CHUNK = 1 << 16
_TAIL_BYTES = 256

# Gives what has come since it was last called, and what is wrong.
Feed = Callable[[], tuple[list[Event], list[str]]]


@dataclass(frozen=True)
class _Read:
    """How far a file was read: its offset, and the hash of the bytes before that, by which the file is known."""

    offset: int
    tail: str

    @classmethod
    def of(cls, file: IO[bytes], offset: int) -> _Read:
        """How far an open file was read."""
        file.seek(max(0, offset - _TAIL_BYTES))
        tail = file.read(min(offset, _TAIL_BYTES))
        return cls(offset, hashlib.blake2b(tail, digest_size=8).hexdigest())


class LineFeed:
    """Events from lines; `last` is the highest id so far.

    A file may be rotated: if it is another one now, the rest of the old one is read if that lies beside it, then the
    new one from its beginning. A late event, with an id that is not higher than all ids before it, is reported and
    skipped. Events of a file that is read again are not reported.

    Args:
        path: a file, a folder of files, or `-` for standard input.
        last: the highest id of an event before.
        kept: what `kept` returned in an earlier run.
    """

    def __init__(self, path: str, last: int = -1, kept: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._last = last
        self._key = f"feed {path}"
        self._read: dict[str, _Read] = {}
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._rest = b""
        self._kept = {self._key: (kept or {}).get(self._key, "{}")}
        if path == STANDARD_INPUT:
            os.set_blocking(sys.stdin.fileno(), False)
        elif not Path(path).exists():
            raise InputError("no such file or folder", file=path)
        with suppress(ValueError, TypeError, AttributeError):
            self._read = {name: _Read(*read) for name, read in json.loads(self._kept[self._key]).items()}

    def kept(self) -> Mapping[str, str]:
        """How far files were read, to be committed with their events."""
        return self._kept

    def __call__(self) -> tuple[list[Event], list[str]]:
        """The events that have come, and what is wrong."""
        if self._path != STANDARD_INPUT and not self._changed():
            return [], []
        events: list[Event] = []
        problems: list[str] = []
        late: list[int] = []
        for where, line, is_new in self._lines(problems):
            try:
                event = Event.from_json(line.decode(errors="replace"), where)
            except InputError as error:
                problems.append(str(error))
                continue
            if event.id > self._last:
                events.append(event)
                self._last = event.id
            elif is_new:
                late.append(event.id)
        if late:
            more = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
            problems.append(
                f"{self._path}: event {late[0]} is skipped, as its id is not higher than {self._last}{more}"
            )
        self._kept = {self._key: json.dumps({name: [one.offset, one.tail] for name, one in self._read.items()})}
        return events, problems

    def _changed(self) -> bool:
        """Whether a file is other than it was when it was last read: one `stat` for each."""
        seen = {}
        path = Path(self._path)
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            with suppress(FileNotFoundError):
                found = file.stat()
                seen[str(file)] = (found.st_ino, found.st_size, found.st_mtime_ns)
        if not seen and not path.is_dir():
            seen[self._path] = (0, 0, 0)
        if seen == self._seen:
            return False
        self._seen = seen
        return True

    def _lines(self, problems: list[str]) -> Iterator[tuple[str, bytes, bool]]:
        """Whole lines with where they are, and whether they were never read before."""
        if self._path == STANDARD_INPUT:
            yield from ((where, line, True) for where, line in self._piped())
            return
        for name in self._seen:
            try:
                yield from self._lines_of(Path(name), problems)
            except OSError as error:
                problems.append(f"{name}: cannot be read ({error.strerror}); it is read on when it is back")

    def _lines_of(self, path: Path, problems: list[str]) -> Iterator[tuple[str, bytes, bool]]:
        left, is_new = self._read.get(path.name, _Read(0, "")), True
        with path.open("rb") as file:
            if left.offset and _Read.of(file, left.offset) != left:
                is_new = False
                old = self._rotated(path, left)
                if old is None:
                    problems.append(f"{path}: is another file than before; lines between may be missing")
                else:
                    yield from ((str(old), line, True) for line, _ in _whole_lines(old, left.offset))
                left = _Read(0, "")
        end = left.offset
        for line, after in _whole_lines(path, left.offset):
            end = after
            yield str(path), line, is_new
        if end != left.offset or not is_new:
            with path.open("rb") as file:
                self._read[path.name] = _Read.of(file, end)

    def _rotated(self, path: Path, left: _Read) -> Path | None:
        """The file of another name that was read before."""
        for other in sorted(path.parent.glob(f"{glob.escape(path.stem)}*")):
            if other != path and other.is_file():
                with other.open("rb") as file:
                    if _Read.of(file, left.offset) == left:
                        return other
        return None

    def _piped(self) -> Iterator[tuple[str, bytes]]:
        try:
            while chunk := os.read(sys.stdin.fileno(), _CHUNK):
                self._rest += chunk
        except BlockingIOError:
            pass
        *lines, self._rest = self._rest.split(b"\n")
        yield from (("standard input", line) for line in lines if line.strip())


def _whole_lines(path: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    """Lines of a file from an offset on, with where each ends; one without an end is still being written."""
    with path.open("rb") as file:
        file.seek(offset)
        while (line := file.readline()).endswith(b"\n"):
            if line.strip():
                yield line, file.tell()


class CollectedFeed:
    """Events from the answers of brokers.

    What a broker no longer reports still counts for `hold_seconds`: clients of a broker that restarts come back one by
    one, and a fleet should not be changed for each of them.

    Args:
        fleet: says how brokers are asked.
        folder: keeps what they reported.
        known: who wants and publishes what so far.
        first_id: the id of the next event.
        hold_seconds: see above.
        clock: gives the time.
        away: gives brokers that are not asked now.
        pool: asks beside the turns, so that a broker that hangs delays none; each call asks and waits without it.
        at_once: how many brokers are asked at a time.
    """

    def __init__(
        self,
        fleet: Fleet,
        folder: Path,
        known: Demand,
        first_id: int,
        hold_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        away: Callable[[], Iterable[str]] = tuple,
        pool: Executor | None = None,
        at_once: int = 32,
    ) -> None:
        self._fleet = fleet
        self._folder = folder
        self._collected = Collected.read(folder)
        self._known = known
        self._next_id = first_id
        self._hold_seconds = hold_seconds
        self._clock = clock
        self._away = away
        self._pool = pool
        self._at_once = at_once
        self._asking: Future[Collection] | None = None
        self._problems: list[str] = []
        now = clock()
        self._told = {(node, wish): now for node, wishes in known.by_node.items() for wish in wishes}

    def __call__(self) -> tuple[list[Event], list[str]]:
        """The events that lead to what is reported now, and brokers that could not be asked."""
        if self._pool is None:
            return self._taken(self._ask(frozenset(self._away())))
        events: list[Event] = []
        if self._asking is not None and self._asking.done():
            events, self._problems = self._taken(self._asking.result())
            self._asking = None
        if self._asking is None:
            self._asking = self._pool.submit(self._ask, frozenset(self._away()))
        return events, self._problems

    def _ask(self, away: frozenset[str]) -> Collection:
        def keep(so_far: Collected) -> None:
            so_far.write(self._folder)

        return collect(self._fleet, self._collected, keep=keep, without=away, at_once=self._at_once)

    def _taken(self, collection: Collection) -> tuple[list[Event], list[str]]:
        self._collected = collection.collected
        now = self._clock()
        for node, wishes in Demand.from_table(self._collected.to_arrow()).by_node.items():
            self._told |= dict.fromkeys(((node, wish) for wish in wishes), now)
        # A broker that is not asked, or does not answer, wants what it wanted.
        answered = collection.asked - collection.problems.keys()
        self._told |= dict.fromkeys((pair for pair in self._told if pair[0] not in answered), now)
        self._told = {pair: when for pair, when in self._told.items() if now - when <= self._hold_seconds}
        wanted: dict[str, set[Wish]] = {}
        for node, wish in self._told:
            wanted.setdefault(node, set()).add(wish)
        new = Demand({node: frozenset(wishes) for node, wishes in wanted.items()})
        events = self._known.events_to(new, self._next_id)
        self._known = new
        self._next_id += len(events)
        return events, [f"{broker} cannot be asked: {why}" for broker, why in collection.problems.items()]
