"""Views of plans that were run with real brokers: what became of the messages."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.views.numbers import count, count_of, mean, seconds
from topicloom.views.view import Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.brokers.live import DeliveryCounts, Mending, Proof
    from topicloom.brokers.live_change import ChangeProof

_SHOWN = 5
_CHANGE_COUNTS = ("published", "expected", "delivered", "lost", "doubled", "unwanted")
_TOTALS = ("lost", "doubled", "unwanted", "delivered")


def proof(found: Proof) -> View:
    """What became of the messages of a plan, and of those after a broker was stopped."""
    mending = found.mending
    parts = [found.counts, *([mending.counts] if mending else [])]
    data: dict[str, Any] = {
        "brokers": found.brokers,
        "links": found.links,
        "topics": found.topics,
        **{name: sum(getattr(part, name) for part in parts) for name in _TOTALS},
        "seconds": found.seconds,
        "seconds_until_up": found.seconds_until_up,
        **_part(found.counts),
    }
    if mending is not None:
        data["kill"] = _killed(mending)
    busiest = sorted(found.counts.link_messages.items(), key=lambda row: (-row[1], row[0]))[:_SHOWN]
    return View(
        "test",
        "Test",
        (
            *(Fact(key, value, on=On.DATA) for key, value in data.items()),
            Fact("brokers", found.brokers, count, on=On.PEOPLE),
            Fact("links", found.links, count, on=On.PEOPLE),
            Fact("topics", found.topics, count, on=On.PEOPLE),
            Fact("seconds_until_up", found.seconds_until_up, seconds, "seconds until all links were up", On.PEOPLE),
            *_counted(found.counts),
            Fact("seconds", found.seconds, seconds, on=On.PEOPLE),
            *([Note("busiest links:")] if busiest else []),
            *(Note(f"  {printable(' - '.join(link))}: {count_of(number, 'message')}") for link, number in busiest),
            *([] if mending is None else _mended(mending)),
        ),
    )


def _part(counts: DeliveryCounts) -> dict[str, Any]:
    links = [{"link": link, "messages": number} for link, number in counts.link_messages.items()]
    return {
        "published": counts.published,
        "relayed": counts.relayed,
        "latency_ms": counts.latency_ms,
        "messages_per_link": links,
    }


def _killed(mending: Mending) -> dict[str, Any]:
    return {
        "broker": mending.broker,
        "seconds": mending.seconds,
        "reloaded": mending.reloaded,
        "links_added": mending.added,
        "links_removed": mending.removed,
        **{name: getattr(mending.counts, name) for name in _TOTALS},
        **_part(mending.counts),
    }


def _mended(mending: Mending) -> list[Note | Fact]:
    return [
        Note(f"\nwithout {printable(mending.broker)}:"),
        Fact("seconds", mending.seconds, seconds, "seconds until repaired", On.PEOPLE),
        Fact("links_added", len(mending.added), count, on=On.PEOPLE),
        Fact("links_removed", len(mending.removed), count, on=On.PEOPLE),
        Fact("reloaded", len(mending.reloaded), count, "brokers restarted", On.PEOPLE),
        *_counted(mending.counts),
    ]


def _counted(counts: DeliveryCounts) -> list[Fact]:
    names = ("published", "delivered", "lost", "doubled", "unwanted", "relayed")
    latency = counts.latency_ms
    return [
        *(Fact(name, getattr(counts, name), count, on=On.PEOPLE) for name in names),
        Fact("median", latency.get("median", 0.0), mean, "latency in ms, median", On.PEOPLE),
        Fact("p99", latency.get("p99", 0.0), mean, "latency in ms, p99", On.PEOPLE),
    ]


def change(found: ChangeProof) -> View:
    """What became of messages while a fleet changed from one plan to another."""
    silent = sorted(found.counts.silence.items(), key=lambda row: (-row[1], row[0]))[:_SHOWN]
    longest = 1000 * silent[0][1] if silent else 0.0
    return View(
        "change",
        "Change",
        (
            *(Fact(key, value, on=On.DATA) for key, value in asdict(found).items()),
            Fact("brokers", found.brokers, count, on=On.PEOPLE),
            Fact("steps", found.steps, count, on=On.PEOPLE),
            Fact("seconds", found.seconds, seconds, on=On.PEOPLE),
            *(Fact(name, getattr(found.counts, name), count, on=On.PEOPLE) for name in _CHANGE_COUNTS),
            Fact("silence", longest, mean, "longest silence in ms", On.PEOPLE),
            Note("longest silences:"),
            *(Note(f"  {printable(topic)}: {1000 * length:,.0f} ms") for topic, length in silent),
        ),
    )
