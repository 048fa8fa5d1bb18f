"""What is known of a fleet under control, for people and programs."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any

from topicloom.control.watching.controller import Controller
from topicloom.control.watching.left_out import LeftOut
from topicloom.metrics import measure
from topicloom.model.overlay import Overlay
from topicloom.present.html import rendered
from topicloom.present.numbers import count_of

_LATEST = 20
_HISTORY = 300
# More brokers than these are counted, not named.
_NAMED = 5


@dataclass(frozen=True)
class FleetStatus:
    """A fleet at one time. A link is down where one of its brokers does not answer.

    `support` has the latest times and how much of the overlay's merging was done then; 1 where every topic is whole.
    """

    at: float
    brokers: tuple[str, ...]
    away: tuple[str, ...]
    silent: tuple[str, ...]
    not_looked_at: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    links_down: tuple[tuple[str, str], ...]
    max_degree: int
    topics: int
    decisions: int
    last_event: int
    applied: int
    waiting: str | None
    problems: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    support: tuple[tuple[float, float], ...]
    latest: tuple[str, ...]


class StatusBoard:
    """Keeps the present status, which others may read at any time."""

    def __init__(self) -> None:
        self._support: deque[tuple[float, float]] = deque(maxlen=_HISTORY)
        self.present: FleetStatus | None = None
        # After how many decisions, and the links that they led to.
        self.decided: tuple[int, Overlay] | None = None

    def update(self, controller: Controller, now: float) -> None:
        """Take in how a fleet is after a turn."""
        decisions = controller.decisions
        overlay = decisions.overlay()
        names = overlay.interest.node_names
        links = tuple((names[u], names[v]) for u, v in zip(overlay.source, overlay.target, strict=True))
        self.decided = (decisions.count, overlay)
        self._support.append((now, _support(overlay, relays=controller.settings.target == "nats")))
        self.present = FleetStatus(
            at=now,
            brokers=tuple(sorted(decisions.wanted)),
            away=tuple(sorted(decisions.away)),
            silent=tuple(sorted(controller.silent)),
            not_looked_at=tuple(name for name in sorted(decisions.wanted) if not controller.looks_at(name)),
            links=links,
            links_down=tuple(link for link in links if not controller.silent.isdisjoint(link)),
            max_degree=int(overlay.degrees.max(initial=0)),
            topics=overlay.interest.topic_count,
            decisions=decisions.count,
            last_event=decisions.last_event,
            applied=controller.applied,
            waiting=controller.waiting,
            problems=controller.problems,
            left_out=decisions.left_out,
            support=tuple(self._support),
            latest=tuple(_said(entry) for entry in decisions.latest(_LATEST)),
        )

    def as_table(self) -> dict[str, Any]:
        """The present status by the names of its fields; nothing before the first look."""
        return {} if self.present is None else asdict(self.present)

    def as_json(self) -> str:
        """The present status."""
        return json.dumps(self.as_table()) + "\n"

    def as_metrics(self) -> str:
        """The present status in the text format of Prometheus."""
        status = self.present
        if status is None:
            return ""
        values = {
            "brokers": (len(status.brokers), "Brokers of the fleet."),
            "brokers_away": (len(status.away), "Brokers that count as gone."),
            "brokers_silent": (len(status.silent), "Brokers that did not answer at the last look."),
            "brokers_not_looked_at": (len(status.not_looked_at), "Brokers that are never asked whether they work."),
            "links": (len(status.links), "Links of the overlay."),
            "links_down": (len(status.links_down), "Links with a broker that does not answer."),
            "max_degree": (status.max_degree, "The most links of a broker."),
            "topics": (status.topics, "Topics that somebody wants."),
            "support": (status.support[-1][1], "Share of the possible merging that is done; 1 is topic-connected."),
            "left_out": (len(status.left_out), "Nodes without a broker and topics that cannot be carried."),
            "waiting": (int(status.waiting is not None), "Whether a change waits to be made."),
            "decisions_total": (status.decisions, "Decisions since the state began."),
            "applied_total": (status.applied, "Plans applied since the controller started."),
            "look_timestamp_seconds": (status.at, "When the fleet was last looked at."),
        }
        lines = []
        for name, (value, text) in values.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP topicloom_{name} {text}", f"# TYPE topicloom_{name} {kind}", f"topicloom_{name} {value}"]
        return "\n".join(lines) + "\n"

    def as_page(self) -> str:
        """The present status for a browser."""
        status = self.present
        points = [] if status is None else [share for _, share in status.support]
        return str(rendered("topicloom.control.watching", "status.html", status=status, curve=_curve(points)))


def _support(overlay: Overlay, *, relays: bool) -> float:
    """How much of the possible merging is done: over links between those that want a topic, or over any."""
    found = measure(overlay.interest, overlay, diameters=False)
    possible = found.components_unlinked - found.components_connected
    return found.support if not relays or not possible else 1 - found.unreachable / possible


def _curve(shares: list[float]) -> str:
    """Points of a line from left to right, in a box of 300 by 40."""
    last = max(1, len(shares) - 1)
    return " ".join(f"{300 * place / last:.1f},{40 - 38 * share:.1f}" for place, share in enumerate(shares))


def _said(entry: dict[str, Any]) -> str:
    """A decision in a few words."""
    if "event" in entry:
        return f"event {entry['event']['id']}: {entry['event']['event']} of {entry['event']['node']}"
    if "refused" in entry:
        return f"event {entry['refused']['id']} refused: {entry['why']}"
    if "tidied" in entry:
        return f"{len(entry['tidied'])} links tidied"
    if "applied" in entry:
        waiting = f"; {entry['waiting']}" if entry.get("waiting") else ""
        few = 0 < len(entry["applied"]) <= _NAMED
        brokers = ", ".join(entry["applied"]) if few else count_of(len(entry["applied"]), "broker")
        return f"new files on {brokers}{waiting}"
    for word in ("lost", "back"):
        if word in entry:
            return f"{entry[word]} {'is gone' if word == 'lost' else 'is back'}"
    return "began"
