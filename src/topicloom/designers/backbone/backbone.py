"""Backbone: a core designed by another designer, everybody else hung onto it.

Rule: the nodes with most topics are the core, linked by the designer `core`. Other nodes with many topics, and one of
every topic, are hosts: attached one after the other to those before them. All others are leaves and are attached to
hosts. Attaching is covering: each topic of a node by a host that wants it, with few hosts.

Guarantee: topic-connected without `max_degree`; with it no node has more links, and what it does not allow to connect
shows in the support. Every link contributes.

Cost: that of the designer on the core, and for every other node some evaluations of all hosts, 64 at a time. Blocks of
leaves are attached at once by all processors. Memory: see `memory`.

Symbols: none; it is no paper's. The idea of a core that others join is that of divide and conquer in Chen, Jacobsen
and Vitenberg (2010, 2016), whose parts are drawn at random and designed alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from topicloom.algorithms import Watch
from topicloom.designers.backbone.fleet_rows import InterestRows
from topicloom.designers.backbone.leaves import Hung, all_links, count_blocks, hang_block, joined
from topicloom.designers.backbone.repair import repaired
from topicloom.designers.backbone.trunk import CoreDesign, by_size, grow_trunk
from topicloom.designers.base import MAX_DEGREE, Designer, Links, Parameter
from topicloom.designers.baselines.measured_links import measured
from topicloom.designers.greedy import gm, low_oda, merging, minmax_oda
from topicloom.errors import InputError
from topicloom.kernels.backbone.covers import attaching_bytes
from topicloom.kernels.backbone.fitting_links import fitting
from topicloom.kernels.backbone.host_rows import host_rows_bytes
from topicloom.model.constraints import ConstraintArrays
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import PriceArrays

_CORES = {module.DESIGNER.name: module.DESIGNER for module in (gm, minmax_oda, low_oda)}


def core_designer(parameters: Mapping[str, Any], prices: PriceArrays | None = None) -> CoreDesign:
    """The function that links the core: `gm` unless another is named, `low-oda` with a limit, which gm would pass."""
    designer = _CORES[parameters.get("core") or ("low-oda" if "max_degree" in parameters else "gm")]
    # The core has no names, only an order.
    defaults = designer.checked({"ties": "names"})

    def design_core(interest: Interest, nodes: Ids, watch: Watch) -> Links:
        priced = None if prices is None else PriceArrays(prices.group[nodes], prices.price)
        links: Links = designer.build(interest, defaults, np.random.default_rng(0), watch, None, priced)
        return links

    return design_core


def build(
    interest: Interest,
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
    watch: Watch,
    constraints: ConstraintArrays | None = None,
    prices: PriceArrays | None = None,
) -> Links:
    """Links of the core, of other hosts, of leaves block by block, and of what was left.

    With constraints: the links that stay, of these those that may be built, and what they leave in pieces greedily.
    """
    if constraints is None:
        return _grown(interest, parameters, prices, watch)
    if "max_degree" in parameters:
        constraints = replace(constraints, room=np.minimum(constraints.room, parameters["max_degree"]))
    usual = max(1, int(np.median(constraints.room)))
    limited = {**parameters, "max_degree": usual} if usual < interest.node_count else parameters
    grown = _grown(interest, limited, prices, watch)
    source = np.append(constraints.source, grown.source)
    target = np.append(constraints.target, grown.target)
    built = fitting(source, target, constraints.room, constraints.group, constraints.permitted, len(constraints.source))
    watch.ticks[0] = 0
    begun = measured(interest, source[built], target[built])
    needed = (begun.contribution > 0) | (np.arange(len(built)) < len(constraints.source))
    begun = Links(begun.source[needed], begun.target[needed], begun.contribution[needed])
    return merging.completed_links(interest, begun, constraints, prices, watch)


def _grown(interest: Interest, parameters: Mapping[str, Any], prices: PriceArrays | None, watch: Watch) -> Links:
    fleet = InterestRows(interest)
    cores = core_sizes(interest.node_count, parameters)
    grown = grow_trunk(fleet, core_designer(parameters, prices), cores, parameters.get("max_degree"), watch, prices)
    is_leaf = np.ones(interest.node_count, np.bool_)
    is_leaf[grown.trunk.hosts] = False
    order = by_size(fleet.sizes)
    leaves = order[is_leaf[order]]
    blocks = count_blocks(int(fleet.sizes[leaves].sum()))

    def hang(block: int) -> Hung:
        return hang_block(grown.trunk, fleet.rows(leaves[leaves % blocks == block]), block, blocks, watch.ticks)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        hung = joined(list(threads.map(hang, range(blocks))))
    whole = all_links(grown, hung, interest.node_count, watch.ticks)
    if len(whole.unmet):
        links = repaired(fleet, whole.links, whole.unmet, grown.trunk.max_degree, watch.ticks)
        # A link may then join more than what it was made for.
        return measured(interest, links.source, links.target)
    return whole.links


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that it takes at most: the core's designer, the rows of all nodes twice, and links."""
    require_core(interest.node_count, parameters)
    core = min(max(core_sizes(interest.node_count, parameters)), interest.node_count)
    nodes, subscriptions, topics = interest.node_count, interest.subscription_count, interest.topic_count
    longest = int(np.diff(interest.node_start).max(initial=0))
    of_core = min(core * longest, subscriptions) * 36 + core * (core + topics // 2)
    working = attaching_bytes(nodes, subscriptions, longest) + host_rows_bytes(nodes, subscriptions, topics)
    return of_core + working + subscriptions * 32 + nodes * 40


def core_sizes(nodes: int, parameters: Mapping[str, Any]) -> tuple[int, ...]:
    """How many nodes the core has: a few, or with a limit on degrees, which it spreads best, a tenth up to 2,000.

    Where hosts then have too little room for all others, it is two fifths, up to 8,000: on the uniform workload of
    benchmarks/backbone.py that gives a tenth fewer links, where there is room enough it gives more.
    """
    if "core_size" in parameters:
        return (int(parameters["core_size"]),)
    if "max_degree" not in parameters:
        return (300,)
    return max(300, min(nodes // 10, 2000)), max(300, min(nodes * 2 // 5, 8000))


def require_core(nodes: int, parameters: Mapping[str, Any]) -> None:
    """Refuse a core of more nodes than there are."""
    core = parameters.get("core_size")
    if core is not None and core > max(1, nodes):
        raise InputError(f"core_size is {core} and there are {nodes} nodes; give at most as many", "core_size")


DESIGNER = Designer(
    name="backbone",
    paper="none; after the divide and conquer of Chen, Jacobsen and Vitenberg",
    rule="a core of the largest nodes by another designer; everybody else attached by covers of its topics",
    guarantee="topic-connected unless max_degree forbids it; each topic hangs together among the hosts",
    build=build,
    parameters=(
        Parameter("core", str, "the designer of the core", choices=tuple(_CORES), optional=True),
        Parameter("core_size", int, "the nodes of the core", optional=True),
        replace(MAX_DEGREE, optional=True),
    ),
    memory=memory,
    total=merging.total,
    takes_constraints=True,
    takes_prices=True,
)
