"""Views of what brokers report of their clients, and of events between two sets of subscriptions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from topicloom.errors import printable
from topicloom.views.designs import written
from topicloom.views.numbers import count, count_of
from topicloom.views.view import Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.brokers import Collection, Fleet
    from topicloom.model.events import Event

_KINDS = ("join", "leave", "change")
# More bridges of a broker, or brokers, than these are counted, not named.
_NAMED = 5


def collection(found: Collection, fleet: Fleet, out: str | PathLike[str]) -> View:
    """What brokers reported, and the folder that it was written to."""
    rows = found.collected.to_arrow()
    roles = {row["values"]: row["counts"] for row in rows["role"].value_counts().to_pylist()}
    bridges = found.collected.bridges
    facts = {
        "brokers": len(fleet.sources),
        "brokers_not_asked": len(fleet.brokers) - len(fleet.sources),
        "brokers_without_answer": len(found.problems),
        "subscriptions": roles.get("sub", 0),
        "publications": roles.get("pub", 0),
        "topics": len(rows["topic"].unique()),
        "clients": rows.group_by(["node", "client"]).aggregate([]).num_rows,
    }
    listed = [{"broker": name, "bridge": bridge} for name, each in bridges.items() for bridge in each]
    brokers = {role: set(rows.filter(pc.equal(rows["role"], role))["node"].to_pylist()) for role in ("sub", "pub")}
    unpublished = sorted(brokers["sub"] - brokers["pub"])
    notes = [{"broker": name, "note": note} for name, note in found.notes]
    return View(
        "collection",
        "Collection",
        (
            *(Fact(key, value, count) for key, value in facts.items()),
            Fact("bridges", len(listed), count, on=On.PEOPLE),
            Fact("bridges", listed, on=On.DATA),
            Fact("brokers_without_publishers", unpublished, on=On.DATA),
            Fact("problems", found.problems, on=On.DATA),
            Fact("notes", notes, on=On.DATA),
            Fact("out", str(out), on=On.DATA),
            *(Note(printable(f"  {_bridges(name, each)}")) for name, each in bridges.items()),
            *([Note(printable(f"  {_unpublished(unpublished)}"))] if unpublished else []),
            *written(out),
        ),
    )


def _bridges(broker: str, bridges: Sequence[str]) -> str:
    more = f" and {len(bridges) - _NAMED} more" if len(bridges) > _NAMED else ""
    return f"{broker} has bridges, which are no clients: {', '.join(bridges[:_NAMED])}{more}"


def _unpublished(brokers: Sequence[str]) -> str:
    more = f" and {len(brokers) - _NAMED} more" if len(brokers) > _NAMED else ""
    return (
        f"no publishers are known at {', '.join(brokers[:_NAMED])}{more}; "
        "subscribers of a topic without known publishers count as publishers"
    )


def happened(events: Sequence[Event]) -> Iterator[View]:
    """Events as they are for programs, one by one, and with the last the number of each kind for people."""
    kinds = Counter(event.kind for event in events)
    counts = ", ".join(count_of(kinds[kind], kind) for kind in _KINDS if kinds[kind])
    for event in events:
        facts = [Fact(key, value, on=On.DATA) for key, value in json.loads(event.to_json()).items()]
        notes = [Note(f"event {event.id}: {counts}")] if event is events[-1] else []
        yield View("event", "Event", (*facts, *notes))


def events(found: Sequence[Event], out: str | PathLike[str]) -> View:
    """Events, and the file that they were written to."""
    kinds = Counter(event.kind for event in found)
    counts = ", ".join(count_of(kinds[kind], kind) for kind in _KINDS)
    return View(
        "events",
        "Events",
        (
            Fact("events", len(found), on=On.DATA),
            *(Fact(kind, kinds[kind], on=On.DATA) for kind in _KINDS),
            Fact("out", str(out), on=On.DATA),
            Note(f"{count_of(len(found), 'event')} ({counts}), written to {printable(str(out))}"),
        ),
    )
