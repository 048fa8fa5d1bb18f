"""Repair of topics that hosts could not connect within a limit on degrees.

A leaf has few links and may well carry a topic further. So all subscribers of the topics in several components are
examined, rarest topics first, up to a number of subscriptions that a driver can hold, and components are joined by
nodes with spare links. If all nodes of a component are full, links of theirs that few topics need are removed first,
popular topics before rare ones; the topics of these links are repaired again. The result is the links that leave the
fewest components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.designers.backbone_hosts import FleetRows, links_of
from topicloom.designers.contract import Links
from topicloom.kernels.components import merge_links
from topicloom.kernels.joining import full_pieces, join_pieces
from topicloom.model.interest import Ids

# Links removed from a full node for each component that it has to join. With 2, components are left on the sparse
# workload of benchmarks/backbone.py and on YouTube's groups; with 4 none, and 16 gives no fewer links.
_REMOVED = 4
_ROUNDS = 16
_MOST_SUBSCRIPTIONS = 1 << 22
_MOST_STEPS = 1 << 30


class _Joined(NamedTuple):
    """Links after joining, how many components are left too many, and a full node of each without spare links."""

    links: Links
    left: int
    full_topics: Ids
    full_nodes: Ids


def repaired(fleet: FleetRows, links: Links, uncovered: Ids, max_degree: int, ticks: npt.NDArray[np.int64]) -> Links:
    """The links with others added, and some moved, so that topics in `uncovered` are connected as far as possible.

    Contributions are no longer those that links have when added in this order.
    """
    topics = _rarest(fleet, np.unique(uncovered))
    best = found = _join(fleet, links, topics, max_degree, ticks)
    for _ in range(_ROUNDS):
        if len(found.full_nodes) == 0 or ticks[1]:
            break
        moved, affected = _links_to_move(fleet, found)
        if len(moved) == 0:
            break
        kept = np.ones(len(found.links.source), np.bool_)
        kept[moved] = False
        fewer = Links(found.links.source[kept], found.links.target[kept], found.links.contribution[kept])
        topics = _rarest(fleet, np.union1d(found.full_topics, affected))
        found = _join(fleet, fewer, topics, max_degree, ticks)
        if found.left < best.left:
            best = found
    return best.links


def _rarest(fleet: FleetRows, topics: Ids) -> Ids:
    """Topics by rising number of nodes, as many as a driver can hold."""
    topics = topics[np.argsort(fleet.subscribers[topics], kind="stable")]
    return topics[np.cumsum(fleet.subscribers[topics]) <= _MOST_SUBSCRIPTIONS]


def _join(fleet: FleetRows, links: Links, topics: Ids, max_degree: int, ticks: npt.NDArray[np.int64]) -> _Joined:
    members = fleet.members(topics)
    nodes, subscriber = np.unique(members.nodes, return_inverse=True)
    ranks = np.repeat(np.arange(len(topics), dtype=np.int32), np.diff(members.start))
    order = np.lexsort((ranks, subscriber))
    node_start = np.searchsorted(subscriber[order], np.arange(len(nodes) + 1)).astype(np.int64)
    by_topic = np.empty(len(order), np.int64)
    by_topic[order] = np.arange(len(order))
    place = np.full(len(fleet.sizes), -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    ends = place[links.source], place[links.target]
    inside = (ends[0] >= 0) & (ends[1] >= 0)
    _, parent = merge_links(node_start, ranks[order], ends[0][inside], ends[1][inside])
    degree = np.bincount(np.concatenate([links.source, links.target]), minlength=len(fleet.sizes))[nodes]
    spare = (max_degree - degree).clip(0)
    holders = subscriber[order].astype(np.int32)
    rows = (members.start, by_topic, holders, parent, spare)
    source, target, gain = join_pieces(node_start, ranks[order], *rows, _MOST_STEPS, ticks)
    left, full_ranks, full_nodes = full_pieces(*rows)
    more = links_of(nodes[source], nodes[target], gain)
    return _Joined(Links.joined([links, more]), left, topics[full_ranks], nodes[full_nodes])


def _links_to_move(fleet: FleetRows, found: _Joined) -> tuple[npt.NDArray[np.int64], Ids]:
    """Links to remove from full nodes, for the components that each has to join, and the topics of these links."""
    needy, needs = np.unique(found.full_nodes, return_counts=True)
    links = found.links
    own: dict[int, list[int]] = {node: [] for node in needy.tolist()}
    for link in np.flatnonzero(np.isin(links.source, needy) | np.isin(links.target, needy)).tolist():
        for end in (int(links.source[link]), int(links.target[link])):
            if end in own:
                own[end].append(link)
    listed = np.unique([link for mine in own.values() for link in mine])
    rows = fleet.rows(np.unique(np.concatenate([links.source[listed], links.target[listed]])))
    topics = {node: rows.topics[rows.start[k] : rows.start[k + 1]] for k, node in enumerate(rows.nodes.tolist())}
    moved: set[int] = set()
    affected: set[int] = set()
    subscribers = 0
    for node, need in zip(needy.tolist(), needs.tolist(), strict=True):
        ranked = []
        for link in own[node]:
            shared = np.intersect1d(topics[int(links.source[link])], topics[int(links.target[link])], True)
            ranked.append((int(links.contribution[link]), -int(fleet.subscribers[shared].min()), link, shared))
        for _, _, link, shared in sorted(ranked, key=lambda entry: entry[:3])[: _REMOVED * need]:
            more = set(shared.tolist()) - affected
            size = int(fleet.subscribers[list(more)].sum())
            if subscribers + size <= _MOST_SUBSCRIPTIONS // 2:
                moved.add(link)
                affected |= more
                subscribers += size
    return np.array(sorted(moved), np.int64), np.array(sorted(affected), np.int32)
