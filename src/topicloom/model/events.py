"""Events: nodes join, leave, and change their topics. They are read and written as JSON Lines."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.errors import InputError
from topicloom.io.tables import NAME_BYTES
from topicloom.io.whole import replacing
from topicloom.model.interest import Interest
from topicloom.model.roles import ROLES

JOIN = "join"
LEAVE = "leave"
CHANGE = "change"
# The fields of each kind that are lists of topics.
_TOPICS = {JOIN: ("topics",), LEAVE: (), CHANGE: ("add", "remove")}


@dataclass(frozen=True)
class Event:
    """One thing that happens. `add` are the topics of a node that joins, or those that it wants from now on.

    `role` is what the node does with the topics of the event, `sub`, `pub` or `both`; all but a controller take only
    events in which it does both.
    """

    id: int
    kind: str
    node: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    role: str = "both"

    def to_json(self) -> str:
        """The event as a line of JSON, without its end."""
        fields: dict[str, Any] = {"id": self.id, "event": self.kind, "node": self.node}
        for name in _TOPICS[self.kind]:
            fields[name] = list(self.remove if name == "remove" else self.add)
        if self.role != "both":
            fields["role"] = self.role
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str, where: str) -> Event:
        """From a line of JSON; `where` names it in errors."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise InputError(f"{where}: is not a JSON object, such as {_EXAMPLE}")
        kind = fields.get("event")
        if not isinstance(kind, str) or kind not in _TOPICS:
            raise InputError(f'{where}: "event" must be join, leave or change, not {json.dumps(kind)}')
        number = fields.get("id")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**63:
            raise InputError(f'{where}: "id" must be a whole number, 0 or more, not {json.dumps(number)}')
        unknown = sorted(set(fields) - {"id", "event", "node", *_TOPICS[kind], *(["role"] if _TOPICS[kind] else [])})
        if unknown:
            raise InputError(f"{where}: a {kind} has no {json.dumps(unknown[0])}")
        node: Any = fields.get("node")
        if not is_name(node):
            raise InputError(f'{where}: "node" must be a name, not {json.dumps(node)}')
        _require_short([node], "node", where)
        role = fields.get("role", "both")
        if role not in ROLES:
            raise InputError(f'{where}: "role" must be {", ".join(ROLES)}, not {json.dumps(role)}')
        topics = {name: _topics(fields, name, where) for name in _TOPICS[kind]}
        return cls(number, kind, node, topics.get("topics", topics.get("add", ())), topics.get("remove", ()), role)


_EXAMPLE = '{"id": 17, "event": "join", "node": "b7", "topics": ["a", "b"]}'


def is_name(value: Any) -> bool:
    """Whether a value can name a node or a topic."""
    if not isinstance(value, str) or not value:
        return False
    # Half a surrogate pair is no text, and no file could hold it.
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def _topics(fields: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    given = fields.get(name, [])
    if not isinstance(given, list) or not all(map(is_name, given)):
        raise InputError(f'{where}: "{name}" must be a list of topics')
    _require_short(given, name, where)
    return tuple(sorted(set(given)))


def _require_short(names: Iterable[str], field: str, where: str) -> None:
    """Refuse names that are longer than a table of subscriptions takes."""
    for name in names:
        size = len(name.encode())
        if size > NAME_BYTES:
            raise InputError(f'{where}: a name in "{field}" has {size:,} bytes; the most are {NAME_BYTES:,}')


def read_events(path: str | os.PathLike[str]) -> list[Event]:
    """All events of a file; ids must rise."""
    return list(parse_events(_lines(Path(path)), os.fspath(path)))


def parse_events(lines: Iterable[str], where: str) -> Iterator[Event]:
    """Events from lines; ids must rise. `where` names the lines in errors."""
    last = -1
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        event = Event.from_json(line, f"{where}: line {number}")
        if event.id <= last:
            raise InputError(f"{where}: line {number}: id {event.id} comes after {last}; ids must rise")
        last = event.id
        yield event


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start + 1})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def write_events(events: Iterable[Event], path: str | os.PathLike[str]) -> None:
    """Write events as JSON Lines."""
    with replacing(path) as temporary:
        temporary.write_text("".join(event.to_json() + "\n" for event in events), encoding="utf-8")


def topics_by_node(interest: Interest) -> dict[str, frozenset[str]]:
    """The names of the topics of every node that has any."""
    names = interest.topic_names
    wanted = {
        node: frozenset(names[topic] for topic in interest.topics_of(number).tolist())
        for number, node in enumerate(interest.node_names)
    }
    return {node: topics for node, topics in wanted.items() if topics}


def event_problem(
    kind: str,
    node: str,
    *,
    there: bool,
    have: Collection[str] = (),
    lack: Collection[str] = (),
    left: bool = True,
    changes: bool = True,
) -> str | None:
    """Return why an event cannot have happened, None if it can.

    Args:
        kind: join, leave or change.
        node: the node of the event.
        there: whether the node is there.
        have: topics of the event that the node wants already. lack: topics to give up that it does not want.
        left: whether the node wants a topic afterwards. changes: whether the event names a topic.
    """
    if there == (kind == JOIN):
        return f"{kind} of '{node}', which is {'there already' if there else 'not there'}"
    if kind == JOIN:
        if not left:
            return f"join of '{node}', which wants no topic"
        return None if is_name(node) else f"join of {node!r}, which is no name"
    if kind == LEAVE:
        return None
    if have:
        return f"change of '{node}': it wants '{min(have)}' already"
    if lack:
        return f"change of '{node}': it does not want '{min(lack)}', which it is to give up"
    if not changes:
        return f"change of '{node}', in which nothing changes"
    return None if left else f"change of '{node}': it would want no topic; let it leave instead"
