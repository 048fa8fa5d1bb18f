"""Collecting from brokers that run, until it says what their clients did."""

from __future__ import annotations

import time
from pathlib import Path

from topicloom.brokers import Collected, Collection, Fleet, collect

Rows = set[tuple[str, str, str]]
PATIENCE_SECONDS = 10.0


def until_collected(fleet: Fleet, expected: Rows, before: Collected | None, folder: Path) -> Collection:
    """Collect until it says what clients did, each time from what was written, as a new run would."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = collect(fleet, before, keep=lambda so_far: so_far.write(folder))
        rows = [(row["node"], row["client"], row["topic"]) for row in found.collected.to_arrow().to_pylist()]
        assert not found.problems
        assert len(rows) == len(set(rows)), "each once"
        if set(rows) == expected:
            return found
        assert time.monotonic() < deadline, (set(rows) - expected, expected - set(rows))
        before = Collected.read(folder)
        time.sleep(0.05)
