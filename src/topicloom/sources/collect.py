"""Asking all brokers of a fleet who subscribes and publishes what."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType

from topicloom.deploy.planning.fleet_file import Fleet
from topicloom.deploy.planning.source_settings import SourceSettings
from topicloom.errors import InputError
from topicloom.sources.broker_rows import BrokerRows
from topicloom.sources.collected import Collected
from topicloom.sources.emqx_api import ask_emqx
from topicloom.sources.mosquitto_log import read_log
from topicloom.sources.nats_monitor import ask_nats
from topicloom.sources.rabbitmq_api import ask_rabbitmq, read_definitions
from topicloom.sources.source_error import SourceError

_LOOKS: dict[str, Callable[[SourceSettings, str, BrokerRows, int], BrokerRows]] = {
    "nats": ask_nats,
    "rabbitmq": ask_rabbitmq,
    "definitions": read_definitions,
    "emqx": ask_emqx,
}
_AT_ONCE = 8
# The wildcards that topics of each kind of source may have.
_PROTOCOLS = {"log": "mqtt", "emqx": "mqtt", "nats": "nats", "rabbitmq": "amqp", "definitions": "amqp"}


@dataclass(frozen=True)
class Collection:
    """What was collected; brokers that could not be asked, and why; and what else is to be said of brokers.

    What brokers told before stays, where they cannot be asked now.
    """

    collected: Collected
    problems: dict[str, str]
    notes: tuple[tuple[str, str], ...]


def collect(
    fleet: Fleet,
    before: Collected | None = None,
    *,
    keep: Callable[[Collected], None] = lambda _: None,
    now_us: int | None = None,
) -> Collection:
    """Ask every broker of a fleet that it says how to ask.

    Args:
        fleet: brokers and their `sources`.
        before: what was collected before; logs are read on from there, and times of what is told again stay.
        keep: called with what is collected so far, after each piece of a log and in the end; to write it, for example.
        now_us: the time, in microseconds since 1970; that of this machine unless given.
    """
    if not fleet.sources:
        raise InputError(f"{fleet.where}: does not say how to ask any broker; give tables [brokers.NAME.collect]")
    before = before or Collected()
    earlier = {name: before.of(name) for name in fleet.sources if name in before.brokers}
    protocols = {_PROTOCOLS[source.kind] for source in fleet.sources.values()}
    asked = _Asked(Collected(MappingProxyType(earlier), protocols.pop() if len(protocols) == 1 else None), keep)
    now = time.time_ns() // 1000 if now_us is None else now_us

    def ask(name: str) -> None:
        try:
            for rows in _looks(fleet.sources[name], name, before.of(name), now):
                asked.note(name, rows)
        except SourceError as error:
            asked.problems[name] = str(error)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(ask, fleet.sources))
    keep(asked.collected)
    notes = [(name, note) for name in fleet.sources for note in asked.notes.get(name, ())]
    problems = {name: asked.problems[name] for name in fleet.sources if name in asked.problems}
    return Collection(asked.collected, problems, tuple(notes))


def _looks(source: SourceSettings, name: str, before: BrokerRows, now_us: int) -> Iterable[BrokerRows]:
    if source.kind == "log":
        return read_log(source, before)
    clock = int(before.position.get("clock", 0))
    try:
        found = _LOOKS[source.kind](source, name, before, max(now_us, clock))
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        # Brokers and what stands before them may answer anything; what is where in an answer is not checked key by key.
        raise SourceError(f"{source.places[0]} answers with JSON of another form than expected") from None
    notes = found.notes
    if now_us < clock:
        notes = (*notes, f"the clock of this machine went back by {(clock - now_us) / 1_000_000:,.0f} s")
    return [BrokerRows(found.rows, {**found.position, "clock": max(now_us, clock)}, notes)]


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
                # A piece of a log came before: whoever is killed now goes on after it.
                self._keep(self.collected)
            self.collected = self.collected.with_broker(name, rows)
            self.notes[name] = rows.notes
