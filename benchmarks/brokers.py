"""Plans for real brokers: routing large overlays, and proofs with Mosquitto processes on this machine.

The proofs are messages through 50 brokers, 30 brokers under control while things happen to them, and `apply` killed
again and again. At full size they take half an hour; each takes a number, and is left out with 0.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom.brokers import Fleet, make_plan, read_plan, route, write_plan
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.live import prove
from topicloom.designers import DesignProblem, run
from topicloom.metrics import measure
from topicloom.model import Interest
from topicloom.workloads import synthetic

# Nodes, topics, and how the links were designed; gpm leaves most topics in pieces, so that they need relays.
ROUTED: tuple[tuple[int, int, str, dict[str, Any]], ...] = (
    (10_000, 1000, "gm", {}),
    (10_000, 1000, "gpm", {"max_degree": 4}),
)
BROKERS, TOPICS = 50, 200
MESSAGES, EVENTS, KILLS = 1_000_000, 200, 100


def main(what: str, **arguments: Any) -> dict[str, Any]:
    """One measurement: routing, or the live proof."""
    return _routed(**arguments) if what == "routes" else _proven(**arguments)


def fleet_of(interest: Interest) -> Fleet:
    """A fleet with a broker for every node."""
    return fleet_from_tables({"brokers": {name: {"host": f"{name}.example.net"} for name in interest.node_names}})


def _routed(nodes: int, topics: int, designer: str, parameters: dict[str, int]) -> dict[str, Any]:
    interest = synthetic(nodes, topics, popularity="zipf", sizes="power-law", min_topics=20, max_topics=600, seed=1)
    overlay = run(DesignProblem.of(interest), designer, **parameters).overlay
    tiny = Interest.from_pairs([("a", "t"), ("b", "t")])
    route(tiny, run(DesignProblem.of(tiny), "gm").overlay, relays=True)
    # Measuring goes through the same links of the same topics, so it is the yardstick of this machine.
    measure(tiny, run(DesignProblem.of(tiny), "gm").overlay, diameters=False)
    seconds, yardstick = [], []
    for _ in range(3):
        began = time.perf_counter()
        route(interest, overlay, relays=True)
        seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
        measure(interest, overlay, diameters=False)
        yardstick.append(time.perf_counter() - began)
    began = time.perf_counter()
    plan = make_plan(interest, overlay, fleet_of(interest), relays=True)
    planned = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.json"
        write_plan(plan, file)
        written = time.perf_counter()
        read_plan(file)
        read = time.perf_counter()
        size = file.stat().st_size
    other = make_plan(interest, run(DesignProblem.of(interest), "ring-per-topic").overlay, fleet_of(interest))
    started = time.perf_counter()
    compare_plans(plan, other)
    compared = time.perf_counter() - started
    return {
        "links": len(plan.links),
        "route": min(seconds),
        "measure": min(yardstick),
        "plan": planned - began,
        "write": written - planned,
        "read": read - written,
        "diff": compared,
        "plan_bytes": size,
    }


def _proven(brokers: int, topics: int, messages: int) -> dict[str, Any]:
    interest = synthetic(brokers, topics, popularity="uniform", sizes="fixed", min_topics=20, seed=4)
    plan = make_plan(interest, run(DesignProblem.of(interest), "gm").overlay, fleet_of(interest))
    proof = prove(plan, messages=messages)
    counts = proof.counts
    return {
        "brokers": proof.brokers,
        "topics": proof.topics,
        "links": proof.links,
        "published": counts.published,
        "delivered": counts.delivered,
        "lost": counts.lost,
        "doubled": counts.doubled,
        "unwanted": counts.unwanted,
        "up": proof.seconds_until_up,
        "seconds": proof.seconds,
        "latency_ms": counts.latency_ms,
    }


def report(
    console: Console, messages: int = MESSAGES, events: int = EVENTS, kills: int = KILLS
) -> list[dict[str, Any]]:
    """Run them and print a table for each."""
    rows = _report_routes(console)
    if messages:
        row = in_own_process(__name__, what="live", brokers=BROKERS, topics=TOPICS, messages=messages)
        row["delivered a second"] = round(row["delivered"] / row["seconds"])
        rows.append(_printed(console, "live proof on one machine, a Mosquitto for every broker", row, _LIVE))
    if events:
        row = in_own_process("benchmarks.watched_fleet", events=events)
        rows.append(_printed(console, "a fleet under control: seconds from an event to proven delivery", row, _WATCHED))
    if kills:
        row = in_own_process("benchmarks.apply_kills", kills=kills)
        rows.append(_printed(console, "apply killed at random moments, with four brokers", row, _KILLED))
    return rows


_COUNTS = ("delivered", "lost", "doubled", "unwanted")
_LIVE = ("brokers", "topics", "links", "published", *_COUNTS, "up", "seconds", "delivered a second")
_WATCHED = ("brokers", "events", "median", "p99", "highest", "flowing", *_COUNTS, "seconds")
_KILLED = ("kills", "changes", "as planned", "half files", "orphans", "seconds")


def _printed(console: Console, title: str, row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row(*(f"{row[name]:,.2f}" if isinstance(row[name], float) else f"{row[name]:,}" for name in names))
    console.print(table)
    return row


def _report_routes(console: Console) -> list[dict[str, Any]]:
    rows = []
    table = Table(title="routing a tree for every topic: seconds", title_justify="left")
    for heading in (
        "nodes",
        "topics",
        "designer",
        "links",
        "route",
        "/ measure",
        "plan",
        "write",
        "read",
        "diff to rings",
        "file",
        "peak",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for nodes, topics, designer, parameters in ROUTED:
        row = in_own_process(
            __name__, what="routes", nodes=nodes, topics=topics, designer=designer, parameters=parameters
        )
        rows.append({"nodes": nodes, "topics": topics, "designer": designer, **row})
        table.add_row(
            *(f"{nodes:,}", f"{topics:,}", designer, f"{row['links']:,}", f"{row['route']:.3f}"),
            f"{row['route'] / row['measure']:.1f}",
            *(f"{row[name]:.1f}" for name in ("plan", "write", "read", "diff")),
            *(f"{row['plan_bytes'] / 1e6:,.0f} MB", f"{row['peak_bytes'] / 1e6:,.0f} MB"),
        )
    console.print(table)
    return rows
