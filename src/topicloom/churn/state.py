"""The state of a maintainer on disk: journal, snapshot and recovery.

A maintainer as a file: who wants what, the links in their order, who stands in for whom, and the random state.

The file is two lines: JSON, and its checksum. A maintainer that is read back does all that the one that was written
would have done, though numbers inside differ.

A journal: the events that were let happen since a snapshot, each on the disk before it happens.

Each line is a checksum and the event, or the events that were let happen jointly. The first one says which event the
snapshot has seen last. A file beside it counts the lines that are complete. So a line that a killed process left
unfinished, which was never applied, can be told from a journal that somebody cut short.

A maintainer whose state survives: a snapshot, a journal of the events since, and nobody else at work on them.

Each event is in the journal before it is applied, and what events do is determined by the state before them. So
whenever the process ends, the next one reads the snapshot, lets the events of the journal happen again, and goes on.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicloom.churn.live_overlay import Link, LiveOverlay
from topicloom.churn.maintainer import Change, EventRefused, Maintainer
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.churn.settings import Settings, maintainer, mending
from topicloom.churn.shadow import MendingMaintainer
from topicloom.errors import InputError
from topicloom.io.whole import LOCK, exclusive_lock, replacing
from topicloom.model.constraints import Constraints
from topicloom.model.events import Event
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices

_FORMAT = 1


@dataclass(frozen=True)
class Snapshot:
    """A maintainer after an event, None where it has seen none; `origin` tells what it began with."""

    maintainer: Maintainer
    settings: Settings
    origin: str
    last_event: int | None
    constraints: Constraints | None = None
    prices: Prices | None = None


def checksum(text: str) -> str:
    """Eight digits that change with the text."""
    return f"{zlib.crc32(text.encode()):08x}"


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write a maintainer; the file is on the disk when this returns."""
    maintainer = snapshot.maintainer
    overlay = maintainer.overlay()
    interest = overlay.interest
    names = interest.node_names
    assert overlay.contribution is not None
    columns = (overlay.source.tolist(), overlay.target.tolist(), overlay.contribution.tolist())
    content: dict[str, Any] = {
        "format": _FORMAT,
        "settings": asdict(snapshot.settings),
        "origin": snapshot.origin,
        "constraints": None if snapshot.constraints is None else snapshot.constraints.text,
        "prices": None if snapshot.prices is None else snapshot.prices.text,
        "last_event": snapshot.last_event,
        "nodes": {node: maintainer.topics_of(node) for node in names},
        "links": [[names[u], names[v], contribution] for u, v, contribution in zip(*columns, strict=True)],
    }
    if isinstance(maintainer, MendingMaintainer):
        content["backups"] = maintainer.backups()
        content["random"] = int(maintainer.live.scratch.random[0])
    text = json.dumps(content, ensure_ascii=False)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n{checksum(text)}\n")
        file.flush()
        os.fsync(file.fileno())


def read_snapshot(path: Path) -> Snapshot:
    """Read a maintainer."""
    text, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    if rest != checksum(text) + "\n":
        raise InputError(f"{path}: is damaged; its checksum is wrong")
    content = json.loads(text)
    if content["format"] != _FORMAT:
        raise InputError(f"{path}: was written by another version of Topicloom (format {content['format']})")
    settings = Settings(**content["settings"])
    # A snapshot of an earlier version knows neither constraints nor prices.
    text_of_constraints, text_of_prices = content.get("constraints"), content.get("prices")
    constraints = None if text_of_constraints is None else Constraints.from_text(text_of_constraints)
    prices = None if text_of_prices is None else Prices.from_text(text_of_prices)
    made = _maintainer(content, settings, constraints, prices)
    return Snapshot(made, settings, content["origin"], content["last_event"], constraints, prices)


def _maintainer(
    content: dict[str, Any], settings: Settings, constraints: Constraints | None, prices: Prices | None
) -> Maintainer:
    pairs = ((node, topic) for node, topics in content["nodes"].items() for topic in topics)
    interest = Interest.from_pairs(pairs, filters=PLAIN)
    ids = interest.node_ids
    links = [(ids[source], ids[target], contribution) for source, target, contribution in content["links"]]
    table = np.array(links, np.int32).reshape(-1, 3)
    overlay = Overlay(interest, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())
    if settings.method == "rebuild":
        return RebuildMaintainer(overlay, settings.rule, settings.rho, constraints, prices)
    live = LiveOverlay(overlay, content["random"], constraints, prices)
    live.set_backups(content["backups"])
    return mending(live, settings)


def origin_of(overlay: Overlay) -> str:
    """One text for an overlay and its interest, to tell whether a state began with them."""
    names = overlay.interest.node_names
    ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    links = json.dumps([Link(names[u], names[v]) for u, v in ends])
    return f"{overlay.interest.fingerprint}-{checksum(links)}"


_COUNT_BYTES = 20
_JOINTLY = "jointly"
# One event, or several that happen jointly.
Entry = tuple[Event, ...]


class DamagedJournal(InputError):  # noqa: N818  it says what it is
    """A journal that lacks events, or in which some are not what was written; `good` are those before that."""

    def __init__(self, path: Path, what: str, after: int | None, good: Sequence[Entry]) -> None:
        last = good[-1][-1].id if good else after
        known = "no event before that is known to be good" if last is None else f"the last good event is {last}"
        super().__init__(
            f"{what}; {known}. Put the file back as it was, or let recover go on from there with the events "
            "that follow",
            "recover",
            file=path,
        )
        self.good = tuple(good)


class Journal:
    """Appends events to a journal that is there."""

    def __init__(self, path: Path, count: int) -> None:
        self._count = count
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._counter = os.open(_counter(path), os.O_WRONLY | os.O_CREAT, 0o666)

    def append(self, *events: Event) -> None:
        """Write an event, or several that happen jointly."""
        _write(self._file, _line(_text(events)))
        self._count += 1
        os.pwrite(self._counter, f"{self._count:{_COUNT_BYTES}}".encode(), 0)

    def sync(self) -> None:
        """Return when all that was written is on the disk."""
        os.fsync(self._file)
        os.fsync(self._counter)

    def close(self) -> None:
        """End it."""
        os.close(self._file)
        os.close(self._counter)


def begin_journal(path: Path, after: int | None) -> None:
    """Make an empty journal that follows a snapshot which has seen an event last."""
    # The counter first: a journal with more lines than counted is fine, one with fewer is not.
    with replacing(_counter(path)) as temporary:
        temporary.write_text(f"{0:{_COUNT_BYTES}}")
    with replacing(path) as temporary:
        temporary.write_bytes(_line(json.dumps({"after": after})))


def read_journal(path: Path) -> tuple[int | None, list[Entry], int]:
    """The event before the journal, what each line holds, and how many bytes of it are complete lines."""
    raw = path.read_bytes()
    *lines, unfinished = raw.split(b"\n")
    after: int | None = None
    entries: list[Entry] = []
    for number, line in enumerate(lines):
        text = line[9:].decode(errors="replace")
        if line[:9] != f"{checksum(text)} ".encode():
            raise DamagedJournal(path, f"line {number + 1} is damaged", after, entries)
        if number == 0:
            after = json.loads(text)["after"]
        else:
            entries.append(_entry(text, f"{path}: line {number + 1}"))
    counted = _counted(path)
    if not lines or len(entries) < counted:
        raise DamagedJournal(
            path, f"is cut short, {counted} events were written and {len(entries)} are there", after, entries
        )
    return after, entries, len(raw) - len(unfinished)


def _text(events: Entry) -> str:
    lines = [event.to_json() for event in events]
    return lines[0] if len(lines) == 1 else f'{{"{_JOINTLY}": [{", ".join(lines)}]}}'


def _entry(text: str, where: str) -> Entry:
    fields = json.loads(text)
    if _JOINTLY not in fields:
        return (Event.from_json(text, where),)
    return tuple(Event.from_json(json.dumps(event), where) for event in fields[_JOINTLY])


def _counted(path: Path) -> int:
    try:
        return int(_counter(path).read_text())
    except (FileNotFoundError, ValueError):
        raise InputError(f"{_counter(path)}: is missing or damaged; it says how many events {path.name} has") from None


def _counter(path: Path) -> Path:
    return path.with_suffix(".count")


def _line(text: str) -> bytes:
    return f"{checksum(text)} {text}\n".encode()


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]


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
    with exclusive_lock(folder):
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
