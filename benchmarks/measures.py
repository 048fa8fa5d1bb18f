"""Measuring overlays: seconds with and without diameters, by number of nodes."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.designs import POPULARITIES
from topicloom.designers import design
from topicloom.metrics import measure
from topicloom.workloads import synthetic

DESIGNERS: dict[str, dict[str, int]] = {
    "gm": {},
    "minmax-oda": {},
    "ring-per-topic": {},
    "gpm": {"max_degree": 4},
    "random-m": {"max_degree": 4},
}


def main(popularity: str, nodes: int, designer: str) -> dict[str, Any]:
    """One overlay measured twice, warm."""
    interest = synthetic(nodes, 1000, popularity=popularity, sizes="power-law", min_topics=20, max_topics=600, seed=1)
    overlay = design(interest, designer, **DESIGNERS[designer])
    tiny = synthetic(4, 2, min_topics=2, seed=1)
    measure(tiny, design(tiny, "gm"))
    seconds = {}
    for diameters in (False, True):
        began = time.perf_counter()
        measured = measure(interest, overlay, diameters=diameters)
        seconds["with_diameters" if diameters else "without"] = time.perf_counter() - began
    return {"links": len(overlay), "max_topic_diameter": measured.max_topic_diameter, **seconds}


def report(console: Console, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Run them all and print a table."""
    table = Table(title="measure: seconds without and with exact diameters", title_justify="left")
    table.add_column("popularity")
    table.add_column("overlay")
    for heading in ("nodes", "links", "without", "with", "longest diameter", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = []
    for popularity in POPULARITIES:
        for designer in DESIGNERS:
            for nodes in sizes:
                arguments = {"popularity": popularity, "nodes": nodes, "designer": designer}
                row = {**arguments, **in_own_process(__name__, **arguments)}
                rows.append(row)
                table.add_row(
                    popularity,
                    designer,
                    f"{nodes:,}",
                    f"{row['links']:,}",
                    f"{row['without']:.2f}",
                    f"{row['with_diameters']:.2f}",
                    f"{row['max_topic_diameter']:,}",
                    f"{row['peak_bytes'] / 1e6:,.0f} MB",
                )
    console.print(table)
    return rows
