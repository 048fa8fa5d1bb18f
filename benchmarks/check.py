"""`./dev bench --check`: the short form of every benchmark against the ratios of `baseline.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from benchmarks.short_forms import Ratio

BASELINE = Path(__file__).with_name("baseline.json")
# How many times its baseline a ratio may be.
ALLOWED = 1.25
# What seems worse is measured so many times more, as other work on the machine is the likelier reason.
_AGAIN = 2


def check(console: Console, parts: Mapping[str, Callable[[], Iterable[Ratio]]], *, renew: bool = False) -> bool:
    """Measure the ratios of some parts, print them, and say whether none is worse; or make them the baseline."""
    baseline: dict[str, dict[str, float]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    found: dict[str, dict[str, float]] = {}
    for part, ratios_of in parts.items():
        expected = {} if renew else baseline.get(part, {})
        found[part] = dict(measured(ratios_of(), expected, lambda name: console.print(f"[dim]{name}[/dim]")))
        if renew:
            BASELINE.write_text(json.dumps(baseline | found, indent=1) + "\n")
    table = Table(title="ratios of one run", title_justify="left")
    for heading in ("part", "what", "baseline", "now", ""):
        table.add_column(heading, justify="right" if heading in ("baseline", "now") else "left")
    for part, ratios in found.items():
        for name, ratio in ratios.items():
            before = baseline.get(part, {}).get(name)
            verdict = "new" if before is None else "worse" if is_worse(ratio, before) else ""
            table.add_row(part, name, "" if before is None else f"{before:.3g}", f"{ratio:.3g}", verdict)
    console.print(table)
    if renew:
        console.print(f"wrote {BASELINE.name}; commit it to make it the baseline")
        return True
    problems = list(complaints(found, baseline))
    for problem in problems:
        console.print(problem)
    if not problems:
        console.print(f"no ratio is more than {ALLOWED} times its baseline")
    return not problems


def is_worse(ratio: float, baseline: float) -> bool:
    """Whether a ratio has grown by more than is allowed."""
    return ratio > ALLOWED * baseline


def measured(
    ratios: Iterable[Ratio], baseline: Mapping[str, float], tell: Callable[[str], object]
) -> Iterator[tuple[str, float]]:
    """Each ratio by name; the best of several where the first seems worse than its baseline."""
    for ratio in ratios:
        tell(ratio.name)
        best = ratio.measure()
        for _ in range(_AGAIN):
            if ratio.name in baseline and is_worse(best, baseline[ratio.name]):
                best = min(best, ratio.measure())
        yield ratio.name, best


def complaints(found: Mapping[str, Mapping[str, float]], baseline: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """What got worse, and what has no baseline yet, a line each."""
    for part, ratios in found.items():
        for name, ratio in ratios.items():
            before = baseline.get(part, {}).get(name)
            if before is None:
                yield f"{part}: {name}: has no baseline; run with --renew, and commit it"
            elif is_worse(ratio, before):
                yield f"{part}: {name}: {ratio:.3g}, {ratio / before:.2f} times its baseline of {before:.3g}"
