"""Compile the kernels that tests call, in one process for each processor.

Without it the workers of `./dev test` compile the same kernels at the same time, each for itself. A kernel that is
missing here is compiled by the first test that calls it. A second run finds the mark of the first and does nothing.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba

from topicloom import DESIGNERS, Constraints, Interest, NodeRule, Overlay, Prices, bound, design, measure, synthetic
from topicloom.brokers import make_plan
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.churn import BACKUPS, Settings, improve, maintainer
from topicloom.content import ALGORITHMS, ROUTINGS, assign, core_trees, cost
from topicloom.kernels.jit import cache_folder
from topicloom.workloads import churn_trace
from topicloom.workloads.content import content_network

# Designers with kernels that the others have not, and parameters that take other kernels than the default.
SLOW = ("low-oda", "minmax-oda", "gpm", "gm-fold", "backbone", "tree")
MORE_PARAMETERS = {"backbone": {"core_size": 5, "max_degree": 6}, "gpm": {"matching": "maximal", "max_degree": 4}}


def interest() -> Interest:
    """Return a small interest."""
    return synthetic(40, 12, sizes="uniform", min_topics=2, max_topics=6, seed=1)


def sparse_interest() -> Interest:
    """Return an interest of many small topics, for which some designers take other kernels."""
    return synthetic(120, 200, sizes="uniform", min_topics=1, max_topics=3, seed=1)


def overlay() -> Overlay:
    """Return links to measure, repair and plan with."""
    return design(interest(), "gm")


def designers(*names: str) -> None:
    """Design without and within constraints, and by prices."""
    nodes = interest().node_names
    regions = {node: "eu" if number % 2 else "us" for number, node in enumerate(nodes)}
    prices = Prices({("eu", "eu"): 1, ("us", "us"): 2, ("eu", "us"): 30}, regions)
    constraints = Constraints({node: NodeRule(max_links=6) for node in nodes})
    for name in names:
        designer = DESIGNERS[name]
        budget = {designer.budget: 4} if designer.budget else {}
        design(interest(), name, **budget)
        if name != "exact":
            design(sparse_interest(), name, **budget)
        if name in MORE_PARAMETERS:
            design(interest(), name, **MORE_PARAMETERS[name])
        if "constraints" in designer.honours:
            design(interest(), name, constraints=constraints, **budget)
        if "prices" in designer.honours:
            design(interest(), name, prices=prices, **budget)


def repairs() -> None:
    """Repair after single events and after several at once, and improve."""
    events = churn_trace(interest(), 20, change_share=0.3, seed=1)
    for settings in [
        Settings("naive"),
        Settings("rebuild"),
        *(Settings("shadow", name, prune=True) for name in BACKUPS),
    ]:
        living = maintainer(overlay(), settings)
        for event in events[:10]:
            living.apply(event)
        living.apply_jointly(events[10:])
    improve(overlay(), 10)


def content() -> None:
    """Assign users to brokers, and price it."""
    network = content_network(12, 4, 5, seed=1).network
    for name in ALGORITHMS:
        assigned = assign(network, name)
    assign(network, "clustering", price="end-to-end")
    for routing in ROUTINGS:
        cost(assigned, routing=routing)
    core_trees(assigned)


def measures_and_plans() -> None:
    """Measure, bound and plan."""
    measure(interest(), overlay())
    bound(interest())
    fleet = fleet_from_tables({"brokers": {name: {"host": name} for name in interest().node_names}})
    make_plan(interest(), overlay(), fleet)
    make_plan(interest(), design(interest(), "tree"), fleet, relays=True)


# The longest first, so that all processors are done at about the same time.
FAMILIES: list[tuple[Callable[..., None], tuple[str, ...]]] = [
    (content, ()),
    (designers, ("backbone", "tree")),
    (repairs, ()),
    (designers, tuple(name for name in DESIGNERS if name not in SLOW)),
    (designers, ("low-oda", "minmax-oda", "gpm", "gm-fold")),
    (measures_and_plans, ()),
]


def compile_all() -> None:
    """Compile all families, unless this was done with these sources and this numba."""
    done = Path(cache_folder(), f"compiled-{platform.python_version()}-numba-{numba.__version__}")
    if done.exists():
        return
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for compiled in [pool.submit(family, *names) for family, names in FAMILIES]:
            compiled.result()
    done.touch()


if __name__ == "__main__":
    compile_all()
