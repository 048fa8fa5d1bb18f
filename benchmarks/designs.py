"""Every designer on the papers' workloads: seconds, ratios, memory, growth.

The workload is that of Partial 2016, section IX: 1,000 topics, 20 to 600 topics a node by a power law.
"""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.yardsticks import floor_seconds, textbook_seconds
from topicloom.designers import DesignProblem, run
from topicloom.workloads import synthetic

POPULARITIES = ("zipf", "exponential", "uniform")
SIZES = (1000, 2000, 5000, 10000)
PARAMETERS: dict[str, dict[str, int]] = {
    "gpa": {"max_edges": -2},
    "gpm": {"max_degree": 4},
    "spidercast-m": {"max_degree": 4},
    "random-a": {"max_edges": -2},
    "random-m": {"max_degree": 4},
}
# Beyond this the textbook algorithm takes minutes, and over 1.2 GB.
TEXTBOOK_NODES = 5000


def main(popularity: str, nodes: int, designer: str) -> dict[str, Any]:
    """One designer and the counting pass on one workload, warm; the better of three runs if they are short."""
    interest = synthetic(nodes, 1000, popularity=popularity, sizes="power-law", min_topics=20, max_topics=600, seed=1)
    floor = floor_seconds(interest)
    if designer == "textbook":
        return {"seconds": textbook_seconds(interest), "floor": floor}
    parameters = budget(designer, nodes)
    runs = [run(DesignProblem.of(interest), designer, **parameters)]
    while len(runs) < 3 and sum(one.seconds for one in runs) < 5:
        runs.append(run(DesignProblem.of(interest), designer, **parameters))
    return {
        "seconds": min(one.seconds for one in runs),
        "floor": min(floor, floor_seconds(interest)),
        "links": len(runs[0].overlay),
    }


def budget(designer: str, nodes: int) -> dict[str, int]:
    """Its parameters for so many nodes; negative ones are multiples of these."""
    return {name: -value * nodes if value < 0 else value for name, value in PARAMETERS.get(designer, {}).items()}


def report(console: Console, sizes: tuple[int, ...], designers: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run them all and print a table for each popularity."""
    rows = []
    for popularity in POPULARITIES:
        found = {
            (designer, nodes): in_own_process(__name__, popularity=popularity, nodes=nodes, designer=designer)
            for designer in (*designers, "textbook")
            for nodes in sizes
            if designer != "textbook" or nodes <= TEXTBOOK_NODES
        }
        rows += [{"popularity": popularity, "designer": d, "nodes": n, **cell} for (d, n), cell in found.items()]
        _print(console, popularity, sizes, found)
    return rows


def _print(
    console: Console, popularity: str, sizes: tuple[int, ...], found: dict[tuple[str, int], dict[str, Any]]
) -> None:
    table = Table(title=f"{popularity} popularity: seconds by number of nodes", title_justify="left")
    table.add_column("designer")
    for heading in (
        *(f"{nodes:,}" for nodes in sizes),
        "grows as",
        "/ counting",
        "/ gm",
        "textbook /",
        "links",
        "peak",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for designer in dict.fromkeys(designer for designer, _ in found):
        cells = {nodes: found[designer, nodes] for nodes in sizes if (designer, nodes) in found}
        largest = max(cells)
        last = cells[largest]
        table.add_row(
            designer,
            *(f"{cells[nodes]['seconds']:.3f}" if nodes in cells else "" for nodes in sizes),
            _growth(cells),
            f"{last['seconds'] / last['floor']:.1f}",
            _ratio(last, found.get(("gm", largest))),
            _ratio(found.get(("textbook", min(largest, TEXTBOOK_NODES))), cells.get(min(largest, TEXTBOOK_NODES))),
            f"{last['links']:,}" if "links" in last else "",
            f"{last['peak_bytes'] / 1e6:,.0f} MB",
        )
    console.print(table)


def _growth(cells: dict[int, dict[str, Any]]) -> str:
    if len(cells) < 2:
        return ""
    low, high = min(cells), max(cells)
    return f"n^{math.log(cells[high]['seconds'] / cells[low]['seconds']) / math.log(high / low):.1f}"


def _ratio(one: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    return f"{one['seconds'] / other['seconds']:.1f}" if one and other else ""
