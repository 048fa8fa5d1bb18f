"""What the Content paper found, on our networks: figures 9 and 10, the gap to the least cost, and Steiner trees."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from topicloom.content import Assignment, assign, cost, relayed_core
from topicloom.content.core_trees import spanning_tree
from topicloom.workloads.content import content_network

COMPARED = ("packing", "clustering", "steiner-mixing")
SIZES = (1000, 2000, 5000, 10_000)
RATIOS = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0)


def main() -> None:
    """Run everything with as many networks a point as asked for (10)."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    console = Console(width=150)
    for prices in ("plane", "independent"):
        settings: dict[str, Any] = {"prices": prices}
        _ratios(
            console,
            f"figure 9, {prices} prices: random / this by users",
            {f"{users:,}": (users, users // 100, settings) for users in SIZES},
            seeds,
        )
        _ratios(
            console,
            f"figure 10, {prices} prices, 10,000 users: random / this by access / core",
            {f"{ratio:g}": (10_000, 100, settings | {"access_to_core": ratio}) for ratio in RATIOS},
            max(1, seeds // 2),
        )
    _ratios(
        console,
        "10,000 users, plane prices: random / this by width of subscriptions, access links a tenth of core links",
        {
            f"{width:g}": (10_000, 100, {"width": width, "access_to_core": 0.1})
            for width in (0.002, 0.01, 0.05, 0.2, 0.9)
        },
        max(1, seeds // 2),
    )
    _gaps(console, seeds)
    _steiner(console, seeds)


def _ratios(console: Console, title: str, points: dict[str, tuple[int, int, dict[str, Any]]], seeds: int) -> None:
    table = Table(title=f"{title} ({seeds} networks)", title_justify="left")
    for heading in ("algorithm", *points):
        table.add_column(heading, justify="right")
    found = {point: [_costs(*of, seed) for seed in range(1, seeds + 1)] for point, of in points.items()}
    for name in COMPARED:
        cells = [np.array([costs["random"].total / costs[name].total for costs in of]) for of in found.values()]
        table.add_row(name, *(f"{cell.mean():.2f} ± {cell.std():.2f}" for cell in cells))
    shares = [np.mean([costs["packing"].core / costs["packing"].total for costs in of]) for of in found.values()]
    table.add_row("core share of packing", *(f"{share:.3f}" for share in shares))
    spread = [np.mean([_spread(costs) for costs in of]) for of in found.values()]
    table.add_row("highest / lowest core", *(f"{ratio:.2f}" for ratio in spread))
    console.print(table)


def _costs(users: int, brokers: int, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    network = content_network(users, brokers, 100, seed=seed, **settings).network
    return {name: cost(assign(network, name, seed=seed)) for name in ("random", *COMPARED)}


def _spread(costs: dict[str, Any]) -> float:
    core = [priced.core for priced in costs.values()]
    return float(max(core) / min(core)) if min(core) else 1.0


def _gaps(console: Console, seeds: int) -> None:
    """How far from the least cost each algorithm is, on networks small enough to know it."""
    table = Table(title=f"7 users, 3 brokers, 3 channels: this / exact ({seeds} networks)", title_justify="left")
    for heading in ("algorithm", "mean", "highest", "exact in"):
        table.add_column(heading, justify="right")
    names = ("random", *COMPARED, "migration")
    gaps: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(1, seeds + 1):
        network = content_network(7, 3, 3, width=0.4, access_to_core=0.3, seed=seed).network
        least = cost(assign(network, "exact")).total
        for name in names:
            gaps[name].append(cost(assign(network, name, seed=seed)).total / least)
    for name, found in gaps.items():
        best = sum(gap < 1 + 1e-9 for gap in found)
        table.add_row(name, f"{np.mean(found):.3f}", f"{max(found):.3f}", f"{best} of {seeds}")
    console.print(table)


def _steiner(console: Console, seeds: int) -> None:
    """How much lighter than the spanning tree the best tree through other brokers is; all subsets of 9 brokers."""
    title = "spanning tree / lightest Steiner tree, 9 brokers, all sets of so many of them"
    table = Table(title=title, title_justify="left")
    for heading in ("prices", "of", "mean", "highest", "lighter in"):
        table.add_column(heading, justify="right")
    for prices in ("plane", "independent"):
        for size in (3, 4, 5, 6):
            ratios = []
            for seed in range(1, seeds + 1):
                core = content_network(1, 9, 1, prices=prices, seed=seed).network.core
                weights = {
                    some: float(spanning_tree(core, np.array(some, np.int32))[2].sum())
                    for count in range(size, 10)
                    for some in itertools.combinations(range(9), count)
                }
                for some in itertools.combinations(range(9), size):
                    least = min(weight for whole, weight in weights.items() if set(some) <= set(whole))
                    ratios.append(weights[some] / least)
            lighter = np.mean(np.array(ratios) > 1 + 1e-9)
            table.add_row(prices, str(size), f"{np.mean(ratios):.4f}", f"{max(ratios):.3f}", f"{lighter:.0%}")
    console.print(table)
    for width in (0.002, 0.01):
        saved = []
        for seed in range(1, max(2, seeds // 2)):
            network = content_network(10_000, 100, 100, width=width, seed=seed).network
            packed: Assignment = assign(network, "packing")
            saved.append(1 - relayed_core(packed) / cost(packed).core)
        console.print(
            f"10,000 users, width {width:g}: relays save at least {np.mean(saved):.2%} of the core cost of packing"
        )


if __name__ == "__main__":
    main()
