"""Who wants and who publishes what, as a controller knows it.

Unlike an interest this also has what needs no links now: what is published and wanted by nobody yet, or wanted and
published by nobody any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.io.ingest_folder import read_folder
from topicloom.io.tables import read_table
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event
from topicloom.model.filters import PLAIN, FilterIndex, protocol_of
from topicloom.model.interest import Interest
from topicloom.model.roles import PUBLISHES, ROLES, SUBSCRIBES, role_bits

# A topic or filter, and whether it is wanted (`sub`) or published (`pub`).
Wish: TypeAlias = tuple[str, str]
WishesByNode: TypeAlias = Mapping[str, frozenset[Wish]]

_PARTS = {role: tuple(part for part in ("sub", "pub") if ROLES[part] & bits) for role, bits in ROLES.items()}


def wishes_for(topics: Iterable[str], role: str = "both") -> frozenset[Wish]:
    """The wishes of a node that has this role in these topics."""
    return frozenset((topic, part) for topic in topics for part in _PARTS[role])


def roles_of(wishes: Iterable[Wish]) -> dict[str, str]:
    """The role that a node with these wishes has in each topic, in the order of the topics."""
    parts: dict[str, list[str]] = {}
    for topic, part in sorted(wishes):
        parts.setdefault(topic, []).append(part)
    return {topic: each[0] if len(each) == 1 else "both" for topic, each in parts.items()}


def read_wishes(path: Path, filters: str | None) -> tuple[dict[str, frozenset[Wish]], str | None]:
    """Everybody's wishes from a file or folder of subscriptions, and whose filters its topics are."""
    filters = Interest.read(path, filters=filters).filters  # an error if rows are wrong
    if not path.is_dir():
        return wishes_in(read_table(path, ["node", "topic"], ["role"])), filters
    rows = read_folder(path)
    columns = {
        "node": pa.array(rows.node_names, pa.string()).take(pa.array(rows.nodes)),
        "topic": pa.array(rows.topic_names, pa.string()).take(pa.array(rows.topics)),
    }
    if rows.roles is not None:
        columns["role"] = rows.roles
    return wishes_in(pa.table(columns)), filters


def wishes_in(table: pa.Table) -> dict[str, frozenset[Wish]]:
    """Everybody's wishes from a table with the columns `node` and `topic`, and perhaps `role`."""
    found: dict[str, set[Wish]] = {}
    bits = [SUBSCRIBES | PUBLISHES] * len(table)
    if "role" in table.column_names:
        bits = role_bits(table["role"], "subscriptions").tolist()
    for node, topic, role in zip(table["node"].to_pylist(), table["topic"].to_pylist(), bits, strict=True):
        found.setdefault(node, set()).update((topic, part) for part in ("sub", "pub") if ROLES[part] & role)
    return {node: frozenset(wishes) for node, wishes in found.items()}


def after_wish_event(wishes: dict[str, frozenset[Wish]], event: Event) -> None:
    """Let an event happen to everybody's wishes."""
    if event.kind == LEAVE:
        wishes.pop(event.node, None)
    else:
        before = wishes.get(event.node, frozenset())
        wishes[event.node] = (before | wishes_for(event.add, event.role)) - wishes_for(event.remove, event.role)


def wish_events(old: WishesByNode, new: WishesByNode, first_id: int = 0) -> list[Event]:
    """The events that lead from some wishes to others: joins, then changes, then leaves, in the order of nodes.

    Ids rise by one from `first_id`. An event is about one role, so a node may have several; on the way it always has a
    wish.
    """
    found: list[tuple[str, str, list[str], list[str], str]] = []
    for node in sorted(new.keys() - old.keys()):
        kinds = [JOIN, CHANGE, CHANGE]
        found += [(kind, node, add, [], role) for kind, (role, add) in zip(kinds, _by_role(new[node]), strict=False)]
    for node in sorted(new.keys() & old.keys()):
        added, removed = (dict(_by_role(each)) for each in (new[node] - old[node], old[node] - new[node]))
        # Those that add something come first.
        for role in dict.fromkeys([*added, *removed]):
            found.append((CHANGE, node, added.get(role, []), removed.get(role, []), role))
    found += [(LEAVE, node, [], [], "both") for node in sorted(old.keys() - new.keys())]
    return [
        Event(number, kind, node, tuple(add), tuple(remove), role)
        for number, (kind, node, add, remove, role) in enumerate(found, first_id)
    ]


def _by_role(wishes: Iterable[Wish]) -> list[tuple[str, list[str]]]:
    """The topics in which a node has each role; roles without topics are not there."""
    roles = roles_of(wishes)
    grouped = [(role, [topic for topic, has in roles.items() if has == role]) for role in ("both", "sub", "pub")]
    return [(role, topics) for role, topics in grouped if topics]


def interest_among(wishes: WishesByNode, published: Iterable[str], filters: str | None) -> Interest:
    """Who wants and publishes what among some nodes, as designers take it.

    Args:
        wishes: of these nodes.
        published: topics or filters that anybody is known to have published at any time. What none of them matches is
            taken to be published by its subscribers; the rest needs no links while nobody publishes it.
        filters: whose filters the topics are, None where they are names.
    """
    roles = {node: roles_of(each) for node, each in wishes.items()}
    if filters is None and all(role == "both" for each in roles.values() for role in each.values()):
        return Interest.from_pairs(((node, topic) for node, each in roles.items() for topic in each), filters=PLAIN)
    known = sorted(published)
    if filters is None:
        spoken = set(known)
    else:
        protocol = protocol_of(filters)
        index = FilterIndex(protocol, known)
        topics = {topic for each in roles.values() for topic in each}
        spoken = {topic for topic in topics if index.overlapping(protocol.without_share_group(topic))}
    rows = [
        (node, topic, role if topic in spoken else "both")
        for node, each in roles.items()
        for topic, role in each.items()
    ]
    return Interest.from_roles(rows, filters=filters or PLAIN, assume_publishers=False)


def to_log(wishes: WishesByNode) -> dict[str, list[Any]]:
    """Everybody's wishes for a log: a topic where a node does both, else a topic and its role."""
    return {
        node: [topic if role == "both" else [topic, role] for topic, role in roles_of(each).items()]
        for node, each in wishes.items()
    }


def from_log(fields: Mapping[str, list[Any]]) -> dict[str, frozenset[Wish]]:
    """As `to_log` wrote them."""
    return {
        node: frozenset(
            wish
            for one in each
            for wish in (wishes_for([one]) if isinstance(one, str) else wishes_for(one[:1], one[1]))
        )
        for node, each in fields.items()
    }


def event_filter_problem(event: Event, filters: str | None) -> str | None:
    """What is wrong with the filters of an event."""
    if filters is None:
        return None
    try:
        for topic in event.add:
            protocol_of(filters).require(topic)
    except InputError as error:
        return str(error)
    return None
