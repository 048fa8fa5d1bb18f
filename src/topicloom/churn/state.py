"""A maintainer that survives its process: a store of the events since a snapshot.

Events are judged, then committed, in batches, before the first of them takes effect; those that are refused are
committed as refused. What events do is determined by the state before them. So the next process reads the snapshot,
follows the events after it, and goes on as if nothing had happened: after a kill the state is that of a whole batch.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path

from topicloom.churn.maintainer import Change, Maintainer, links_by_name
from topicloom.churn.settings import Settings, maintainer, thaw
from topicloom.errors import InputError
from topicloom.io.store import Entry, Store
from topicloom.model.constraints import Constraints
from topicloom.model.events import Event
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices

STORE = "state.sqlite"
_KIND = "maintain"
_EARLIER = ("snapshot.json", "journal.jsonl")
# Committing one event takes 31 us, of a hundred 4.4 us each; a join takes 60.
BATCH = 100
_BATCH_SECONDS = 0.05
_REFUSED, _EVENT = "refused", "of"


@dataclass(frozen=True)
class Outcome:
    """The change of an event, or why it was refused. `links_before` is the number of links before it.

    `seconds` passed until its links were known, `upkeep_seconds` until the next event could be taken.
    """

    event: Event
    change: Change | None
    error: str | None
    links_before: int
    seconds: float
    upkeep_seconds: float


@dataclass(frozen=True)
class _Judged:
    """An event of the store, and why it is refused, if it is."""

    number: int
    event: Event
    refused: str | None


class MaintainedState:
    """A maintainer that takes events, each once, in the order of their ids; with a store, it survives."""

    def __init__(self, made: Maintainer, store: Store | None = None, last_event: int | None = None) -> None:
        self.maintainer = made
        self.last_event = last_event
        self._store = store
        self._number = 0
        # Batches that are committed and have not yet taken effect.
        self._pending: deque[list[_Judged]] = deque()
        # Applies a single event, also one of an earlier run; may be replaced to look before and after it.
        self.around: Callable[[Event, Callable[[], Outcome]], Outcome] = lambda _, happen: happen()
        if store is not None:
            self._number = (store.snapshot() or (0, ""))[0]
            for _, batch in groupby(store.entries(self._number), key=lambda entry: entry.batch):
                self._pending.append([_read(entry, store.path) for entry in batch])

    def is_due(self, event: Event) -> bool:
        """Whether an event comes after all that have happened."""
        return self.last_event is None or event.id > self.last_event

    def begin(self) -> Iterator[Outcome]:
        """Follow the events of earlier runs; must be exhausted before anything else."""
        path = None if self._store is None else self._store.path
        while self._pending:
            event = self._pending[0][0].event
            try:
                yield from self._follow()
            except InputError as error:
                raise InputError(f"{path}: event {event.id} cannot be followed ({error}); put back a copy") from error

    def take(self, event: Event) -> Outcome:
        """Let an event happen that is due."""
        return next(iter(self.take_all([event])))

    def take_all(self, events: Iterable[Event], most: int = BATCH) -> Iterator[Outcome]:
        """Let events happen that are due, in the order of their ids.

        They are committed in batches of at most so many, or of what comes within 50 ms. If not all outcomes are taken,
        the rest of a batch is left to `begin`, here or in the next process.
        """
        batch: list[Event] = []
        began = 0.0
        for event in events:
            began = began if batch else time.monotonic()
            batch.append(event)
            if len(batch) >= most or time.monotonic() - began >= _BATCH_SECONDS:
                yield from self._take(batch)
                batch = []
        yield from self._take(batch)

    def take_jointly(self, events: Sequence[Event]) -> list[Outcome]:
        """Let events happen that are due, in the order of their ids, and repair the overlay once for all of them.

        The last that is not refused has the change; the others have an empty one.
        """
        return list(self._take(events, jointly=True))

    def take_batch(self, events: Sequence[Event], noted: Mapping[str, str], *, jointly: bool = False) -> list[Outcome]:
        """Let events happen that are due, in the order of their ids; all are committed at once, with what is noted."""
        return list(self._take(events, jointly=jointly, noted=noted))

    def checkpoint(self) -> None:
        """Write a snapshot in place of the events so far; it is on the disk in the end."""
        if self._store is not None:
            _write_snapshot(self._store, self._number, self.last_event, self.maintainer)
            self._store.sync()

    def sync(self) -> None:
        """Return when all events so far are on the disk."""
        if self._store is not None:
            self._store.sync()

    def noted(self) -> dict[str, str]:
        """Return what was noted in the store."""
        return {} if self._store is None else self._store.meta

    def close(self) -> None:
        """End it, as it is."""
        if self._store is not None:
            self._store.close()

    def _take(
        self, events: Sequence[Event], *, jointly: bool = False, noted: Mapping[str, str] | None = None
    ) -> Iterator[Outcome]:
        """Judge events, commit them, and let them take effect."""
        if self._pending:
            raise RuntimeError("the events of an earlier batch come first: exhaust begin()")
        if not events:
            if self._store is not None and noted:
                self._store.set_meta(noted)
            return
        refused = self.maintainer.refusals(events)
        numbers = range(self._number + 1, self._number + 1 + len(events))
        if self._store is not None:
            bodies = [_body(event, why) for event, why in zip(events, refused, strict=True)]
            numbers = self._store.append(bodies, jointly=jointly, meta=noted)
        judged = [_Judged(*fields) for fields in zip(numbers, events, refused, strict=True)]
        self._pending.extend([judged] if jointly else ([each] for each in judged))
        while self._pending:
            yield from self._follow()

    def _follow(self) -> list[Outcome]:
        """Let the next batch take effect that is committed."""
        batch = self._pending[0]
        if len(batch) > 1:
            outcomes = self._happen_jointly(batch)
        else:
            (only,) = batch
            outcomes = [self.around(only.event, lambda: self._happen(only.event, only.refused))]
        self._pending.popleft()
        self._number, self.last_event = batch[-1].number, batch[-1].event.id
        return outcomes

    def _happen_jointly(self, batch: Sequence[_Judged]) -> list[Outcome]:
        links = self.maintainer.link_count
        happened = [each.event for each in batch if each.refused is None]
        began = time.perf_counter()
        change, refused = self.maintainer.apply_jointly(happened)
        known = time.perf_counter()
        self.maintainer.settle()
        upkeep = time.perf_counter() - known
        if refused:
            raise InputError(next(iter(refused.values())))
        nothing = Outcome(batch[0].event, Change((), (), 0), None, links, 0.0, 0.0)
        outcomes = []
        for each in batch:
            if each.refused is not None:
                outcomes.append(replace(nothing, event=each.event, change=None, error=each.refused))
            elif each.event is happened[-1]:
                outcomes.append(Outcome(each.event, change, None, links, known - began, upkeep))
            else:
                outcomes.append(replace(nothing, event=each.event))
        return outcomes

    def _happen(self, event: Event, refused: str | None) -> Outcome:
        links = self.maintainer.link_count
        began = time.perf_counter()
        change = None if refused is not None else self.maintainer.apply(event)
        known = time.perf_counter()
        self.maintainer.settle()
        return Outcome(event, change, refused, links, known - began, time.perf_counter() - known)


def _body(event: Event, refused: str | None) -> str:
    """Return an entry of the store."""
    text = event.to_json()
    return text if refused is None else json.dumps({_REFUSED: refused, _EVENT: text}, ensure_ascii=False)


def _read(entry: Entry, path: Path) -> _Judged:
    where = f"{path}: entry {entry.number}"
    try:
        refused = (fields := json.loads(entry.body)).get(_REFUSED)
    except (ValueError, AttributeError):
        raise InputError(f"{where} is damaged; put the store back from a copy") from None
    return _Judged(entry.number, Event.from_json(entry.body if refused is None else fields[_EVENT], where), refused)


def _write_snapshot(store: Store, upto: int, last_event: int | None, made: Maintainer) -> None:
    store.write_snapshot(upto, json.dumps({"last_event": last_event, **made.freeze()}, ensure_ascii=False))


@contextmanager
def open_state(
    overlay: Overlay,
    settings: Settings,
    folder: Path | None = None,
    *,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    beside: Sequence[str] = (),
) -> Iterator[MaintainedState]:
    """Give a maintainer of an overlay, from scratch or as the store of a folder has it.

    A folder must have begun with the same overlay, settings, constraints and prices. A new one is empty but for the
    names in `beside`.
    """
    if folder is None:
        yield MaintainedState(maintainer(overlay, settings, constraints, prices))
        return
    _require_usable(folder, beside)
    began_with = {
        "origin": _origin(overlay),
        "settings": json.dumps(asdict(settings)),
        "constraints": "" if constraints is None else constraints.text,
        "prices": "" if prices is None else prices.text,
    }
    store = Store.open(folder / STORE, _KIND, False, first=began_with)
    try:
        _require_same(folder, store.meta, began_with)
        if store.snapshot() is None:
            _write_snapshot(store, 0, None, maintainer(overlay, settings, constraints, prices))
        try:
            content = json.loads((store.snapshot() or (0, ""))[1])
            made = thaw(content, settings, constraints, prices)
        except (ValueError, LookupError, TypeError):
            raise InputError(f"{store.path}: its snapshot is damaged; put the store back from a copy") from None
        yield MaintainedState(made, store, content["last_event"])
    finally:
        store.close()


def _origin(overlay: Overlay) -> str:
    """Return one text for an overlay and its interest, to tell whether a state began with them."""
    links = json.dumps(list(links_by_name(overlay))).encode()
    return f"{overlay.interest.fingerprint}-{hashlib.blake2b(links, digest_size=8).hexdigest()}"


def _require_usable(folder: Path, beside: Sequence[str]) -> None:
    """Make a folder if it is missing; raise InputError if it holds anything else than a state."""
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    if (folder / STORE).exists():
        return
    names = sorted(file.name for file in folder.iterdir() if not file.name.startswith((".", *beside)))
    if names and any(name in _EARLIER for name in names):
        raise InputError(f"{folder}: is a state of an earlier version of Topicloom; begin with a new folder")
    if names:
        raise InputError(f"{folder}: holds '{names[0]}' and is no state of maintain; give a new or empty folder")


def _require_same(folder: Path, kept: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Raise InputError unless a state began with what is given."""
    before, now = json.loads(kept["settings"]), json.loads(given["settings"])
    for name, value in now.items():
        if before.get(name) != value:
            raise InputError(
                f"{folder}: was begun with {name} {before.get(name)}, not {value}; give the same, or another folder"
            )
    if kept["origin"] != given["origin"]:
        raise InputError(f"{folder}: was begun with other subscriptions or links; give those, or another folder")
    if kept["constraints"] != given["constraints"]:
        raise InputError(f"{folder}: was begun with another fleet; give the same, or another folder", "fleet")
    if kept["prices"] != given["prices"]:
        raise InputError(f"{folder}: was begun with other prices; give the same, or another folder", "prices")
