"""Following a fleet: what its brokers tell, again and again, and the events that it comes to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topicloom.deploy.planning.fleet_file import Fleet
from topicloom.model.events import Event
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest
from topicloom.model.interest_changes import topics_by_node
from topicloom.sources.collect import Collection, collect
from topicloom.sources.collected import Collected
from topicloom.sources.events_log import EventsLog


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
    log = EventsLog(events, folder, topics_by_node(interest_of(before, filters or PLAIN)))
    while not until():
        collection = collect(fleet, before, keep=lambda so_far: so_far.write(folder))
        before = collection.collected
        yield Look(collection, log.tell(topics_by_node(interest_of(before, filters or PLAIN))))
        _wait(every_seconds, until)


def interest_of(collected: Collected, filters: str | None = None) -> Interest:
    """Who wants and publishes what, as designers take it; with the filters of the brokers unless others are given."""
    filters = filters or collected.filters
    return Interest.from_arrow(collected.to_arrow(), filters=filters, where="what was collected")


def _wait(seconds: float, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        time.sleep(min(0.1, max(0.0, deadline - time.monotonic())))
