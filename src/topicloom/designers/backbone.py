"""A core by a greedy designer; all other nodes attached to it.

The leaves of a backbone: all nodes that are no hosts, hung onto hosts block by block.

Leaves are dealt to blocks by their ids, and how many blocks there are follows from the subscriptions alone. Every
block is attached by itself: it knows the links that hosts have among themselves and its own, and has a fixed share of
every host's room. So blocks can be attached in any order, at once, on any machine and twice, with the same links.
What a block could not cover with its share is settled at the end, with the room that all blocks left.

Backbone: a core designed by another designer, everybody else hung onto it.

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
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.designers import gm, greedy, low_oda, minmax_oda
from topicloom.designers.backbone_hosts import (
    CoreDesign,
    Grown,
    InterestRows,
    Rows,
    Trunk,
    by_size,
    grow_trunk,
    links_of,
    newcomers,
)
from topicloom.designers.backbone_repair import repaired
from topicloom.designers.contract import CONSTRAINTS, MAX_DEGREE, PRICES, Designer, DesignProblem, Links
from topicloom.errors import InputError
from topicloom.kernels.bit_planes import host_rows_bytes
from topicloom.kernels.covers import attach, attaching_bytes, fitting, new_attached, new_bench, new_hosting
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry import Watch
from topicloom.registry.parameters import Parameter

# A block of this many subscriptions takes about a second, and 10 MB besides the trunk.
_BLOCK_SUBSCRIPTIONS = 1 << 18


class Hung(NamedTuple):
    """Links of leaves with hosts, as ids, in the order they were made, and subscriptions that none of them connects."""

    leaf: Ids
    host: Ids
    gain: Ids
    unmet_leaf: Ids
    unmet_topic: Ids


def count_blocks(subscriptions: int) -> int:
    """How many blocks leaves of so many subscriptions are dealt to."""
    return max(1, -(-subscriptions // _BLOCK_SUBSCRIPTIONS))


def hang_block(trunk: Trunk, leaves: Rows, block: int, blocks: int, ticks: npt.NDArray[np.int64]) -> Hung:
    """Attach the leaves of one block: those whose id leaves the remainder `block` when divided by `blocks`."""
    room = (trunk.max_degree - trunk.degree).clip(0)
    share = _share(room, block, blocks)
    most = np.full(len(leaves.nodes), trunk.max_degree, np.int64)
    # The other blocks do about the same at the same time, so a link here stands for one in each of them.
    return _hang(trunk, leaves, trunk.degree, share, most, blocks, ticks)


def joined(hung: Sequence[Hung]) -> Hung:
    """Blocks one after the other."""
    return Hung(*(np.concatenate(columns) for columns in zip(*hung, strict=True)))


class Whole(NamedTuple):
    """All links of a backbone, and topics in which a node is not connected by what they were made for."""

    links: Links
    unmet: Ids


def all_links(grown: Grown, hung: Hung, nodes: int, ticks: npt.NDArray[np.int64]) -> Whole:
    """Links of the trunk, of all blocks in their order, and of what is settled at the end."""
    settled = _settle(grown.trunk, hung, nodes, ticks)
    parts = [grown.links, *(links_of(part.leaf, part.host, part.gain) for part in (hung, settled))]
    return Whole(Links.joined(parts), np.concatenate([grown.unmet, settled.unmet_topic]))


def _settle(trunk: Trunk, hung: Hung, nodes: int, ticks: npt.NDArray[np.int64]) -> Hung:
    """Attach what the blocks could not, with all the room that there is."""
    degree = trunk.degree + np.bincount(hung.host, minlength=nodes)[trunk.hosts]
    order = np.lexsort((hung.unmet_topic, hung.unmet_leaf))
    leaves, first = np.unique(hung.unmet_leaf[order], return_index=True)
    start = np.append(first, len(order)).astype(np.int64)
    rows = Rows(leaves.astype(np.int32), start, hung.unmet_topic[order])
    most = trunk.max_degree - np.bincount(hung.leaf, minlength=nodes)[rows.nodes]
    return _hang(trunk, rows, degree, trunk.max_degree - degree, most, 1, ticks)


def _share(room: npt.NDArray[np.int64], block: int, blocks: int) -> npt.NDArray[np.int64]:
    """What a block may take of every host's room; the shares of all blocks add up to it."""
    turn = np.arange(len(room)) % blocks
    share: npt.NDArray[np.int64] = (room * (block + 1) + turn) // blocks - (room * block + turn) // blocks
    return share


def _hang(
    trunk: Trunk,
    leaves: Rows,
    degree: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    most: npt.NDArray[np.int64],
    step: int,
    ticks: npt.NDArray[np.int64],
) -> Hung:
    attached = new_attached(len(leaves.topics))
    links, unmet = attach(
        trunk.rows,
        new_hosting(degree, room, np.ones(len(degree), np.bool_), trunk.host_prices),
        leaves.start,
        leaves.topics,
        newcomers(leaves.nodes, np.full(len(leaves.nodes), -1, np.int32), most, trunk.prices),
        step,
        new_bench(len(degree), int(np.diff(leaves.start).max(initial=0))),
        attached,
        ticks,
    )
    return Hung(
        leaves.nodes[attached.node[:links]],
        trunk.hosts[attached.host[:links]],
        attached.gain[:links].copy(),
        leaves.nodes[attached.unmet_node[:unmet]],
        attached.unmet_topic[:unmet].copy(),
    )


_CORES = {designer.name: designer for designer in (gm.DESIGNER, minmax_oda.DESIGNER, low_oda.DESIGNER)}


def core_designer(parameters: Mapping[str, Any], prices: LinkPrices | None = None) -> CoreDesign:
    """The function that links the core: `gm` unless another is named, `low-oda` with a limit, which gm would pass."""
    designer = _CORES[parameters.get("core") or ("low-oda" if "max_degree" in parameters else "gm")]
    # The core has no names, only an order.
    defaults = designer.checked({"ties": "names"})

    def design_core(interest: Interest, nodes: Ids, watch: Watch) -> Links:
        priced = None if prices is None else LinkPrices(prices.group[nodes], prices.price)
        return designer.build(DesignProblem(interest=interest, prices=priced, watch=watch), **defaults)

    return design_core


def build(problem: DesignProblem, **parameters: Any) -> Links:
    """Links of the core, of other hosts, of leaves block by block, and of what was left.

    With constraints: the links that stay, of these those that may be built, and what they leave in pieces greedily.
    """
    interest, limits = problem.interest, problem.limits
    if limits.unlimited:
        return _grown(problem, parameters)
    if "max_degree" in parameters:
        limits = replace(limits, spare=np.minimum(limits.spare, parameters["max_degree"]))
    usual = max(1, int(np.median(limits.spare)))
    limited = {**parameters, "max_degree": usual} if usual < interest.node_count else parameters
    grown = _grown(problem, limited)
    source = np.append(limits.source, grown.source)
    target = np.append(limits.target, grown.target)
    built = fitting(source, target, limits.spare, limits.group, limits.may_link, len(limits.source))
    problem.watch.ticks[0] = 0
    begun = Links.measured(interest, source[built], target[built])
    needed = (begun.contribution > 0) | (np.arange(len(built)) < len(limits.source))
    begun = Links(begun.source[needed], begun.target[needed], begun.contribution[needed])
    return greedy.completed_links(replace(problem, limits=limits), begun)


def _grown(problem: DesignProblem, parameters: Mapping[str, Any]) -> Links:
    interest, prices, watch = problem.interest, problem.prices, problem.watch
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
        return Links.measured(interest, links.source, links.target)
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
    total=greedy.total,
    honours=CONSTRAINTS | PRICES,
)
