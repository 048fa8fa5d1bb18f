"""Views of what brokers say of their clients, and of events between two sets of subscriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from topicloom.errors import printable
from topicloom.views.numbers import count_of
from topicloom.views.view import Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.model.events import Event

_KINDS = ("join", "leave", "change")


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
