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
from topicloom.designers.backbone.fleet_rows import InterestRows, Rows
from topicloom.designers.backbone.leaves import Hung, count_blocks, hang_block, settle
from topicloom.designers.backbone.trunk import CORE_NODES, Trunk, by_size, grow_trunk, links_of
from topicloom.designers.base import MAX_DEGREE, Designer, Links, Parameter
from topicloom.designers.baselines.measured_links import measured
from topicloom.designers.greedy import gm, low_oda, merging, minmax_oda
from topicloom.errors import InputError
from topicloom.kernels.backbone.covers import attaching_bytes
from topicloom.kernels.backbone.host_rows import host_rows_bytes
from topicloom.model.interest import Ids, Interest

_CORES = {module.DESIGNER.name: module.DESIGNER for module in (gm, minmax_oda, low_oda)}


def core_designer(parameters: Mapping[str, Any]) -> Any:
    """The function that links the core."""
    designer = _CORES[parameters["core"]]
    defaults = designer.checked({})
    return lambda interest, watch: designer.build(interest, defaults, np.random.default_rng(0), watch)


def build(interest: Interest, parameters: Mapping[str, Any], rng: np.random.Generator, watch: Watch) -> Links:
    """Links of the core, of other hosts, of leaves block by block, and of what was left."""
    fleet = InterestRows(interest)
    trunk = grow_trunk(
        fleet, core_designer(parameters), parameters.get("core_size"), parameters.get("max_degree"), watch
    )
    is_leaf = np.ones(interest.node_count, np.bool_)
    is_leaf[trunk.hosts] = False
    order = by_size(fleet.sizes)
    leaves = order[is_leaf[order]]
    blocks = count_blocks(int(fleet.sizes[leaves].sum()))

    def hang(block: int) -> Hung:
        return hang_block(trunk, fleet.rows(leaves[leaves % blocks == block]), block, blocks, watch.ticks)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        hung = list(threads.map(hang, range(blocks)))
    hung.append(_settled(trunk, hung, interest.node_count, watch))
    parts = [trunk.links, *(links_of(part.leaf, part.host, part.gain) for part in hung)]
    links = Links(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    if trunk.unmet or len(hung[-1].unmet_leaf):
        # A link may then join more than what it was made for.
        return measured(interest, links.source, links.target)
    return links


def _settled(trunk: Trunk, hung: list[Hung], nodes: int, watch: Watch) -> Hung:
    """What the blocks could not attach, attached as far as there is room."""
    unmet = [np.concatenate(columns) for columns in zip(*((h.unmet_leaf, h.unmet_topic) for h in hung), strict=True)]
    leaf_links = np.bincount(np.concatenate([part.leaf for part in hung]), minlength=nodes)
    host_links = np.bincount(np.concatenate([part.host for part in hung]), minlength=nodes)
    rows = unmet_rows(unmet[0], unmet[1])
    return settle(trunk, rows, leaf_links[rows.nodes], host_links[trunk.hosts], watch.ticks)


def unmet_rows(leaves: Ids, topics: Ids) -> Rows:
    """Subscriptions that were not met as rows, by the ids of the leaves."""
    order = np.lexsort((topics, leaves))
    nodes, first = np.unique(leaves[order], return_index=True)
    return Rows(nodes.astype(np.int32), np.append(first, len(leaves)).astype(np.int64), topics[order])


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that it takes at most: the core's designer, the rows of all nodes twice, and links."""
    core = core_nodes(interest.node_count, parameters)
    nodes, subscriptions, topics = interest.node_count, interest.subscription_count, interest.topic_count
    longest = int(np.diff(interest.node_start).max(initial=0))
    of_core = min(core * longest, subscriptions) * 36 + core * (core + topics // 2)
    working = attaching_bytes(nodes, subscriptions, longest) + host_rows_bytes(nodes, subscriptions, topics)
    return of_core + working + subscriptions * 32 + nodes * 40


def core_nodes(nodes: int, parameters: Mapping[str, Any]) -> int:
    """How many nodes the core has; an error where there are not as many."""
    core = parameters.get("core_size")
    if core is not None and core > nodes:
        raise InputError(f"core_size is {core} and there are {nodes} nodes; give at most as many", "core_size")
    return min(nodes, CORE_NODES if core is None else core)


DESIGNER = Designer(
    name="backbone",
    paper="none; after the divide and conquer of Chen, Jacobsen and Vitenberg",
    rule="a core of the largest nodes by another designer; everybody else attached by covers of its topics",
    guarantee="topic-connected unless max_degree forbids it; each topic hangs together among the hosts",
    build=build,
    parameters=(
        Parameter("core", str, "the designer of the core", "gm", choices=tuple(_CORES)),
        Parameter("core_size", int, "the nodes of the core", optional=True),
        replace(MAX_DEGREE, optional=True),
    ),
    memory=memory,
    total=merging.total,
)
