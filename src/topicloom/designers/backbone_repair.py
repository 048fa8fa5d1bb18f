"""Repairing topics that hosts could not connect within a limit on degrees.

A leaf has few links and may well carry a topic further. So whoever wants the topics that are in pieces is looked at,
rarest topics first, up to a number of subscriptions that a driver can hold, and pieces are joined by nodes with room.
Where all nodes of a piece are full, links of theirs that few topics need are taken away first, popular topics before
rare ones; the topics of these links are repaired again. The links that leave fewest pieces are the result.
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

# Links taken from a full node for each piece that it has to join. With 2, pieces are left on the sparse workload of
# benchmarks/backbone.py and on YouTube's groups; with 4 none, and 16 gives no fewer links.
_LOOSENED = 4
_ROUNDS = 16
_MOST_SUBSCRIPTIONS = 1 << 22
_MOST_STEPS = 1 << 30


class _Joined(NamedTuple):
    """Links after joining pieces, how many pieces are left too many, and a full node of each that has no room."""

    links: Links
    left: int
    full_topics: Ids
    full_nodes: Ids


def repaired(fleet: FleetRows, links: Links, unmet: Ids, max_degree: int, ticks: npt.NDArray[np.int64]) -> Links:
    """The links with others added, and some moved, so that topics in `unmet` are connected as far as that goes.

    Contributions are no longer those that links have when added in this order.
    """
    topics = _rarest(fleet, np.unique(unmet))
    best = found = _join(fleet, links, topics, max_degree, ticks)
    for _ in range(_ROUNDS):
        if len(found.full_nodes) == 0 or ticks[1]:
            break
        moved, affected = _loose_links(fleet, found)
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
    room = (max_degree - degree).clip(0)
    holders = subscriber[order].astype(np.int32)
    rows = (members.start, by_topic, holders, parent, room)
    source, target, gain = join_pieces(node_start, ranks[order], *rows, _MOST_STEPS, ticks)
    left, full_ranks, full_nodes = full_pieces(*rows)
    more = links_of(nodes[source], nodes[target], gain)
    return _Joined(Links.joined([links, more]), left, topics[full_ranks], nodes[full_nodes])


def _loose_links(fleet: FleetRows, found: _Joined) -> tuple[npt.NDArray[np.int64], Ids]:
    """Links to take from full nodes, as many as each has pieces to join, and the topics that these links serve."""
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
        for _, _, link, shared in sorted(ranked, key=lambda entry: entry[:3])[: _LOOSENED * need]:
            more = set(shared.tolist()) - affected
            size = int(fleet.subscribers[list(more)].sum())
            if subscribers + size <= _MOST_SUBSCRIPTIONS // 2:
                moved.add(link)
                affected |= more
                subscribers += size
    return np.array(sorted(moved), np.int64), np.array(sorted(affected), np.int32)
