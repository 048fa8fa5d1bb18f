"""The trunk of a backbone: which nodes are hosts, and the links among them.

Hosts are taken by falling number of topics. The first of them are the core, which another designer links. The others
are attached one after the other, each to those before it; the first of them that wants a topic begins it. So every
topic is connected among the hosts that want it, and every topic of two nodes or more has a host.

With a limit on degrees, nodes become hosts until there is room for all others. A core whose own design passes the
limit is not designed: its nodes are attached like other hosts. Part of the room is kept back for topics that no other
host can cover.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.algorithms import Watch
from topicloom.designers.backbone.fleet_rows import FleetRows, Rows
from topicloom.designers.backbone.node_limits import NodeLimits
from topicloom.designers.base import Links
from topicloom.kernels.backbone.covers import TRIES, Newcomers, attach, new_attached, new_bench, new_hosting
from topicloom.kernels.backbone.host_rows import HostRows, new_host_rows
from topicloom.model.constraints import ConstraintArrays
from topicloom.model.interest import Ids, Interest

CoreDesign = Callable[[Interest, Watch, ConstraintArrays | None], Links]

# Measured on the workloads of benchmarks/backbone.py: more hosts cost time and save few links.
_HOST_SHARE = 5
_MOST_HOSTS = 10_000
# Room that there must be for leaves, as a multiple of what they would take: in every topic if hosts served no other,
# and on the whole if leaves took as many links as hosts do.
_SPARE = 1.25
# Hosts of every topic where there is a limit, so that one without room is not the only one.
_LEAST_HOSTS = 3


@dataclass(frozen=True)
class Trunk:
    """Hosts, by the order in which they were placed: all that a leaf has to know of them."""

    hosts: Ids
    rows: HostRows
    degree: npt.NDArray[np.int64]
    limits: NodeLimits
    kept: int  # room of each host that only the last settling may use


class Grown(NamedTuple):
    """A trunk and the links of its hosts with each other."""

    trunk: Trunk
    links: Links
    unmet: int  # subscriptions of hosts that could not be connected within the limit


def links_of(first: Ids, second: Ids, contribution: Ids) -> Links:
    """Links with the smaller id first."""
    return Links(np.minimum(first, second), np.maximum(first, second), contribution)


def by_size(sizes: Ids) -> Ids:
    """Nodes by falling number of topics, of equals by id."""
    return np.argsort(-sizes, kind="stable").astype(np.int32)


def grow_trunk(
    fleet: FleetRows,
    design_core: CoreDesign,
    core_size: int,
    max_degree: int | None,
    watch: Watch,
    constraints: ConstraintArrays | None = None,
) -> Grown:
    """Choose hosts and link them."""
    nodes = len(fleet.sizes)
    core = min(core_size, nodes)
    limits = NodeLimits(nodes if max_degree is None else min(max_degree, nodes), constraints)
    limit = int(np.median(limits.of(np.arange(nodes, dtype=np.int32)))) if nodes else 0
    limited = max_degree is not None or limit < nodes
    kept = int(limited and limit >= 3)
    order = by_size(fleet.sizes)
    is_host = np.zeros(nodes, np.bool_)
    is_host[order[: max(core, min(nodes // _HOST_SHARE, _MOST_HOSTS))]] = True
    is_host[fleet.largest(_hosts_by_topic(fleet.subscribers, max(1, limit) if limited else None))] = True
    growing = _Growing(fleet, limits, limit, kept, watch)
    growing.begin(fleet.rows(order[is_host[order]]), core, design_core)
    while limited and (more := growing.missing_hosts()):
        growing.add(fleet.rows(order[~is_host[order]][:more]))
        is_host[growing.hosts] = True
    return growing.grown()


def _hosts_by_topic(subscribers: npt.NDArray[np.int64], limit: int | None) -> npt.NDArray[np.int64]:
    """How many hosts each topic needs: one, and with a limit enough for all its nodes; none where one node wants it."""
    if limit is None:
        return (subscribers > 1).astype(np.int64)
    enough = np.ceil(_SPARE * subscribers / limit).astype(np.int64)
    return np.where(subscribers > 1, np.maximum(enough, _LEAST_HOSTS), 0)


class _Growing:
    """Hosts placed so far."""

    def __init__(self, fleet: FleetRows, limits: NodeLimits, usual: int, kept: int, watch: Watch) -> None:
        self._fleet, self._limits, self._usual, self._kept, self._watch = fleet, limits, usual, kept, watch
        none = np.empty(0, np.int32)
        self._rows = Rows(none, np.zeros(1, np.int64), none)
        self._degree: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._links = [Links(none, none, none)]
        self._unmet = 0
        self._attached = self._attached_links = 0

    @property
    def hosts(self) -> Ids:
        """Ids of the hosts."""
        return self._rows.nodes

    def begin(self, rows: Rows, core: int, design_core: CoreDesign) -> None:
        """Place the first hosts; as many as the core has are designed, if that keeps the limit."""
        inner = Rows(rows.nodes[:core], rows.start[: core + 1], rows.topics[: rows.start[core]])
        designed = _designed(inner, design_core, self._limits.core(inner.nodes, self._kept), self._watch)
        degree = np.bincount(np.concatenate([designed.source, designed.target]), minlength=core)
        if (degree <= (self._limits.of(inner.nodes) - self._kept).clip(0)).all():
            self._rows, self._degree = inner, degree.astype(np.int64)
            source, target = inner.nodes[designed.source], inner.nodes[designed.target]
            self._links.append(links_of(source, target, designed.contribution))
        else:
            self._watch.ticks[0] = 0
        self.add(_after(rows, len(self._degree)))

    def add(self, more: Rows) -> None:
        """Attach more hosts, one after the other, to those before them."""
        old = len(self._degree)
        self._rows = _joined(self._rows, more)
        count = len(self._rows.nodes)
        degree = np.zeros(count, np.int64)
        degree[:old] = self._degree
        most = self._limits.of(self.hosts)
        may_meet = self._limits.may_meet(self.hosts)
        hosting = new_hosting(degree, most - degree, np.arange(count) < old, self._kept, may_meet)
        own = np.arange(old, count, dtype=np.int32)
        longest = int(np.diff(more.start).max(initial=0))
        attached = new_attached(len(more.topics))
        links, unmet = attach(
            self._host_rows(),
            hosting,
            Newcomers(more.start, more.topics, own, most[old:], self._limits.groups(more.nodes)),
            1,
            new_bench(count, longest),
            attached,
            self._watch.ticks,
        )
        self._degree = hosting.busy
        self._unmet += unmet
        self._attached += len(more.nodes)
        self._attached_links += links
        self._links.append(
            links_of(more.nodes[attached.node[:links]], self.hosts[attached.host[:links]], attached.gain[:links].copy())
        )

    def missing_hosts(self) -> int:
        """How many nodes should become hosts so that there is room for all that are left."""
        leaves = len(self._fleet.sizes) - len(self.hosts)
        each = max(1.0, self._attached_links / max(1, self._attached))
        room = int((self._limits.of(self.hosts) - self._kept - self._degree).clip(0).sum())
        missing = _SPARE * leaves * each - room
        if missing <= 0 or self._watch.stopped:
            return 0
        more = int(missing / max(1.0, self._usual - self._kept - each)) + 1
        return min(leaves, max(more, len(self.hosts) // 4, TRIES))

    def grown(self) -> Grown:
        """What has grown."""
        trunk = Trunk(self.hosts, self._host_rows(), self._degree, self._limits, self._kept)
        return Grown(trunk, Links.joined(self._links), self._unmet)

    def _host_rows(self) -> HostRows:
        return new_host_rows(self._rows.start, self._rows.topics, self._fleet.topic_count)


def _designed(core: Rows, design_core: CoreDesign, constraints: ConstraintArrays | None, watch: Watch) -> Links:
    """Links of the core, by the places of its nodes."""
    wanted, topics = np.unique(core.topics, return_inverse=True)
    nodes = np.repeat(np.arange(len(core.nodes)), np.diff(core.start))
    # A designer sees no names, but their order is that of ids.
    node_names, topic_names = (tuple(f"{k:09}" for k in range(count)) for count in (len(core.nodes), len(wanted)))
    return design_core(Interest.from_ids(node_names, topic_names, nodes, topics), watch, constraints)


def _after(rows: Rows, first: int) -> Rows:
    return Rows(rows.nodes[first:], rows.start[first:] - rows.start[first], rows.topics[rows.start[first] :])


def _joined(rows: Rows, more: Rows) -> Rows:
    start = np.concatenate([rows.start, rows.start[-1] + more.start[1:]])
    return Rows(np.concatenate([rows.nodes, more.nodes]), start, np.concatenate([rows.topics, more.topics]))
