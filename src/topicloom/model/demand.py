"""Who wants and who publishes what, by names, and how events change it.

Unlike an interest, a demand also holds what needs no links now: topics that are published and wanted by no node yet,
and topics whose publishers are gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.io.ingest_folder import read_folder
from topicloom.io.tables import read_table
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event, event_problem, topics_by_node
from topicloom.model.filters import PLAIN, FilterIndex, protocol_of
from topicloom.model.interest import Interest
from topicloom.model.roles import PUBLISHES, ROLES, SUBSCRIBES, role_bits

# A topic or filter, and whether it is wanted (`sub`) or published (`pub`).
Wish: TypeAlias = tuple[str, str]
WishesByNode: TypeAlias = Mapping[str, frozenset[Wish]]

_PARTS = {role: tuple(part for part in ("sub", "pub") if ROLES[part] & bits) for role, bits in ROLES.items()}


def wishes_for(topics: Iterable[str], role: str = "both") -> frozenset[Wish]:
    """Return the wishes of a node that has this role in these topics."""
    return frozenset((topic, part) for topic in topics for part in _PARTS[role])


def roles_of(wishes: Iterable[Wish]) -> dict[str, str]:
    """Return the role that a node with these wishes has in each topic, in the order of the topics."""
    parts: dict[str, list[str]] = {}
    for topic, part in sorted(wishes):
        parts.setdefault(topic, []).append(part)
    return {topic: each[0] if len(each) == 1 else "both" for topic, each in parts.items()}


@dataclass(frozen=True)
class Demand:
    """Who wants and publishes what; immutable.

    Args:
        by_node: the wishes of every node that has any.
        filters: the protocol whose wildcards topics may have, None if they are plain names.
        published: topics or filters that a node published at any time, whether it still does or not.
    """

    by_node: WishesByNode
    filters: str | None = None
    published: frozenset[str] = frozenset()

    @classmethod
    def of(cls, by_node: WishesByNode, filters: str | None = None) -> Demand:
        """Return a demand in which what nodes publish now is what was ever published."""
        published = (topic for wishes in by_node.values() for topic, part in wishes if part == "pub")
        return cls(by_node, filters, frozenset(published))

    @classmethod
    def of_topics(cls, topics: Mapping[str, Set[str]]) -> Demand:
        """Return the demand of nodes that want and publish plain topics."""
        return cls.of({node: wishes_for(names) for node, names in topics.items()})

    @classmethod
    def from_interest(cls, interest: Interest) -> Demand:
        """Return the demand behind an interest: its rows with their roles, and filters in place of their topics."""
        if interest.roles is None:
            return cls.of_topics(topics_by_node(interest))
        return cls.from_table(interest.to_arrow(), interest.filters)

    @classmethod
    def from_table(cls, table: pa.Table, filters: str | None = None) -> Demand:
        """Return the demand in a table with the columns `node` and `topic`, and perhaps `role`."""
        found: dict[str, set[Wish]] = {}
        bits = [SUBSCRIBES | PUBLISHES] * len(table)
        if "role" in table.column_names:
            bits = role_bits(table["role"], "subscriptions").tolist()
        for node, topic, role in zip(table["node"].to_pylist(), table["topic"].to_pylist(), bits, strict=True):
            found.setdefault(node, set()).update((topic, part) for part in ("sub", "pub") if ROLES[part] & role)
        return cls.of({node: frozenset(wishes) for node, wishes in found.items()}, filters)

    @classmethod
    def read(cls, path: Path, filters: str | None = None) -> Demand:
        """Read a file or folder of subscriptions; `filters` is that of `Interest.read`."""
        filters = Interest.read(path, filters=filters).filters  # raises if rows are wrong
        if not path.is_dir():
            return cls.from_table(read_table(path, ["node", "topic"], ["role"]), filters)
        rows = read_folder(path)
        columns = {
            "node": pa.array(rows.node_names, pa.string()).take(pa.array(rows.nodes)),
            "topic": pa.array(rows.topic_names, pa.string()).take(pa.array(rows.topics)),
        }
        if rows.roles is not None:
            columns["role"] = rows.roles
        return cls.from_table(pa.table(columns), filters)

    def refusal(self, event: Event, there: Collection[str]) -> str | None:
        """Return why an event cannot have happened, None if it can.

        Args:
            event: with any role.
            there: the nodes that are there; the last of them cannot leave.
        """
        has = self.by_node.get(event.node)
        known = has or frozenset()
        problem = event_problem(
            event.kind,
            event.node,
            there=has is not None,
            have=[topic for topic in event.add if not wishes_for([topic], event.role) - known],
            lack=[topic for topic in event.remove if not wishes_for([topic], event.role) & known],
            left=bool(_after(known, event)),
        )
        if problem is None and event.kind == LEAVE and set(there) <= {event.node}:
            return f"leave of '{event.node}', which is the last one"
        if problem is None and self.filters is not None:
            try:
                for topic in event.add:
                    protocol_of(self.filters).require(topic)
            except InputError as error:
                return f"{event.kind} of '{event.node}': {error}"
        return problem

    def after(self, *events: Event) -> Demand:
        """Return the demand after some events."""
        by_node, published = dict(self.by_node), self.published
        for event in events:
            if event.kind == LEAVE:
                by_node.pop(event.node, None)
                continue
            by_node[event.node] = _after(by_node.get(event.node, frozenset()), event)
            if "pub" in _PARTS[event.role] and not published.issuperset(event.add):
                published |= frozenset(event.add)
        return replace(self, by_node=by_node, published=published)

    def events_to(self, other: Demand, first_id: int = 0) -> list[Event]:
        """Return the events that lead to another demand: joins, then changes, then leaves, each in the order of nodes.

        Ids rise by one from `first_id`. An event is about one role, so a node may have several; after each of them it
        has a wish.
        """
        old, new = self.by_node, other.by_node
        found: list[tuple[str, str, list[str], list[str], str]] = []
        for node in sorted(new.keys() - old.keys()):
            kinds = [JOIN, CHANGE, CHANGE]
            found += [
                (kind, node, add, [], role) for kind, (role, add) in zip(kinds, _by_role(new[node]), strict=False)
            ]
        for node in sorted(node for node in new.keys() & old.keys() if new[node] != old[node]):
            added, removed = (dict(_by_role(each)) for each in (new[node] - old[node], old[node] - new[node]))
            # Those that add something come first.
            for role in dict.fromkeys([*added, *removed]):
                found.append((CHANGE, node, added.get(role, []), removed.get(role, []), role))
        found += [(LEAVE, node, [], [], "both") for node in sorted(old.keys() - new.keys())]
        return [
            Event(number, kind, node, tuple(add), tuple(remove), role)
            for number, (kind, node, add, remove, role) in enumerate(found, first_id)
        ]

    def among(self, nodes: Iterable[str]) -> Interest:
        """Return the interest of some nodes, as designers take it.

        Topics that no node ever published are taken to be published by their subscribers. The others need no links
        while no node publishes them.
        """
        roles = {node: roles_of(self.by_node[node]) for node in nodes}
        if self.filters is None and all(role == "both" for each in roles.values() for role in each.values()):
            return Interest.from_pairs(((node, topic) for node, each in roles.items() for topic in each), filters=PLAIN)
        known = sorted(self.published)
        if self.filters is None:
            spoken = set(known)
        else:
            protocol = protocol_of(self.filters)
            index = FilterIndex(protocol, known)
            topics = {topic for each in roles.values() for topic in each}
            spoken = {topic for topic in topics if index.overlapping(protocol.without_share_group(topic))}
        rows = [
            (node, topic, role if topic in spoken else "both")
            for node, each in roles.items()
            for topic, role in each.items()
        ]
        return Interest.from_roles(rows, filters=self.filters or PLAIN, assume_publishers=False)


def _after(wishes: frozenset[Wish], event: Event) -> frozenset[Wish]:
    return (wishes | wishes_for(event.add, event.role)) - wishes_for(event.remove, event.role)


def _by_role(wishes: Iterable[Wish]) -> list[tuple[str, list[str]]]:
    """Return the topics in which a node has each role; roles without topics are left out."""
    roles = roles_of(wishes)
    grouped = [(role, [topic for topic, has in roles.items() if has == role]) for role in ("both", "sub", "pub")]
    return [(role, topics) for role, topics in grouped if topics]
