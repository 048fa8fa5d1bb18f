"""The explorer: results, background work and places of nodes.

Work that may take long: done in a thread, asked how far it is, stopped.

Where nodes are on the earth, from a table with the columns node, latitude and longitude.

What is looked at: fleets with their overlays, plans, traces and papers, from files and made meanwhile.

One session of looking: what there is, what was worked out of it so far, and the views that show it.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.io.tables import names_column, read_table
from topicloom.model import Constraints, Interest, Overlay, Prices
from topicloom.model.fleet import Fleet
from topicloom.registry import Stopped, Watch
from topicloom.views.drawing import Point, SeenOverlay, seen_plan
from topicloom.views.page import Results
from topicloom.views.section import Found
from topicloom.views.what_if import Question

# How many results are kept: the oldest is forgotten first.
_KEPT_JOBS = 40
# How many pieces of work may wait.
_WAITING = 8


@dataclass(eq=False)
class Job:
    """A piece of work by its number. `doing` says in words what it is at, and `watch` how far."""

    number: int
    watch: Watch = field(default_factory=Watch)
    doing: str = "waiting"
    total: int | None = None
    future: Future[Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether there is a result, or a problem."""
        return self.future is not None and self.future.done()

    @property
    def failed(self) -> bool:
        """Whether a problem ended it."""
        return self.future is not None and self.future.done() and self.future.exception() is not None

    def result(self) -> Any:
        """What came of it; an `InputError` where it was refused or stopped."""
        assert self.future is not None
        try:
            return self.future.result()
        except Stopped:
            raise InputError("stopped") from None


class Jobs:
    """Does one piece of work after the other, in one thread: kernels use all processors where they can."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "explore")
        self._known: OrderedDict[int, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._last = 0

    def start(self, work: Callable[[Job], Any]) -> int:
        """Begin a piece of work and give its number."""
        with self._lock:
            if sum(not each.ended for each in self._known.values()) >= _WAITING:
                raise InputError("too much is waiting already; let it end first")
            self._last += 1
            job = self._known[self._last] = Job(self._last)
            while len(self._known) > _KEPT_JOBS:
                self._known.popitem(last=False)[1].watch.stop()
            job.future = self._thread.submit(work, job)
            return self._last

    def find(self, number: int) -> Job:
        """A piece of work by its number."""
        with self._lock:
            if number not in self._known:
                raise InputError(f"nothing is known of piece of work {number}; ask again")
            return self._known[number]

    def is_good(self, number: int) -> bool:
        """Whether a piece of work goes on, or has come to a result that is still known."""
        job = self._known.get(number)
        return job is not None and not job.watch.stopped and not job.failed

    def close(self) -> None:
        """Stop everything."""
        for job in list(self._known.values()):
            job.watch.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)


_LIMITS = {"latitude": 90, "longitude": 180}


def read_places(path: str | os.PathLike[str]) -> Mapping[str, Point]:
    """Latitude and longitude of nodes by name, in degrees."""
    where = os.fspath(path)
    table = read_table(path, ["node", *_LIMITS])
    names = names_column(table, "node", where).to_pylist()
    columns = [
        [_degrees(value, column, where, row) for row, value in enumerate(table[column].to_pylist(), start=1)]
        for column in _LIMITS
    ]
    return dict(zip(names, zip(*columns, strict=True), strict=True))


def _degrees(value: Any, column: str, where: str, row: int) -> float:
    limit = _LIMITS[column]
    try:
        degrees = float(value)
    except (TypeError, ValueError):
        degrees = float("nan")
    if not -limit <= degrees <= limit:
        raise InputError(f"{column} must be a number from -{limit} to {limit}, not '{value}'", file=where, row=row)
    return degrees


# Beyond so many nodes the first look is at a backbone, which takes seconds for a million.
_GREEDY = 20_000


@dataclass(frozen=True, eq=False)
class Wanted:
    """Subscriptions that overlays are for; `file` is where they are, as a command would name it."""

    name: str
    interest: Interest
    file: str


@dataclass(frozen=True, eq=False)
class NamedOverlay:
    """An overlay by the name that it is shown under. `wanted` is None where it is that of a plan."""

    name: str
    seen: SeenOverlay
    wanted: Wanted | None
    file: str | None = None


@dataclass(eq=False)
class Explored:
    """All that can be looked at. Overlays are known by their numbers, which never change; more may be added."""

    results: Results
    fleet: Fleet | None = None
    fleet_text: str | None = None
    prices: Prices | None = None
    located: Mapping[str, Point] | None = None
    wanted: list[Wanted] = field(default_factory=list)
    overlays: list[NamedOverlay] = field(default_factory=list)

    @property
    def constraints(self) -> Constraints | None:
        """Which links the fleet allows, where one is given."""
        return None if self.fleet is None else self.fleet.constraints

    def overlay(self, number: int) -> NamedOverlay:
        """An overlay by its number."""
        if not 0 <= number < len(self.overlays):
            raise InputError(f"there is no overlay {number}")
        return self.overlays[number]

    def add(self, name: str, overlay: Overlay, wanted: Wanted | None, file: str | None = None) -> int:
        """Take in an overlay and give its number; one that is there under that name stays."""
        for number, each in enumerate(self.overlays):
            if each.name == name and each.wanted is wanted:
                return number
        self.overlays.append(NamedOverlay(name, self.seen(overlay), wanted, file))
        return len(self.overlays) - 1

    def seen(self, overlay: Overlay) -> SeenOverlay:
        """An overlay with what the fleet and the places tell of its nodes."""
        located = (
            self.located if self.located and not self.located.keys().isdisjoint(overlay.interest.node_names) else None
        )
        return SeenOverlay(overlay, self._regions(overlay.interest), located)

    def _regions(self, interest: Interest) -> Mapping[str, str] | None:
        if self.fleet is None:
            return None
        rules = {name: self.fleet.constraints.rule(name).region for name in interest.node_names}
        known = {name: region for name, region in rules.items() if region is not None}
        return known or None


def collect(
    results: Results,
    found: Found,
    *,
    fleet: Fleet | None = None,
    fleet_text: str | None = None,
    prices: Prices | None = None,
    located: Mapping[str, Point] | None = None,
) -> Explored:
    """Put together what was read. Subscriptions without an overlay get one, so that there is something to look at."""
    made = Explored(results, fleet, fleet_text, prices, located)
    paths = [path for group in found.paths.values() for path in group]
    for shown in results.fleets:
        wanted = Wanted(shown.name, shown.interest, _path(shown.name, paths))
        made.wanted.append(wanted)
        for each in shown.designs:
            made.add(each.name, each.overlay, wanted, _path(each.file, paths))
        if not shown.designs:
            usual = usual_designer(shown.interest)
            made.add(f"{usual}, designed now", design(shown.interest, usual), wanted)
    for plan in results.plans:
        made.overlays.append(NamedOverlay(plan.name, seen_plan(plan.plan), None, _path(plan.name, paths)))
    return made


def usual_designer(interest: Interest) -> str:
    """Who designs where nobody says."""
    return "gm" if interest.node_count <= _GREEDY else "backbone"


def _path(name: str, paths: list[Path]) -> str:
    """The file of that name, as it was given."""
    return next((str(path) for path in paths if path.name == name or str(path) == name), name)


T = TypeVar("T")

# The commands that do the same as a question, spelt as the command line wants them.
Spell = Callable[[Question, NamedOverlay], list[str]]

# How many pictures, measures and answers are kept.
_KEPT = 60


@dataclass(eq=False)
class Explorer:
    """What views share.

    `live` tells how a watched fleet is now, and `current` whether what is looked at is still as it was, where that may
    change. Questions that take work are answered where it `asks`.
    """

    collection: Explored
    spell: Spell
    title: str = "Topicloom"
    live: Callable[[], Mapping[str, Any]] | None = None
    current: Callable[[], bool] | None = None
    asks: bool = True
    jobs: Jobs = field(default_factory=Jobs)
    _known: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made under that key, or is now; what was not asked for longest is forgotten."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                known: T = self._known[key]
                return known
        # Others are answered meanwhile; should two make the same, it is the same.
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return made
