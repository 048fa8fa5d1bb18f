"""How far from the best there is each designer may be, on the papers' workloads: bounds, ratios, seconds."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom import Interest, bound, design, synthetic

DESIGNERS = ("gm", "low-oda", "minmax-oda")
ALL_POPULARITIES = ("uniform", "zipf", "exponential")

# Names of papers; numbers of nodes and topics; the rest of a workload; its popularities.
GM_2007 = {"alpha": 0.5, "min_topics": 10}
PARTIAL_2016 = {"sizes": "power-law", "min_topics": 20, "max_topics": 600}
WORKLOADS: tuple[tuple[str, int, int, dict[str, Any], tuple[str, ...]], ...] = (
    ("Low 2010", 100, 100, GM_2007, ("zipf",)),
    ("Low 2010", 400, 100, GM_2007, ("zipf",)),
    ("GM 2007, Low 2010", 1000, 100, GM_2007, ALL_POPULARITIES),
    ("GM 2007", 10_000, 100, GM_2007, ALL_POPULARITIES),
    ("Partial 2016", 1000, 1000, PARTIAL_2016, ALL_POPULARITIES),
    ("Partial 2016", 10_000, 1000, PARTIAL_2016, ALL_POPULARITIES),
)


def main(nodes: int, topics: int, popularity: str, **others: Any) -> dict[str, Any]:
    """One workload: its bounds, and what designers need."""
    interest = synthetic(nodes, topics, popularity=popularity, seed=1, **others)
    bound(Interest.from_pairs([("a", "t"), ("b", "t"), ("a", "u"), ("c", "u")]))  # compiles
    began = time.process_time()
    bounds = bound(interest)
    seconds = time.process_time() - began
    overlays = {name: design(interest, name) for name in DESIGNERS}
    return {
        "links_bound": bounds.links,
        "max_degree_bound": bounds.max_degree,
        "left_out": bounds.left_out,
        "processor_seconds": seconds,
        "links": {name: len(overlay) for name, overlay in overlays.items()},
        "max_degree": {name: int(overlay.degrees.max()) for name, overlay in overlays.items()},
    }


def report(console: Console) -> list[dict[str, Any]]:
    """Run them all and print a table."""
    table = Table(title="links and max degree, as multiples of what no overlay can be below", title_justify="left")
    table.add_column("workload")
    for heading in ("nodes", "topics", "links >=", *DESIGNERS, "degree >=", *DESIGNERS, "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = []
    for paper, nodes, topics, others, popularities in WORKLOADS:
        for popularity in popularities:
            arguments = {"nodes": nodes, "topics": topics, "popularity": popularity, **others}
            row = {"paper": paper, **arguments, **in_own_process(__name__, **arguments)}
            rows.append(row)
            table.add_row(
                f"{paper}, {popularity}",
                f"{nodes:,}",
                f"{topics:,}",
                f"{row['links_bound']:,}",
                *(f"{row['links'][name] / row['links_bound']:.2f}" for name in DESIGNERS),
                f"{row['max_degree_bound']:,}",
                *(f"{row['max_degree'][name] / row['max_degree_bound']:.2f}" for name in DESIGNERS),
                f"{row['processor_seconds']:.1f}",
            )
    console.print(table)
    return rows
