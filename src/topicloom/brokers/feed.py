"""Events from a file that grows, a folder that gets files, standard input, or a collector.

Ids rise. A line that is no event is told and passed over, and so is an event whose id is not above all before it; a
collector that cannot ask a broker says so, and what that broker told before stays.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from topicloom.brokers.collect import Collected, collect
from topicloom.errors import InputError
from topicloom.model.demand import Demand, Wish
from topicloom.model.events import Event
from topicloom.model.fleet import Fleet

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


class CollectedFeed:
    """Events from what brokers tell, asked at each call.

    What is no longer told still counts for `hold_seconds`: clients of a broker that restarts come back one by one, and
    a fleet should not be changed for each of them.

    Args:
        fleet: says how brokers are asked. folder: keeps what they told. known: who wants and publishes what so far.
        first_id: the id of the next event. hold_seconds: see above. clock: gives the time.
    """

    def __init__(
        self,
        fleet: Fleet,
        folder: Path,
        known: Demand,
        first_id: int,
        hold_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fleet = fleet
        self._folder = folder
        self._collected = Collected.read(folder)
        self._known = known
        self._next_id = first_id
        self._hold_seconds = hold_seconds
        self._clock = clock
        now = clock()
        self._told = {(node, wish): now for node, wishes in known.by_node.items() for wish in wishes}

    def __call__(self) -> tuple[list[Event], list[str]]:
        """The events that lead to what is told now, and brokers that could not be asked."""
        collection = collect(self._fleet, self._collected, keep=lambda so_far: so_far.write(self._folder))
        self._collected = collection.collected
        now = self._clock()
        for node, wishes in Demand.from_table(self._collected.to_arrow()).by_node.items():
            self._told |= dict.fromkeys(((node, wish) for wish in wishes), now)
        self._told = {pair: when for pair, when in self._told.items() if now - when <= self._hold_seconds}
        wanted: dict[str, set[Wish]] = {}
        for node, wish in self._told:
            wanted.setdefault(node, set()).add(wish)
        new = Demand({node: frozenset(wishes) for node, wishes in wanted.items()})
        events = self._known.events_to(new, self._next_id)
        self._known = new
        self._next_id += len(events)
        return events, [f"{broker} cannot be asked: {why}" for broker, why in collection.problems.items()]
