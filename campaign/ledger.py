"""What was tried and what failed, counted and printed."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Ledger:
    """Counts of what was tried, and failures, each printed at once with a line that makes it again.

    With a file, counts go on from where an earlier campaign left them.
    """

    file: Path | None = None
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)
    _saved: float = 0.0

    def __post_init__(self) -> None:
        if self.file is not None and self.file.exists():
            kept = json.loads(self.file.read_text())
            self.counts.update(kept["counts"])
            self.failures.update(kept["failures"])

    def count(self, what: str, number: int = 1) -> None:
        """Something was tried."""
        self.counts[what] += number
        if time.monotonic() - self._saved > 10:
            self.save()

    def fail(self, what: str, problem: str, again: str) -> None:
        """Something went wrong; `again` is a command that makes it happen again."""
        self.failures[what] += 1
        print(f"FAILED {what}: {problem}\n  again: {again}", flush=True)

    def save(self) -> None:
        """Keep the counts."""
        self._saved = time.monotonic()
        if self.file is not None:
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps({"counts": self.counts, "failures": self.failures}, indent=1, sort_keys=True))
            part.replace(self.file)

    def report(self) -> None:
        """Print all counts."""
        self.save()
        width = max((len(name) for name in self.counts), default=0)
        for name, count in sorted(self.counts.items()):
            print(f"{name:{width}} {count:>12,} {self.failures[name]:>8,} failed", flush=True)
