"""Maintaining overlays under churn: what an event costs, against one low-oda build in the same run, and the findings of
Shadows, section VI, on its workload: 2,000 nodes, 200 topics, 10 to 90 topics a node by a power law, 1,000 rounds."""

from __future__ import annotations

import time
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom.churn import Settings, maintainer
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.shadow import MendingMaintainer
from topicloom.designers import DesignProblem, design, run
from topicloom.model.events import Event
from topicloom.model.interest import Interest
from topicloom.workloads import churn_trace, synthetic

SIZES = ((2_000, 200), (10_000, 1_000))
POPULARITIES = ("uniform", "zipf", "exponential")
_ROUNDS = 1_000
_SHAPE = {"sizes": "power-law", "min_topics": 10, "max_topics": 90}


def workload(nodes: int, topics: int, popularity: str, rounds: int) -> tuple[Interest, list[Event]]:
    """An interest, and churn whose newcomers are drawn alike."""
    interest, newcomers = (
        synthetic(count, topics, popularity=popularity, seed=seed, **_SHAPE)
        for count, seed in ((nodes, 1), (rounds, 2))
    )
    return interest, churn_trace(interest, rounds, newcomers=newcomers, seed=3)


def main(nodes: int, topics: int, popularity: str, method: str, prune: bool, rounds: int) -> dict[str, Any]:
    """Processor seconds of a build, of starting, and of events of each kind with the upkeep after them."""
    interest, events = workload(nodes, topics, popularity, rounds + 20)
    overlay = design(interest, "low-oda")
    settings = Settings(method=method, prune=prune)
    warm = maintainer(overlay, settings)
    for event in events[:20]:
        warm.apply(event)
    began = time.process_time()
    maintained = maintainer(overlay, settings)
    start = time.process_time() - began
    seconds: dict[str, list[float]] = {"join": [], "leave": [], "upkeep": [], "build": []}
    for number, event in enumerate(events):
        began = time.process_time()
        maintained.apply(event)
        known = time.process_time()
        maintained.settle()
        seconds["upkeep"].append(time.process_time() - known)
        seconds[event.kind].append(known - began)
        if number % (rounds // 5) == 0:
            seconds["build"].append(run(DesignProblem.of(maintained.interest()), "low-oda").processor_seconds)
    means = {kind: mean(values) for kind, values in seconds.items()}
    # Upkeep follows leaves; that of joins is nothing.
    means["upkeep"] *= len(events) / len(seconds["leave"])
    return {"start": start, **means, "max_degree": maintained.max_degree, "links": maintained.link_count}


def report(console: Console) -> list[dict[str, Any]]:
    """Run all and print two tables."""
    return [*report_costs(console), *report_findings(console)]


def report_costs(console: Console) -> list[dict[str, Any]]:
    table = Table(
        title="an event, as a share of one low-oda build of the same run; processor time", title_justify="left"
    )
    for heading in (
        "nodes",
        "topics",
        "popularity",
        "method",
        "build ms",
        "start",
        "join",
        "leave",
        "upkeep of a leave",
    ):
        table.add_column(heading, justify="left" if heading in ("popularity", "method") else "right", no_wrap=True)
    rows = []
    for nodes, topics in SIZES:
        for popularity in POPULARITIES:
            for method, prune in (("shadow", False), ("shadow", True), ("naive", False)):
                rounds = _ROUNDS if method == "shadow" and nodes <= 2_000 else 100
                arguments = {"nodes": nodes, "topics": topics, "popularity": popularity, "method": method}
                row: dict[str, Any] = {**arguments, "prune": prune}
                row |= in_own_process(__name__, **row, rounds=rounds)
                rows.append(row)
                table.add_row(
                    f"{nodes:,}",
                    f"{topics:,}",
                    popularity,
                    method + (" --prune" if prune else ""),
                    f"{1000 * row['build']:,.1f}",
                    f"{row['start'] / row['build']:.2f} builds",
                    *(
                        f"{100 * row[kind] / row['build']:.3f}% ({1e6 * row[kind]:,.0f} µs)"
                        for kind in ("join", "leave", "upkeep")
                    ),
                )
    console.print(table)
    return rows


def findings(popularity: str = "uniform") -> dict[str, Any]:
    """The numbers of Shadows, section VI: figures 2 to 6 and 8."""
    interest, events = workload(2_000, 200, popularity, _ROUNDS)
    overlay = design(interest, "low-oda")
    found: dict[str, Any] = {"popularity": popularity}
    for backups in ("primal-dual", "greedy"):
        maintained = maintainer(overlay, Settings(backups=backups))
        assert isinstance(maintained, MendingMaintainer)
        chosen = [len(others) for others in maintained.backups().values()]
        borne = [len(others) for others in maintained.primaries().values()]
        found[backups] = {
            "backups_share": mean(chosen) / interest.node_count,
            "fewest_primaries": min(borne),
            "most_primaries": max(borne),
            "below_5_primaries": sum(count < 5 for count in borne) / len(borne),
            **_after(maintained, events),
        }
    for coverage in (1, 2, 3, 4):
        found[f"coverage {coverage}"] = _after(maintainer(overlay, Settings(coverage=coverage)), events)
    for method in ("naive", "rebuild"):
        found[method] = _after(maintainer(overlay, Settings(method=method)), events)
    found["prune"] = _after(maintainer(overlay, Settings(prune=True)), events)
    return found


def _after(maintained: Maintainer, events: list[Event]) -> dict[str, float]:
    """Degrees through a trace and in its end, links changed by an event, and repair ratios."""
    degrees, averages = [], []
    ratios: dict[str, list[float]] = {"join": [], "leave": []}
    changed: dict[str, list[int]] = {"join": [], "leave": []}
    shadows = []
    for event in events:
        links = maintained.link_count
        change = maintained.apply(event)
        changed[event.kind].append(len(change.added) + len(change.removed))
        ratios[event.kind].append(changed[event.kind][-1] / links)
        shadows.append(change.shadow / maintained.node_count)
        degrees.append(maintained.max_degree)
        averages.append(2 * maintained.link_count / maintained.node_count)
    return {
        "max_degree": degrees[-1],
        "average_degree": averages[-1],
        "mean_max_degree": mean(degrees),
        "mean_average_degree": mean(averages),
        "shadow_share": mean(shadows),
        "largest_shadow_share": max(shadows),
        **{f"{kind}_links": mean(values) for kind, values in changed.items()},
        **{f"{kind}_repair_ratio": mean(values) for kind, values in ratios.items()},
    }


def report_findings(console: Console) -> list[dict[str, Any]]:
    rows = [findings(popularity) for popularity in POPULARITIES]
    for found in rows:
        table = Table(title=f"findings of Shadows, {found['popularity']} popularity", title_justify="left")
        table.add_column("")
        for heading in ("max degree", "average", "join links", "leave links", "join repair", "leave repair", "shadow"):
            table.add_column(heading, justify="right")
        for name, numbers in found.items():
            if isinstance(numbers, dict):
                table.add_row(
                    name,
                    f"{numbers['max_degree']} ({numbers['mean_max_degree']:.1f})",
                    f"{numbers['average_degree']:.2f} ({numbers['mean_average_degree']:.2f})",
                    f"{numbers['join_links']:.2f}",
                    f"{numbers['leave_links']:.2f}",
                    f"{100 * numbers['join_repair_ratio']:.3f}%",
                    f"{100 * numbers['leave_repair_ratio']:.3f}%",
                    f"{100 * numbers['shadow_share']:.2f}% (<= {100 * numbers['largest_shadow_share']:.2f}%)",
                )
        console.print(table)
        for backups in ("primal-dual", "greedy"):
            numbers = found[backups]
            console.print(
                f"{backups}: backups {100 * numbers['backups_share']:.2f}% of the nodes, primaries "
                f"{numbers['fewest_primaries']} to {numbers['most_primaries']}, "
                f"{100 * numbers['below_5_primaries']:.1f}% of the nodes with fewer than 5"
            )
    return rows
