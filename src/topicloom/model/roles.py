"""Who wants and who publishes what within each topic, and how filters that overlap become one topic.

Subscriptions may say whether a node subscribes, publishes or both, and may be filters with wildcards. Designers see
neither: for them every node that has to do with a topic is one of its nodes. That is enough, since every publisher has
a way to every subscriber exactly when all of these are connected. Filters that share a name must go along one tree, or
a message that matches several would arrive more than once; so filters that overlap, and those they overlap, are one
topic, called by the widest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.model.filters import FilterIndex, Protocol

SUBSCRIBES, PUBLISHES = np.uint8(1), np.uint8(2)
BOTH = SUBSCRIBES | PUBLISHES
ROLES = {"sub": SUBSCRIBES, "pub": PUBLISHES, "both": BOTH}
ROLE_NAMES = {int(role): name for name, role in ROLES.items()}
# As logs spell them; who does not say does both.
_SPELLINGS = {
    "": BOTH,
    **ROLES,
    "subscribe": SUBSCRIBES,
    "subscriber": SUBSCRIBES,
    "publish": PUBLISHES,
    "publisher": PUBLISHES,
}

Ids = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Patterns = dict[int, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Roles:
    """A row for each node and pattern, by topic: a pattern is a topic's name, or one of the filters that it is made of.

    - `unheard`: patterns that are published and match nothing that anybody wants; they need no links.
    - `unspoken`: patterns that nobody is known to publish; their subscribers are taken to publish them.
    - `staying`: patterns that are about a broker itself.
    """

    protocol: Protocol | None
    patterns: tuple[str, ...]
    start: Ids
    node: Ids
    pattern: Ids
    role: Bits
    publishes: npt.NDArray[np.bool_]
    unheard: int = 0
    unspoken: int = 0
    staying: int = 0

    def __eq__(self, other: object) -> bool:
        """Compare the rows by name; counts of patterns that have no rows do not matter."""
        if not isinstance(other, Roles):
            return NotImplemented
        used, pattern = np.unique(self.pattern, return_inverse=True)
        others_used, others_pattern = np.unique(other.pattern, return_inverse=True)
        return (
            self.protocol == other.protocol
            and [self.patterns[number] for number in used] == [other.patterns[number] for number in others_used]
            and np.array_equal(pattern, others_pattern)
            and all(
                np.array_equal(getattr(self, rows), getattr(other, rows))
                for rows in ("start", "node", "role", "publishes")
            )
        )

    def __hash__(self) -> int:
        return hash((self.protocol, len(self.node)))

    def of(self, topic: int) -> tuple[Patterns, Patterns]:
        """What each node of a topic wants, and what it publishes."""
        rows = slice(self.start[topic], self.start[topic + 1])
        nodes, names = self.node[rows].tolist(), [self.patterns[pattern] for pattern in self.pattern[rows]]
        return _by_node(nodes, names, (self.role[rows] & SUBSCRIBES) > 0), _by_node(nodes, names, self.publishes[rows])

    def to_arrow(self, node_names: Sequence[str]) -> pa.Table:
        """The rows as a table with the columns `node`, `topic` and `role`, sorted."""
        order = np.lexsort((self.pattern, self.node))
        return pa.table(
            {
                "node": pa.array(node_names, pa.string()).take(pa.array(self.node[order])),
                "topic": pa.array(self.patterns, pa.string()).take(pa.array(self.pattern[order])),
                "role": pa.array([ROLE_NAMES[role] for role in self.role[order].tolist()], pa.string()),
            }
        )


def _by_node(nodes: list[int], names: list[str], chosen: npt.NDArray[np.bool_]) -> Patterns:
    found: dict[int, list[str]] = {}
    for node, name, take in zip(nodes, names, chosen.tolist(), strict=True):
        if take:
            found.setdefault(node, []).append(name)
    return {node: tuple(each) for node, each in found.items()}


def known_roles(column: pa.Array | pa.ChunkedArray) -> Bits:
    """A column of roles as bits, 0 where it holds something else."""
    texts = pc.fill_null(column, "")
    found = pc.fill_null(pc.index_in(texts, value_set=pa.array(_SPELLINGS, texts.type)), len(_SPELLINGS))
    bits: Bits = np.array([*_SPELLINGS.values(), 0], np.uint8)[np.asarray(found)]
    return bits


def role_bits(column: pa.ChunkedArray, where: str) -> Bits:
    """A column of `sub`, `pub` and `both` as bits."""
    bits = known_roles(column)
    wrong = np.flatnonzero(bits == 0)
    if len(wrong):
        row = int(wrong[0])
        raise InputError(f"role '{column[row].as_py()}'; known are {', '.join(ROLES)}", file=where, row=row + 1)
    return bits


def resolve(
    patterns: tuple[str, ...],
    nodes: Ids,
    pattern: Ids,
    role: Bits,
    protocol: Protocol | None,
    *,
    assume_publishers: bool = True,
) -> tuple[tuple[str, ...], Ids, Ids, Roles]:
    """Names of the topics, node and topic of every row that needs links, and the roles.

    Rows are given by node and pattern; the patterns are sorted. What is wanted and nobody publishes is taken to be
    published by its subscribers, or needs no links.
    """
    patterns, pattern, staying = _own_filters(patterns, pattern, protocol)
    kept = pattern >= 0
    nodes, pattern, role = _merged(nodes[kept], pattern[kept], role[kept], len(patterns))
    wanted = np.bincount(pattern, (role & SUBSCRIBES) > 0, len(patterns)) > 0
    published = np.bincount(pattern, (role & PUBLISHES) > 0, len(patterns)) > 0
    group, heard, spoken = _groups(patterns, wanted, published, protocol)
    # Who only publishes what nobody wants has nothing to do with it.
    role = np.where(heard[pattern], role, role & SUBSCRIBES)
    if not assume_publishers:
        role = np.where(spoken[pattern], role, role & PUBLISHES)
    needed = role > 0
    nodes, pattern, role = nodes[needed], pattern[needed], role[needed]
    labels = _labels(patterns, group, np.unique(group[pattern]), wanted, protocol)
    names = tuple(sorted(labels.values()))
    place = {name: number for number, name in enumerate(names)}
    topic_of_group = np.full(len(patterns), -1, np.int64)
    for number, name in labels.items():
        topic_of_group[number] = place[name]
    topics = topic_of_group[group[pattern]]
    order = np.lexsort((pattern, nodes, topics))
    nodes, pattern, role, topics = nodes[order], pattern[order], role[order], topics[order]
    start = np.searchsorted(topics, np.arange(len(names) + 1))
    publishes = ((role & PUBLISHES) > 0) | ~spoken[pattern]
    roles = Roles(
        protocol,
        patterns,
        start,
        nodes,
        pattern,
        role,
        publishes,
        unheard=int((published & ~heard).sum()),
        unspoken=int((wanted & ~spoken).sum()),
        staying=staying,
    )
    return names, nodes, topics, roles


def _own_filters(
    patterns: tuple[str, ...], pattern: Ids, protocol: Protocol | None
) -> tuple[tuple[str, ...], Ids, int]:
    """Patterns checked, without groups that share them; those that stay at their broker become -1, and are counted."""
    if protocol is None:
        return patterns, pattern, 0
    for filter_ in patterns:
        protocol.require(filter_)
    own = [protocol.without_share_group(filter_) for filter_ in patterns]
    names = tuple(sorted({filter_ for filter_ in own if not protocol.is_broker_local(filter_)}))
    place = {name: number for number, name in enumerate(names)}
    moved = np.array([place.get(filter_, -1) for filter_ in own], np.int64)
    return names, moved[pattern], int((moved < 0).sum())


def _merged(nodes: Ids, pattern: Ids, role: Bits, count: int) -> tuple[Ids, Ids, Bits]:
    """One row for each node and pattern, with all its roles."""
    keys, place = np.unique(nodes * max(count, 1) + pattern, return_inverse=True)
    merged = np.zeros(len(keys), np.uint8)
    np.bitwise_or.at(merged, place, role)
    return keys // max(count, 1), keys % max(count, 1), merged


def _groups(
    patterns: tuple[str, ...],
    wanted: npt.NDArray[np.bool_],
    published: npt.NDArray[np.bool_],
    protocol: Protocol | None,
) -> tuple[Ids, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The group of every pattern, by its first; whether somebody wants what it matches, or publishes it."""
    parent = list(range(len(patterns)))
    if protocol is None:
        return np.array(parent, np.int64), wanted, published
    heard, spoken = wanted.copy(), published.copy()

    def first(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    index = FilterIndex(protocol, patterns)
    for number, filter_ in enumerate(patterns):
        # Whatever overlaps, overlaps a filter with wildcards; only wants tie filters together.
        if protocol.has_wildcard(filter_):
            for other in index.overlapping(filter_):
                heard[number] |= wanted[other]
                heard[other] |= wanted[number]
                spoken[number] |= published[other]
                spoken[other] |= published[number]
                if wanted[number] or wanted[other]:
                    one, two = sorted((first(number), first(other)))
                    parent[two] = one
    return np.array([first(number) for number in range(len(patterns))], np.int64), heard, spoken


def _labels(
    patterns: tuple[str, ...], group: Ids, used: Ids, wanted: npt.NDArray[np.bool_], protocol: Protocol | None
) -> dict[int, str]:
    """A name for every group in use: of what is wanted in it, the filter that is widest."""
    if protocol is None:
        return {int(number): patterns[number] for number in used}
    best: dict[int, tuple[int, int, str]] = {}
    for number in np.flatnonzero(wanted & np.isin(group, used)).tolist():
        levels = patterns[number].split(protocol.separator)
        named = sum(level not in (protocol.one, protocol.rest) for level in levels)
        rank = (named, 0 if protocol.rest in levels else 1, patterns[number])
        key = int(group[number])
        best[key] = min(best.get(key, rank), rank)
    return {key: rank[2] for key, rank in best.items()}
