"""Ask a fleet who subscribes and publishes; turn looks into events.

What was collected from a fleet, in one file: rows for `ingest` and `design`, and how far each broker was read.

The file is replaced as a whole, so whatever ends a run, rows and positions go together.

Asking all brokers of a fleet who subscribes and publishes what.

Events written as they are seen: appended to a file, or as new files in a folder.

What has been told is known from the events themselves, and from what there was before the first of them. So whatever
ends a run, the next one tells what has changed since the last event that was written: none is lost or told twice.

Following a fleet: what its brokers tell, again and again, and the events that it comes to.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.brokers.kinds import sources
from topicloom.brokers.rows import SCHEMA, BrokerRows, SourceError
from topicloom.errors import InputError
from topicloom.io.http import HttpError
from topicloom.io.tables import FILTERS, read_parquet, write_parquet
from topicloom.io.whole import replacing, write_whole
from topicloom.model.demand import Demand, roles_of
from topicloom.model.events import Event, parse_events, topics_by_node
from topicloom.model.filters import PLAIN, PROTOCOLS
from topicloom.model.fleet import Fleet
from topicloom.model.interest import Interest

FILE = "subscriptions.parquet"
_POSITIONS = b"topicloom.positions"
_COLUMNS = pa.schema([pa.field("node", pa.string()), *SCHEMA])


@dataclass(frozen=True)
class Collected:
    """What each broker told, by its name; `protocol` is that of all brokers, if it is one."""

    brokers: Mapping[str, BrokerRows] = field(default_factory=lambda: MappingProxyType({}))
    protocol: str | None = None

    def of(self, broker: str) -> BrokerRows:
        """What a broker told; nothing where it was not asked yet."""
        return self.brokers.get(broker, BrokerRows())

    def with_broker(self, broker: str, rows: BrokerRows) -> Collected:
        """The same with what one broker tells now."""
        return replace(self, brokers=MappingProxyType({**self.brokers, broker: rows}))

    @property
    def bridges(self) -> dict[str, tuple[str, ...]]:
        """By broker the bridges that it told of and Topicloom did not make."""
        return {name: each.bridges for name, each in sorted(self.brokers.items()) if each.bridges}

    def to_arrow(self) -> pa.Table:
        """All rows: `node`, `topic`, `role`, `client`, `since` and `seen`."""
        tables = [
            each.rows.add_column(0, "node", pa.repeat(pa.scalar(name, pa.string()), len(each.rows))).cast(_COLUMNS)
            for name, each in sorted(self.brokers.items())
        ]
        return pa.concat_tables(tables) if tables else _COLUMNS.empty_table()

    @property
    def filters(self) -> str | None:
        """The protocol of all brokers if topics have its wildcards and none is malformed; else None."""
        if self.protocol is None:
            return None
        protocol = PROTOCOLS[self.protocol]
        topics = self.to_arrow()["topic"].unique().to_pylist()
        wild = any(protocol.has_wildcard(topic) or protocol.without_share_group(topic) != topic for topic in topics)
        return self.protocol if wild and not any(map(protocol.problem, topics)) else None

    @classmethod
    def read(cls, folder: Path) -> Collected:
        """From a folder; nothing where it has no such file yet."""
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            table = read_parquet(path)
            positions = dict(json.loads((table.schema.metadata or {})[_POSITIONS]))
            table = table.select(_COLUMNS.names).cast(_COLUMNS)
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            raise InputError(f"{path}: is not what 'topicloom collect' wrote; give another folder") from None
        table = table.replace_schema_metadata(None)
        return cls(
            MappingProxyType(
                {
                    name: BrokerRows(table.filter(pc.equal(table["node"], name)).drop_columns(["node"]), position)
                    for name, position in positions.items()
                }
            )
        )

    def write(self, folder: Path) -> None:
        """Into a folder."""
        positions = {name: dict(each.position) for name, each in sorted(self.brokers.items())}
        metadata = {_POSITIONS: json.dumps(positions).encode()}
        if self.filters is not None:
            metadata[FILTERS.encode()] = self.filters.encode()
        table = self.to_arrow().replace_schema_metadata(metadata)
        with replacing(folder / FILE) as temporary:
            write_parquet(table, temporary)


_AT_ONCE = 8


@dataclass(frozen=True)
class Collection:
    """What was collected; brokers that could not be asked, and why; and what else is to be said of brokers.

    What brokers told before stays, where they cannot be asked now. `asked` are those that were tried.
    """

    collected: Collected
    problems: dict[str, str]
    notes: tuple[tuple[str, str], ...]
    asked: frozenset[str]


def collect(
    fleet: Fleet,
    before: Collected | None = None,
    *,
    keep: Callable[[Collected], None] = lambda _: None,
    now_us: int | None = None,
    without: Container[str] = (),
    at_once: int = _AT_ONCE,
) -> Collection:
    """Ask every broker of a fleet that it says how to ask.

    Args:
        fleet: brokers and their `sources`.
        before: what was collected before; logs are read on from there, and rows reported again keep their times.
        keep: called with what is collected so far, after each piece of a log and in the end; to write it, for example.
        now_us: the time, in microseconds since 1970; that of this machine unless given.
        without: brokers that are not asked; what they told before stays.
        at_once: how many are asked at a time.
    """
    if not fleet.sources:
        raise InputError(f"{fleet.where}: does not say how to ask any broker; give tables [brokers.NAME.collect]")
    before = before or Collected()
    names = [name for name in fleet.sources if name not in without]
    earlier = {name: before.of(name) for name in fleet.sources if name in before.brokers}
    known = sources()
    protocols = {known[source.kind][1].filters.name for source in fleet.sources.values()}
    asked = _Asked(Collected(MappingProxyType(earlier), protocols.pop() if len(protocols) == 1 else None), keep)
    now = time.time_ns() // 1000 if now_us is None else now_us

    def ask(name: str) -> None:
        try:
            kind, source = known[fleet.sources[name].kind][0], fleet.sources[name]
            for rows in kind.collect(source, name, before.of(name), now):
                asked.note(name, rows)
        except (SourceError, HttpError) as error:
            asked.problems[name] = str(error)

    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(ask, names))
    keep(asked.collected)
    notes = [(name, note) for name in fleet.sources for note in asked.notes.get(name, ())]
    problems = {name: asked.problems[name] for name in fleet.sources if name in asked.problems}
    return Collection(asked.collected, problems, tuple(notes), frozenset(names))


class _Asked:
    """What the brokers have told so far, by several threads."""

    def __init__(self, before: Collected, keep: Callable[[Collected], None]) -> None:
        self.collected = before
        self.problems: dict[str, str] = {}
        self.notes: dict[str, tuple[str, ...]] = {}
        self._keep = keep
        self._lock = threading.Lock()

    def note(self, name: str, rows: BrokerRows) -> None:
        with self._lock:
            if name in self.notes:
                # A part of a log came before: a run that is killed now goes on after it.
                self._keep(self.collected)
            self.collected = self.collected.with_broker(name, rows)
            self.notes[name] = rows.notes


_BASELINE = "_told_before.json"


class EventsLog:
    """Where events are written, and those written so far.

    Args:
        path: a file to append to, which may not be there yet; or a folder, which gets a file for each telling.
        folder: keeps what there was before the first event.
        baseline: that, unless events have been told to `path` before.
    """

    def __init__(self, path: Path, folder: Path, baseline: Demand) -> None:
        self._path = path
        self._next_id = 0
        kept = folder / _BASELINE
        told = _read_baseline(kept) if kept.exists() and path.exists() else None
        if told is not None and told[0] == str(path.resolve()):
            self._told = told[1]
        else:
            self._begin()
            self._told = baseline
            topics = {node: list(roles_of(wishes)) for node, wishes in sorted(baseline.by_node.items())}
            write_whole(kept, json.dumps({"events": str(path.resolve()), "topics": topics}))
        for file in self._files():
            _cut_to_whole_lines(file)
            events = list(parse_events(file.read_text(encoding="utf-8").split("\n"), str(file)))
            self._told = self._told.after(*events)
            self._next_id = events[-1].id + 1 if events else self._next_id

    def tell(self, now: Demand) -> list[Event]:
        """Write the events that lead from what was told to how it is now, and give them."""
        events = self._told.events_to(now, self._next_id)
        if not events:
            return []
        lines = "".join(event.to_json() + "\n" for event in events).encode()
        if self._path.is_dir():
            write_whole(self._path / f"events-{events[0].id:012}.jsonl", lines, sync=True)
        else:
            with self._path.open("ab") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        self._told = now
        self._next_id = events[-1].id + 1
        return events

    def _files(self) -> Iterator[Path]:
        if self._path.is_dir():
            yield from sorted(self._path.glob("events-*.jsonl"))
        elif self._path.exists():
            yield self._path

    def _begin(self) -> None:
        """Make the file, so that a run that is killed before it tells anything is known to have begun."""
        for file in self._files():
            if file.stat().st_size:
                raise InputError(f"{file}: has events that were not told from here; give a new file or an empty folder")
        if not self._path.is_dir():
            try:
                self._path.touch()
            except OSError as error:
                raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None


def _read_baseline(kept: Path) -> tuple[str, Demand]:
    """Where events were told, and what there was before them."""
    try:
        read = json.loads(kept.read_text(encoding="utf-8"))
        return str(read["events"]), Demand.of_topics({node: frozenset(each) for node, each in read["topics"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{kept}: is damaged; remove it, and give a new file for events") from None


def _cut_to_whole_lines(file: Path) -> None:
    """Take off what a killed run left of a line."""
    with file.open("rb+") as open_file:
        text = open_file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            open_file.truncate(whole)


@dataclass(frozen=True)
class Look:
    """One look at a fleet: what was collected, and the events since the look before."""

    collection: Collection
    events: list[Event]


def fleet_changes(
    fleet: Fleet,
    folder: Path,
    events: Path,
    *,
    every_seconds: float = 5.0,
    filters: str | None = None,
    until: Callable[[], bool] = lambda: False,
) -> Iterator[Look]:
    """Look at a fleet again and again, keep what was collected in a folder, and tell events.

    Events tell what has changed since the folder was last collected, as nodes and topics that an `Interest` of the rows
    has. Where nothing was collected before, the first look is where they begin.

    Args:
        fleet: brokers and their `sources`.
        folder: where rows are kept, as `topicloom collect` does.
        events: a file to append to, or a folder that gets a file whenever there are events.
        every_seconds: how long to wait between looks.
        filters: the protocol whose wildcards topics may have, as for an `Interest`; without it events hold topics as
            clients write them.
        until: asked before each look whether to end.
    """
    before = Collected.read(folder)
    if not before.brokers:
        before = collect(fleet, before, keep=lambda so_far: so_far.write(folder)).collected
    log = EventsLog(events, folder, _told(before, filters))
    while not until():
        collection = collect(fleet, before, keep=lambda so_far: so_far.write(folder))
        before = collection.collected
        yield Look(collection, log.tell(_told(before, filters)))
        _wait(every_seconds, until)


def _told(collected: Collected, filters: str | None) -> Demand:
    """Return what events are about: nodes and their topics, as an `Interest` has them."""
    return Demand.of_topics(topics_by_node(interest_of(collected, filters or PLAIN)))


def interest_of(collected: Collected, filters: str | None = None) -> Interest:
    """Who wants and publishes what, as designers take it; with the filters of the brokers unless others are given."""
    filters = filters or collected.filters
    return Interest.from_arrow(collected.to_arrow(), filters=filters, where="what was collected")


def _wait(seconds: float, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        time.sleep(min(0.1, max(0.0, deadline - time.monotonic())))
