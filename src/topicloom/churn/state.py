"""A maintainer whose state survives: a snapshot, a journal of the events since, and nobody else at work on them.

Each event is in the journal before it is applied, and what events do is determined by the state before them. So
whenever the process ends, the next one reads the snapshot, lets the events of the journal happen again, and goes on.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.churn.journal import DamagedJournal, Entry, Journal, begin_journal, read_journal
from topicloom.churn.maintainer import Change, EventRefused, Maintainer
from topicloom.churn.methods import Settings, maintainer
from topicloom.churn.snapshot import Snapshot, origin_of, read_snapshot, write_snapshot
from topicloom.errors import InputError
from topicloom.files.locked_folder import LOCK, alone
from topicloom.model.constraints import Constraints
from topicloom.model.events import Event
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices

_SNAPSHOT = "snapshot.json"
_JOURNAL = "journal.jsonl"
_OURS = (_JOURNAL, "journal.count", LOCK)


@dataclass(frozen=True)
class Outcome:
    """What became of an event: a change, or why it was refused. `links_before` is how many links there were.

    `seconds` passed until its links were known, `upkeep_seconds` until the next event could be taken.
    """

    event: Event
    change: Change | None
    error: str | None
    links_before: int
    seconds: float
    upkeep_seconds: float


class LivingState:
    """A maintainer that takes events, each once, in the order of their ids; with a folder, it survives."""

    def __init__(
        self, snapshot: Snapshot, journal: Journal | None = None, folder: Path | None = None, seen: Sequence[Entry] = ()
    ) -> None:
        self.maintainer: Maintainer = snapshot.maintainer
        self.last_event = snapshot.last_event
        self._settings = snapshot.settings
        self._origin = snapshot.origin
        self._constraints, self._prices = snapshot.constraints, snapshot.prices
        self._journal = journal
        self._folder = folder
        # Events that an earlier run has seen since its snapshot.
        self._seen = deque(seen)
        # What lets a single event happen, also one of the journal; replaced by who wants to look before and after it.
        self.around: Callable[[Event, Callable[[], Outcome]], Outcome] = lambda _, happen: happen()

    def is_due(self, event: Event) -> bool:
        """Whether an event comes after all that have happened."""
        return self.last_event is None or event.id > self.last_event

    def take(self, event: Event) -> Outcome:
        """Let an event happen that is due."""
        assert not self._seen, "the journal comes first"
        if self._journal is not None:
            self._journal.append(event)
        return self._happen(event)

    def take_jointly(self, events: Sequence[Event]) -> list[Outcome]:
        """Let events happen that are due, in the order of their ids, and mend the overlay once for all of them.

        The last that is not refused has the change; the others have an empty one.
        """
        assert not self._seen, "the journal comes first"
        if self._journal is not None and events:
            self._journal.append(*events)
        return self._happen_jointly(tuple(events))

    def begin(self) -> Iterator[Outcome]:
        """Let the events of the journal happen again; must be gone through before anything else."""
        while self._seen:
            yield from self._happen_jointly(self._seen.popleft())

    def checkpoint(self) -> None:
        """Write a snapshot and begin a new journal."""
        if self._folder is None or self._journal is None:
            return
        within = (self._constraints, self._prices)
        snapshot = Snapshot(self.maintainer, self._settings, self._origin, self.last_event, *within)
        write_snapshot(self._folder / _SNAPSHOT, snapshot)
        self._journal.close()
        begin_journal(self._folder / _JOURNAL, self.last_event)
        self._journal = Journal(self._folder / _JOURNAL, 0)

    def sync(self) -> None:
        """Return when all events so far are on the disk."""
        if self._journal is not None:
            self._journal.sync()

    def close(self) -> None:
        """End it, as it is."""
        if self._journal is not None:
            self._journal.close()

    def _happen_jointly(self, events: Entry) -> list[Outcome]:
        if len(events) < 2:
            return [self._happen(event) for event in events]
        links = self.maintainer.link_count
        began = time.perf_counter()
        change, refused = self.maintainer.apply_jointly(events)
        known = time.perf_counter()
        self.maintainer.settle()
        upkeep = time.perf_counter() - known
        self.last_event = events[-1].id
        happened = [event for event in events if event.id not in refused]
        nothing = Outcome(events[0], Change((), (), 0), None, links, 0.0, 0.0)
        outcomes = {event.id: replace(nothing, event=event) for event in happened}
        for event in happened[-1:]:
            outcomes[event.id] = Outcome(event, change, None, links, known - began, upkeep)
        for event in events:
            if event.id in refused:
                outcomes[event.id] = replace(nothing, event=event, change=None, error=refused[event.id])
        return [outcomes[event.id] for event in events]

    def _happen(self, event: Event) -> Outcome:
        return self.around(event, lambda: self._applied(event))

    def _applied(self, event: Event) -> Outcome:
        links = self.maintainer.link_count
        began = time.perf_counter()
        change, error = None, None
        try:
            change = self.maintainer.apply(event)
        except EventRefused as refusal:
            error = str(refusal)
        known = time.perf_counter()
        self.maintainer.settle()
        self.last_event = event.id
        return Outcome(event, change, error, links, known - began, time.perf_counter() - known)


@contextmanager
def living(
    overlay: Overlay,
    settings: Settings,
    folder: Path | None = None,
    *,
    recover: bool = False,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
) -> Iterator[LivingState]:
    """A maintainer of an overlay, from scratch or as the folder has it.

    A folder must have begun with the same overlay, settings, constraints and prices. `recover` accepts a damaged
    journal up to the last good event, and keeps the damaged one aside.
    """
    if folder is None:
        yield LivingState(_begun(overlay, settings, constraints, prices))
        return
    with alone(folder):
        if not (folder / _SNAPSHOT).exists():
            _require_unused(folder)
            begin_journal(folder / _JOURNAL, None)
            write_snapshot(folder / _SNAPSHOT, _begun(overlay, settings, constraints, prices))
        snapshot = read_snapshot(folder / _SNAPSHOT)
        origin = origin_of(overlay)
        _require_same(folder, snapshot, settings, origin)
        if snapshot.constraints != constraints:
            raise InputError(f"{folder}: was begun with another fleet; give the same, or another folder", "fleet")
        if (snapshot.prices and snapshot.prices.text) != (prices and prices.text):
            raise InputError(f"{folder}: was begun with other prices; give the same, or another folder", "prices")
        events = _journalled(folder / _JOURNAL, snapshot.last_event, recover=recover)
        state = LivingState(snapshot, Journal(folder / _JOURNAL, len(events)), folder, events)
        try:
            yield state
        finally:
            state.close()


def _journalled(path: Path, last_event: int | None, *, recover: bool) -> list[Entry]:
    """The events that follow a snapshot; an unfinished line is cut off."""
    try:
        after, events, complete = read_journal(path)
    except DamagedJournal as damage:
        if not recover:
            raise
        good = [entry for entry in damage.good if last_event is None or entry[-1].id > last_event]
        path.replace(path.with_suffix(".damaged"))
        begin_journal(path, last_event)
        journal = Journal(path, 0)
        for entry in good:
            journal.append(*entry)
        journal.close()
        return good
    except FileNotFoundError:
        raise InputError(f"{path}: is missing; the state is not whole without it") from None
    if after == last_event:
        os.truncate(path, complete)
        return events
    if last_event is None or (after is not None and after > last_event):
        raise InputError(f"{path}: follows event {after}, but the snapshot beside it has seen {last_event} last")
    # The process ended after it wrote the snapshot and before it began this journal anew.
    begin_journal(path, last_event)
    return []


def _require_unused(folder: Path) -> None:
    """An error where a folder that has no snapshot is not one that a run had just begun to make."""
    journal = folder / _JOURNAL
    if journal.exists() and read_journal(journal)[1]:
        raise InputError(f"{folder / _SNAPSHOT}: is missing; {_JOURNAL} beside it is no use without it")
    others = [file.name for file in folder.iterdir() if not file.name.startswith(".") and file.name not in _OURS]
    if others:
        raise InputError(f"{folder}: holds '{min(others)}' and is no state of maintain; give a new or empty folder")


def _begun(overlay: Overlay, settings: Settings, constraints: Constraints | None, prices: Prices | None) -> Snapshot:
    """A maintainer that has seen no event."""
    made = maintainer(overlay, settings, constraints, prices)
    return Snapshot(made, settings, origin_of(overlay), None, constraints, prices)


def _require_same(folder: Path, snapshot: Snapshot, settings: Settings, origin: str) -> None:
    for name, value in vars(settings).items():
        kept = getattr(snapshot.settings, name)
        if kept != value:
            raise InputError(f"{folder}: was begun with {name} {kept}, not {value}; give the same, or another folder")
    if snapshot.origin != origin:
        raise InputError(f"{folder}: was begun with other subscriptions or links; give those, or another folder")
