"""A controller over a long run: events mended and tidied, and how far the overlay is from a fresh design in the end."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.store import opened
from topicloom.designers import design
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.demand import Demand
from topicloom.workloads import churn_trace, synthetic

EVENTS = 10_000
# How popular topics are, and the seed of the fleet.
FLEETS = (("zipf", 2), ("uniform", 3))
_EVENT_SEED = 9
# As the controller does it: in a turn without news, at most so many links.
_TURN_EVENTS, _TIDY_CHANGES = 25, 20
_MAX_LINKS = 30


def main(events: int, popularity: str, seed: int) -> dict[str, Any]:
    """Let events happen to a fleet of 60 brokers; what there is in the end, beside a fresh design."""
    interest = synthetic(60, 40, popularity=popularity, sizes="uniform", min_topics=3, max_topics=8, seed=seed)
    limits = Constraints(others=NodeRule(max_links=_MAX_LINKS))
    highest, began = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as state:
        decisions = Decisions(state, limits, Demand.from_interest(interest))
        for number, event in enumerate(churn_trace(interest, events, seed=_EVENT_SEED), 1):
            refusal = decisions.take(event)
            if refusal is not None:
                raise SystemExit(refusal)
            if number % _TURN_EVENTS == 0:
                decisions.tidy(_TIDY_CHANGES)
            highest = max(highest, decisions.maintainer.max_degree)
        quiet = 0
        while decisions.tidy(_TIDY_CHANGES):
            quiet += 1
        seconds = time.perf_counter() - began
        overlay = decisions.overlay()
        decisions.close()
    fresh = design(overlay.interest, "low-oda", constraints=limits)
    return {
        "topics": popularity,
        "events": events,
        "brokers": overlay.interest.node_count,
        "links": len(overlay),
        "fresh links": len(fresh),
        "max degree": int(overlay.degrees.max()),
        "fresh max degree": int(fresh.degrees.max()),
        "highest on the way": highest,
        "quiet turns in the end": quiet,
        "seconds": seconds,
    }


def report(console: Console, events: int = EVENTS) -> list[dict[str, Any]]:
    """Run it and print a table."""
    rows = [in_own_process(__name__, events=events, popularity=popularity, seed=seed) for popularity, seed in FLEETS]
    table = Table(title="a long run of the controller, beside a fresh low-oda", title_justify="left")
    names = [name for name in rows[0] if name != "peak_bytes"]
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(_text(row[name]) for name in names))
    console.print(table)
    return rows


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
