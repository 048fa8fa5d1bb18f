"""Views of a stream that is followed: each batch, and the end."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from topicloom.errors import printable
from topicloom.views.numbers import count_of
from topicloom.views.view import Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.spark.stream import Batch


def batch(done: Batch) -> View:
    """A batch of events that was applied."""
    refused = f", {done.refused:,} refused" if done.refused else ""
    links = f"{count_of(done.links_added, 'link')} added, {done.links_removed:,} removed"
    line = f"batch {done.number}: {count_of(done.events, 'event')}{refused}; {links}"
    facts = [Fact(key, value, on=On.DATA) for key, value in asdict(done).items()]
    return View("batch", "Batch", (*facts, Note(line, on=On.PEOPLE)))


def followed(batches: int, out: str) -> View:
    """The end of a stream."""
    said = f"written to {printable(out)}" if batches else "no new events"
    return View("stream", "Stream", (Fact("batches", batches, on=On.DATA), Note(said, on=On.PEOPLE)))
