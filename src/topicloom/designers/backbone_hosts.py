"""The hosts of a backbone: which nodes they are, and the links among them.

Nodes and their topics are read through `FleetRows`: from memory, or from tables on Spark.

Hosts are taken by falling number of topics. The first of them are the core, which another designer links. The others
are attached one after the other, each to those before it; the first of them that wants a topic begins it. So every
topic is connected among the hosts that want it, and every topic of two nodes or more has a host.

With a limit on degrees, nodes become hosts until these have enough spare links for all others. A core whose own design
passes the limit is not designed: its nodes are attached like other hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import Links
from topicloom.kernels.bit_planes import HostRows, new_host_rows
from topicloom.kernels.covers import TRIES, NodesToAttach, attach, new_attached, new_bench, new_hosting
from topicloom.model.interest import Ids, Interest, Starts
from topicloom.model.prices import LinkPrices
from topicloom.registry import Watch


class Rows(NamedTuple):
    """Topics by node, for some of the nodes: those of the k-th are `topics[start[k]:start[k + 1]]`, rising."""

    nodes: Ids
    start: Starts
    topics: Ids


class Members(NamedTuple):
    """Nodes by topic, for some of the topics: those of the k-th are `nodes[start[k]:start[k + 1]]`, rising."""

    topics: Ids
    start: Starts
    nodes: Ids


class FleetRows(Protocol):
    """Nodes and how many topics each wants; the topics themselves only of those that are asked for."""

    topic_count: int
    sizes: Ids
    subscribers: npt.NDArray[np.int64]  # nodes that want each topic

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        ...

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        ...

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        ...


class InterestRows:
    """The nodes of an interest."""

    def __init__(self, interest: Interest) -> None:
        self._interest = interest
        self.topic_count = interest.topic_count
        self.sizes: Ids = np.diff(interest.node_start).astype(np.int32)
        self.subscribers = np.diff(interest.topic_start)

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        interest = self._interest
        most = int(self.sizes.max(initial=0))
        topics = np.repeat(np.arange(self.topic_count), self.subscribers)
        order = np.argsort(topics * (most + 1) + (most - self.sizes[interest.topic_nodes]), kind="stable")
        rank = np.arange(len(order)) - interest.topic_start[topics]
        return np.unique(interest.topic_nodes[order[rank < counts[topics]]])

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        start, places = _some(self._interest.node_start, nodes)
        return Rows(nodes, start, self._interest.node_topics[places])

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        start, places = _some(self._interest.topic_start, topics)
        return Members(topics, start, self._interest.topic_nodes[places])


def _some(starts: Starts, rows: Ids) -> tuple[Starts, Starts]:
    """Some of the rows that begin at `starts`: where each begins among them, and the places of all that is in them."""
    sizes = np.diff(starts)[rows]
    start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    return start, np.repeat(starts[:-1][rows] - start[:-1], sizes) + np.arange(start[-1])


# Of the core as an interest, and the ids of its nodes.
CoreDesign = Callable[[Interest, Ids, Watch], Links]

# Measured on the workloads of benchmarks/backbone.py: more hosts cost time and save few links.
_HOST_SHARE = 5
_MOST_HOSTS = 10_000
# Spare links that leaves need, as a multiple of what they would take: in every topic if hosts served no other, and in
# all if leaves took as many links as hosts do.
_SPARE = 1.25
# Hosts of every topic with a limit, so that a host without spare links is not the only one.
_LEAST_HOSTS = 3


@dataclass(frozen=True)
class Hosts:
    """Hosts in the order in which they were placed, with all that attaching a leaf needs."""

    nodes: Ids
    rows: HostRows
    degree: npt.NDArray[np.int64]
    max_degree: int  # of every node; the number of nodes if there is no limit
    prices: LinkPrices | None = None

    @property
    def host_prices(self) -> npt.NDArray[np.int64]:
        """The price of a link with every host, by the group of a node."""
        return host_prices(self.nodes, self.prices)


class LinkedHosts(NamedTuple):
    """Hosts and their links with each other."""

    hosts: Hosts
    links: Links
    uncovered: Ids  # topics in which a host could not be connected within the limit


def links_of(first: Ids, second: Ids, contribution: Ids) -> Links:
    """Links with the smaller id first."""
    return Links(np.minimum(first, second), np.maximum(first, second), contribution)


def host_prices(hosts: Ids, prices: LinkPrices | None) -> npt.NDArray[np.int64]:
    """The price of a link with every host, by the group of a node."""
    return np.zeros((1, len(hosts)), np.int64) if prices is None else prices.price[:, prices.group[hosts]]


def nodes_to_attach(nodes: Ids, own: Ids, most: npt.NDArray[np.int64], prices: LinkPrices | None) -> NodesToAttach:
    """Nodes to attach, with their groups."""
    return NodesToAttach(own, most, np.zeros(len(nodes), np.int32) if prices is None else prices.group[nodes])


def by_size(sizes: Ids) -> Ids:
    """Nodes by falling number of topics, of equals by id."""
    return np.argsort(-sizes, kind="stable").astype(np.int32)


def link_hosts(
    fleet: FleetRows,
    design_core: CoreDesign,
    core_sizes: Sequence[int],
    max_degree: int | None,
    watch: Watch,
    prices: LinkPrices | None = None,
) -> LinkedHosts:
    """Choose hosts and link them, with the first core that leaves enough spare links for all others, else the last."""
    nodes = len(fleet.sizes)
    limit = nodes if max_degree is None else min(max_degree, nodes)
    order = by_size(fleet.sizes)
    needed = fleet.largest(_hosts_by_topic(fleet.subscribers, None if max_degree is None else limit))
    builder = _HostBuilder(fleet, limit, watch, prices)
    for size in core_sizes:
        core = min(size, nodes)
        is_host = np.zeros(nodes, np.bool_)
        is_host[order[: max(core, min(nodes // _HOST_SHARE, _MOST_HOSTS))]] = True
        is_host[needed] = True
        tried = _HostBuilder(fleet, limit, watch, prices)
        watch.ticks[0] = 0
        designed = tried.begin(fleet.rows(order[is_host[order]]), core, design_core)
        if designed or len(builder.hosts) == 0:
            builder = tried
        if max_degree is None or not designed or not builder.missing_hosts():
            break
    while max_degree is not None and (more := builder.missing_hosts()):
        is_host = np.zeros(nodes, np.bool_)
        is_host[builder.hosts] = True
        builder.add(fleet.rows(order[~is_host[order]][:more]))
    return builder.built()


def _hosts_by_topic(subscribers: npt.NDArray[np.int64], limit: int | None) -> npt.NDArray[np.int64]:
    """How many hosts each topic needs: one, and with a limit enough for all its nodes; none if one node wants it."""
    if limit is None:
        return (subscribers > 1).astype(np.int64)
    enough = np.ceil(_SPARE * subscribers / limit).astype(np.int64)
    return np.where(subscribers > 1, np.maximum(enough, _LEAST_HOSTS), 0)


class _HostBuilder:
    """Hosts placed so far."""

    def __init__(self, fleet: FleetRows, limit: int, watch: Watch, prices: LinkPrices | None) -> None:
        self._fleet, self._limit, self._watch, self._prices = fleet, limit, watch, prices
        none = np.empty(0, np.int32)
        self._rows = Rows(none, np.zeros(1, np.int64), none)
        self._degree: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._links = [Links(none, none, none)]
        self._uncovered: list[Ids] = [none]

    @property
    def hosts(self) -> Ids:
        """Ids of the hosts."""
        return self._rows.nodes

    def begin(self, rows: Rows, core: int, design_core: CoreDesign) -> bool:
        """Place the first hosts; design as many as the core has if that keeps the limit, and return whether it does."""
        inner = Rows(rows.nodes[:core], rows.start[: core + 1], rows.topics[: rows.start[core]])
        designed = _designed(inner, design_core, self._watch)
        degree = np.bincount(np.concatenate([designed.source, designed.target]), minlength=core)
        kept = bool(degree.max(initial=0) <= self._limit)
        if kept:
            self._rows, self._degree = inner, degree.astype(np.int64)
            source, target = inner.nodes[designed.source], inner.nodes[designed.target]
            self._links.append(links_of(source, target, designed.contribution))
        else:
            self._watch.ticks[0] = 0
        self.add(_after(rows, len(self._degree)))
        return kept

    def add(self, more: Rows) -> None:
        """Attach more hosts, one after the other, to those before them."""
        old = len(self._degree)
        self._rows = _joined(self._rows, more)
        count = len(self._rows.nodes)
        degree = np.zeros(count, np.int64)
        degree[:old] = self._degree
        prices = host_prices(self.hosts, self._prices)
        hosting = new_hosting(degree, self._limit - degree, np.arange(count) < old, prices)
        own, most = np.arange(old, count, dtype=np.int32), np.full(len(more.nodes), self._limit, np.int64)
        longest = int(np.diff(more.start).max(initial=0))
        attached = new_attached(len(more.topics))
        links, uncovered = attach(
            self._host_rows(),
            hosting,
            more.start,
            more.topics,
            nodes_to_attach(more.nodes, own, most, self._prices),
            1,
            new_bench(count, longest),
            attached,
            self._watch.ticks,
        )
        self._degree = hosting.busy
        self._uncovered.append(attached.uncovered_topic[:uncovered].copy())
        self._links.append(
            links_of(more.nodes[attached.node[:links]], self.hosts[attached.host[:links]], attached.gain[:links].copy())
        )

    def missing_hosts(self) -> int:
        """How many nodes should become hosts, so that hosts have enough spare links for all that are left."""
        leaves = len(self._fleet.sizes) - len(self.hosts)
        each = max(1.0, sum(len(links.source) for links in self._links) / len(self.hosts))
        spare = int((self._limit - self._degree).clip(0).sum())
        missing = _SPARE * leaves * each - spare
        if missing <= 0 or self._watch.stopped:
            return 0
        more = int(missing / max(1.0, self._limit - each)) + 1
        return min(leaves, max(more, len(self.hosts) // 4, TRIES))

    def built(self) -> LinkedHosts:
        """The hosts placed so far, with their links."""
        hosts = Hosts(self.hosts, self._host_rows(), self._degree, self._limit, self._prices)
        return LinkedHosts(hosts, Links.joined(self._links), np.concatenate(self._uncovered))

    def _host_rows(self) -> HostRows:
        return new_host_rows(self._rows.start, self._rows.topics, self._fleet.topic_count)


def _designed(core: Rows, design_core: CoreDesign, watch: Watch) -> Links:
    """Links of the core, by the places of its nodes."""
    wanted, topics = np.unique(core.topics, return_inverse=True)
    nodes = np.repeat(np.arange(len(core.nodes)), np.diff(core.start))
    # Designers use the order of names only, which is that of ids.
    node_names, topic_names = (tuple(f"{k:09}" for k in range(count)) for count in (len(core.nodes), len(wanted)))
    return design_core(Interest.from_ids(node_names, topic_names, nodes, topics), core.nodes, watch)


def _after(rows: Rows, first: int) -> Rows:
    return Rows(rows.nodes[first:], rows.start[first:] - rows.start[first], rows.topics[rows.start[first] :])


def _joined(rows: Rows, more: Rows) -> Rows:
    start = np.concatenate([rows.start, rows.start[-1] + more.start[1:]])
    return Rows(np.concatenate([rows.nodes, more.nodes]), start, np.concatenate([rows.topics, more.topics]))
