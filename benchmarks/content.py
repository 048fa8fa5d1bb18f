"""Assignment algorithms on generated content-based networks: seconds, growth, memory, and what they save.

The setting of the Content paper, section VI: 100 users a broker, 100 channels, prices from points in a plane.
Subscriptions go from one random number to another, or are a hundredth of the space wide; with dearer access links
Steiner mixing has more to do, as its trees then pass through more brokers. `migration` begins with `packing`, and once
with `random`.
"""

from __future__ import annotations

import math
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom.content import assign, cost, run
from topicloom.workloads.content import content_network

USERS_PER_BROKER = 100
CHANNELS = 100
SETTINGS: dict[str, dict[str, float]] = {
    "random subscriptions": {},
    "narrow subscriptions": {"width": 0.01},
    "access links twice as dear": {"access_to_core": 2.0},
}
ALGORITHMS: dict[str, tuple[str, dict[str, str]]] = {
    "random": ("random", {}),
    "packing": ("packing", {}),
    "clustering": ("clustering", {}),
    "steiner-mixing": ("steiner-mixing", {}),
    "migration": ("migration", {}),
    "migration from random": ("migration", {"start": "random"}),
}


def main(users: int, setting: str, algorithm: str) -> dict[str, Any]:
    """One algorithm and the cost itself on one network, warm; the better of three runs if they are short."""
    brokers = max(1, users // USERS_PER_BROKER)
    network = content_network(users, brokers, CHANNELS, seed=1, **SETTINGS[setting]).network  # type: ignore[arg-type]
    random = cost(assign(network, "random")).total
    name, parameters = ALGORITHMS[algorithm]
    runs = [run(network, name, **parameters)]
    while len(runs) < 3 and sum(one.seconds for one in runs) < 5:
        runs.append(run(network, name, **parameters))
    began = time.perf_counter()
    total = cost(runs[0].assignment).total
    return {
        "seconds": min(one.seconds for one in runs),
        "cost_seconds": time.perf_counter() - began,
        "cost_reduction_ratio": random / total,
        **{key: value for key, value in runs[0].facts.items() if key in ("rounds", "moves")},
    }


def report(console: Console, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Run them all and print a table for each setting."""
    rows = []
    for setting in SETTINGS:
        table = Table(title=f"{setting}: seconds by number of users", title_justify="left")
        table.add_column("algorithm")
        for heading in (*(f"{users:,}" for users in sizes), "grows as", "cost", "random / this", "moves", "peak"):
            table.add_column(heading, justify="right", no_wrap=True)
        for algorithm in ALGORITHMS:
            cells = [in_own_process(__name__, users=users, setting=setting, algorithm=algorithm) for users in sizes]
            rows += [
                {"setting": setting, "algorithm": algorithm, "users": users, **cell}
                for users, cell in zip(sizes, cells, strict=True)
            ]
            last = cells[-1]
            table.add_row(
                algorithm,
                *(f"{cell['seconds']:.3f}" for cell in cells),
                _growth(sizes, cells),
                f"{last['cost_seconds']:.3f}",
                f"{last['cost_reduction_ratio']:.2f}",
                f"{last['moves']:,}" if "moves" in last else "",
                f"{last['peak_bytes'] / 1e6:,.0f} MB",
            )
        console.print(table)
    return rows


def _growth(sizes: tuple[int, ...], cells: list[dict[str, Any]]) -> str:
    if len(sizes) < 2:
        return ""
    seconds = cells[-1]["seconds"] / cells[0]["seconds"]
    return f"n^{math.log(seconds) / math.log(sizes[-1] / sizes[0]):.1f}"
