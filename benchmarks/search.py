"""Search from greedy overlays: links and highest degree against the start, after some processor seconds of one core.

Interests are drawn at random by nodes, topics and topics a node; popularity is even or by Zipf's law with exponent 0.9.
That all topics are connected is checked apart, by networkx.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.backbone import sparse
from topicloom import design, synthetic
from topicloom.designers.local_search import SearchRules, compile_kernels, search_links
from topicloom.model import Interest


class Row(NamedTuple):
    """An interest, where the search begins, how long it takes, and what it is to reach."""

    name: str
    nodes: int
    topics: int
    each: tuple[int, int]  # topics of a node, fewest and most; by a power law if these differ
    popularity: str
    start: str
    seconds: float
    kept: bool = False  # whether no degree may pass the highest of the start
    links: float = 1.0  # at most this share of the links
    degree: float = 1.0


ROWS = (
    Row("fleet", 100, 60, (6, 6), "zipf", "gm", 5, links=0.88, degree=1 / 2),
    Row("Zipf", 1000, 100, (10, 10), "zipf", "gm", 30, links=0.865, degree=1 / 3),
    Row("Zipf, degree kept", 1000, 100, (10, 10), "zipf", "low-oda", 30, kept=True, links=0.84),
    Row("uniform, degree kept", 1000, 100, (10, 10), "uniform", "minmax-oda", 30, kept=True, links=0.92),
    Row("larger", 3000, 300, (15, 15), "zipf", "gm", 60, links=0.88, degree=1 / 4),
    Row("large", 10_000, 1000, (30, 30), "zipf", "gm", 120, links=0.92, degree=1 / 3),
    Row("dense", 4000, 1000, (20, 600), "uniform", "gm", 120, links=0.98, degree=2 / 3),
    Row("sparse", 100_000, 10_000, (5, 50), "zipf", "backbone", 300),
)
SEEDS = (1,)


def main(row: int, seed: int) -> dict[str, Any]:
    """One row with one seed."""
    given = ROWS[row]
    interest = random_interest(given, seed)
    begun = time.process_time()
    start = design(interest, given.start)
    start_seconds = time.process_time() - begun
    highest = int(start.degrees.max(initial=0))
    compile_kernels()
    begun = time.thread_time()
    found = search_links(
        interest,
        np.array(start.source),
        np.array(start.target),
        SearchRules(max_degree=highest if given.kept else None, seed=seed),
        seconds=given.seconds,
        clock=time.thread_time,
    )
    return {
        **found.facts,
        "seconds": time.thread_time() - begun,
        "start_seconds": start_seconds,
        "unconnected": unconnected(interest, found.source, found.target),
    }


def random_interest(row: Row, seed: int) -> Interest:
    """The interest of a row."""
    least, most = row.each
    if row.start == "backbone":
        return sparse(row.nodes, row.topics, seed)
    if least < most:
        sizes = {"sizes": "power-law", "min_topics": least, "max_topics": most}
        return synthetic(row.nodes, row.topics, popularity=row.popularity, seed=seed, **sizes)
    dice = np.random.default_rng(seed)
    weight = np.ones(row.topics) if row.popularity == "uniform" else 1 / np.arange(1, row.topics + 1) ** 0.9
    weight /= weight.sum()
    chosen = [dice.choice(row.topics, least, replace=False, p=weight) for _ in range(row.nodes)]
    return Interest.from_pairs([(f"n{u:06}", f"t{t:05}") for u in range(row.nodes) for t in chosen[u]])


def unconnected(interest: Interest, source: Any, target: Any) -> int:
    """How many topics are not connected."""
    graph = nx.Graph(list(zip(source.tolist(), target.tolist(), strict=True)))
    graph.add_nodes_from(range(interest.node_count))
    members = (interest.nodes_of(t).tolist() for t in range(interest.topic_count))
    return sum(len(nodes) > 1 and not nx.is_connected(graph.subgraph(nodes)) for nodes in members)


def report(console: Console, rows: tuple[int, ...] = (), seeds: tuple[int, ...] = SEEDS) -> list[dict[str, Any]]:
    """Run rows, all of them if none is named, and print a table."""
    results = []
    table = Table(title="search: one core, processor seconds", title_justify="left")
    for heading in ("nodes x topics x each", "start", "seed", "links", "/ start", "goal", "degree", "/ start", "goal"):
        table.add_column(heading, justify="left" if heading.startswith("nodes") else "right", no_wrap=True)
    for heading in ("rounds", "seconds", "unconnected", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number in rows or range(len(ROWS)):
        for seed in seeds:
            row, cell = ROWS[number], in_own_process(__name__, row=number, seed=seed)
            results.append({"row": row.name, "seed": seed, **cell})
            table.add_row(
                f"{row.name}: {row.nodes:,} x {row.topics:,} x {'..'.join(map(str, dict.fromkeys(row.each)))}",
                row.start,
                str(seed),
                f"{cell['links_before']:,} -> {cell['links']:,}",
                f"{cell['links'] / cell['links_before']:.4f}",
                f"{row.links:.3f}",
                f"{cell['degree_before']} -> {cell['degree']}",
                f"{cell['degree'] / cell['degree_before']:.2f}",
                f"{row.degree:.2f}",
                f"{cell['rounds']:,}",
                f"{cell['seconds']:.1f}",
                str(cell["unconnected"]),
                f"{cell['peak_bytes'] / 1e6:,.0f} MB",
            )
    console.print(table)
    return results
