"""Backbone: a core designed by another designer, and all other nodes attached to it.

Rule: the nodes with most topics are the core, linked by the designer `core`. Other nodes with many topics, and one of
every topic, are hosts too: each is attached to those before it. All others are leaves and are attached to hosts.
Attaching is covering: each topic of a node by a host that wants it, with few hosts.

Guarantee: topic-connected without `max_degree`; with it no node has more links, and topics that it does not allow to
connect show in the support. Every link contributes.

Cost: that of the designer on the core, and for every other node some evaluations of all hosts, 64 at a time.

Leaves are dealt to blocks by their ids; the subscriptions alone say how many blocks there are. Each block is attached
by itself: it knows the links that hosts have among themselves and its own, and has a fixed share of the spare links of
every host. So blocks can be attached in any order, at once, on any machine and twice, with the same links. Topics that
a block could not cover with its share are covered at the end, with the spare links that all blocks left.

Symbols: none, as no paper has it. The idea of a core that others join is that of divide and conquer in Chen, Jacobsen
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

from topicloom.designers import gm, low_oda, minmax_oda
from topicloom.designers.backbone_hosts import (
    CoreDesign,
    Hosts,
    InterestRows,
    LinkedHosts,
    Rows,
    by_size,
    link_hosts,
    links_of,
    nodes_to_attach,
)
from topicloom.designers.backbone_repair import repaired
from topicloom.designers.contract import CONSTRAINTS, MAX_DEGREE, PRICES, Designer, DesignProblem, Links
from topicloom.designers.greedy import Greedy, Representation, greedy_merges
from topicloom.errors import InputError
from topicloom.kernels.bit_planes import host_rows_bytes
from topicloom.kernels.covers import attach, attaching_bytes, fitting, new_attached, new_bench, new_hosting
from topicloom.metrics.support import possible_merges
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry import Watch
from topicloom.registry.parameters import Parameter

# A block of this many subscriptions takes about a second, and 10 MB besides the hosts.
_BLOCK_SUBSCRIPTIONS = 1 << 18


class AttachedLeaves(NamedTuple):
    """Links of leaves with hosts, as ids, in the order they were made, and subscriptions that they do not connect."""

    leaf: Ids
    host: Ids
    gain: Ids
    uncovered_leaf: Ids
    uncovered_topic: Ids

    @classmethod
    def joined(cls, blocks: Sequence[AttachedLeaves]) -> AttachedLeaves:
        """Blocks one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def count_blocks(subscriptions: int) -> int:
    """How many blocks leaves of so many subscriptions are dealt to."""
    return max(1, -(-subscriptions // _BLOCK_SUBSCRIPTIONS))


def attach_block(hosts: Hosts, leaves: Rows, block: int, blocks: int, ticks: npt.NDArray[np.int64]) -> AttachedLeaves:
    """Attach the leaves of one block: those whose id leaves the remainder `block` when divided by `blocks`."""
    share = _share((hosts.max_degree - hosts.degree).clip(0), block, blocks)
    most = np.full(len(leaves.nodes), hosts.max_degree, np.int64)
    # The other blocks do about the same at the same time, so a link here stands for one in each of them.
    return _attached(hosts, leaves, hosts.degree, share, most, blocks, ticks)


class BackboneLinks(NamedTuple):
    """All links of a backbone, and topics in which a link that was to connect a node is missing."""

    links: Links
    uncovered: Ids


def backbone_links(
    linked: LinkedHosts, attached: AttachedLeaves, nodes: int, ticks: npt.NDArray[np.int64]
) -> BackboneLinks:
    """Links of the hosts, of all blocks in their order, and of leaves that could not be attached before."""
    late = _attach_the_rest(linked.hosts, attached, nodes, ticks)
    parts = [linked.links, *(links_of(part.leaf, part.host, part.gain) for part in (attached, late))]
    return BackboneLinks(Links.joined(parts), np.concatenate([linked.uncovered, late.uncovered_topic]))


def _attach_the_rest(
    hosts: Hosts, attached: AttachedLeaves, nodes: int, ticks: npt.NDArray[np.int64]
) -> AttachedLeaves:
    """Cover what the blocks could not, with all spare links."""
    degree = hosts.degree + np.bincount(attached.host, minlength=nodes)[hosts.nodes]
    order = np.lexsort((attached.uncovered_topic, attached.uncovered_leaf))
    leaves, first = np.unique(attached.uncovered_leaf[order], return_index=True)
    start = np.append(first, len(order)).astype(np.int64)
    rows = Rows(leaves.astype(np.int32), start, attached.uncovered_topic[order])
    most = hosts.max_degree - np.bincount(attached.leaf, minlength=nodes)[rows.nodes]
    return _attached(hosts, rows, degree, hosts.max_degree - degree, most, 1, ticks)


def _share(spare: npt.NDArray[np.int64], block: int, blocks: int) -> npt.NDArray[np.int64]:
    """How many spare links of every host a block may take; the shares of all blocks add up to them."""
    turn = np.arange(len(spare)) % blocks
    share: npt.NDArray[np.int64] = (spare * (block + 1) + turn) // blocks - (spare * block + turn) // blocks
    return share


def _attached(
    hosts: Hosts,
    leaves: Rows,
    degree: npt.NDArray[np.int64],
    spare: npt.NDArray[np.int64],
    most: npt.NDArray[np.int64],
    step: int,
    ticks: npt.NDArray[np.int64],
) -> AttachedLeaves:
    attached = new_attached(len(leaves.topics))
    links, uncovered = attach(
        hosts.rows,
        new_hosting(degree, spare, np.ones(len(degree), np.bool_), hosts.host_prices),
        leaves.start,
        leaves.topics,
        nodes_to_attach(leaves.nodes, np.full(len(leaves.nodes), -1, np.int32), most, hosts.prices),
        step,
        new_bench(len(degree), int(np.diff(leaves.start).max(initial=0))),
        attached,
        ticks,
    )
    return AttachedLeaves(
        leaves.nodes[attached.node[:links]],
        hosts.nodes[attached.host[:links]],
        attached.gain[:links].copy(),
        leaves.nodes[attached.uncovered_node[:uncovered]],
        attached.uncovered_topic[:uncovered].copy(),
    )


_CORES = {designer.name: designer for designer in (gm.DESIGNER, minmax_oda.DESIGNER, low_oda.DESIGNER)}


def core_designer(parameters: Mapping[str, Any], prices: LinkPrices | None = None) -> CoreDesign:
    """The function that links the core: `gm` unless another is named; with a limit `low-oda`, as gm would pass it."""
    designer = _CORES[parameters.get("core") or ("low-oda" if "max_degree" in parameters else "gm")]
    # The core has no names, only an order.
    defaults = designer.checked({"ties": "names"})

    def design_core(interest: Interest, nodes: Ids, watch: Watch) -> Links:
        priced = None if prices is None else LinkPrices(prices.group[nodes], prices.price)
        return designer.build(DesignProblem(interest=interest, prices=priced, watch=watch), **defaults)

    return design_core


def build(problem: DesignProblem, **parameters: Any) -> Links:
    """Links of the core, of other hosts, of leaves block by block, and of leaves that were left.

    With constraints: the links that exist, of these those that may be built, and then those of Greedy Merge.
    """
    interest, limits = problem.interest, problem.limits
    if limits.unlimited:
        return _unconstrained(problem, parameters)
    if "max_degree" in parameters:
        limits = replace(limits, spare=np.minimum(limits.spare, parameters["max_degree"]))
    usual = max(1, int(np.median(limits.spare)))
    limited = {**parameters, "max_degree": usual} if usual < interest.node_count else parameters
    found = _unconstrained(problem, limited)
    source = np.append(limits.source, found.source)
    target = np.append(limits.target, found.target)
    built = fitting(source, target, limits.spare, limits.group, limits.may_link, len(limits.source))
    problem.watch.ticks[0] = 0
    begun = Links.measured(interest, source[built], target[built])
    needed = (begun.contribution > 0) | (np.arange(len(built)) < len(limits.source))
    begun = Links(begun.source[needed], begun.target[needed], begun.contribution[needed])
    return _connect_the_rest(replace(problem, limits=limits), begun)


def _connect_the_rest(problem: DesignProblem, links: Links) -> Links:
    """These links, which keep to the limits, and after them those of Greedy Merge."""
    interest = problem.interest
    begun = replace(problem, limits=replace(problem.limits, source=links.source, target=links.target))
    if problem.prices is None:
        return gm.greedy_merge(Greedy.of(begun, representation=Representation(bitsets=False)))
    if len(links.source) == 0 or links.merges < possible_merges(interest):
        return gm.greedy_merge(Greedy.of(begun))
    return links


def _unconstrained(problem: DesignProblem, parameters: Mapping[str, Any]) -> Links:
    interest, prices, watch = problem.interest, problem.prices, problem.watch
    fleet = InterestRows(interest)
    cores = core_sizes(interest.node_count, parameters)
    linked = link_hosts(fleet, core_designer(parameters, prices), cores, parameters.get("max_degree"), watch, prices)
    is_leaf = np.ones(interest.node_count, np.bool_)
    is_leaf[linked.hosts.nodes] = False
    order = by_size(fleet.sizes)
    leaves = order[is_leaf[order]]
    blocks = count_blocks(int(fleet.sizes[leaves].sum()))

    def attach_one(block: int) -> AttachedLeaves:
        return attach_block(linked.hosts, fleet.rows(leaves[leaves % blocks == block]), block, blocks, watch.ticks)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        attached = AttachedLeaves.joined(list(threads.map(attach_one, range(blocks))))
    found = backbone_links(linked, attached, interest.node_count, watch.ticks)
    if len(found.uncovered):
        links = repaired(fleet, found.links, found.uncovered, linked.hosts.max_degree, watch.ticks)
        # A link may then join more than what it was made for.
        return Links.measured(interest, links.source, links.target)
    return found.links


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Upper bound in bytes: the designer of the core, the rows of all nodes twice, and links."""
    require_core(interest.node_count, parameters)
    core = min(max(core_sizes(interest.node_count, parameters)), interest.node_count)
    nodes, subscriptions, topics = interest.node_count, interest.subscription_count, interest.topic_count
    longest = int(np.diff(interest.node_start).max(initial=0))
    of_core = min(core * longest, subscriptions) * 36 + core * (core + topics // 2)
    working = attaching_bytes(nodes, subscriptions, longest) + host_rows_bytes(nodes, subscriptions, topics)
    return of_core + working + subscriptions * 32 + nodes * 40


def core_sizes(nodes: int, parameters: Mapping[str, Any]) -> tuple[int, ...]:
    """How many nodes the core has: a few, or with a limit on degrees, which it spreads best, a tenth up to 2,000.

    If hosts then have too few spare links for all others, it is two fifths, up to 8,000: on the uniform workload of
    benchmarks/backbone.py that gives a tenth fewer links. If they have enough, it gives more.
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
    rule="a core of the largest nodes by another designer; all other nodes attached by covers of their topics",
    guarantee="topic-connected unless max_degree forbids it; each topic is connected among the hosts",
    build=build,
    parameters=(
        Parameter("core", str, "the designer of the core", choices=tuple(_CORES), optional=True),
        Parameter("core_size", int, "the nodes of the core", optional=True),
        replace(MAX_DEGREE, optional=True),
    ),
    memory=memory,
    total=greedy_merges,
    honours=CONSTRAINTS | PRICES,
)
