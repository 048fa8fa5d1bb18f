"""Plans and configurations as files.

Plans as JSON files: one broker, link or topic a line, so that version control shows what changed.

The fleet as a picture for Graphviz.

Configuration files from a plan: one for each broker, and a picture of the fleet.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from topicloom.brokers.fleet_file import broker_from
from topicloom.brokers.flows import Patterns
from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import KINDS, kind_of, name_problem, require_filters
from topicloom.brokers.logins import password_of
from topicloom.brokers.names import identifier, quoted
from topicloom.brokers.plan import (
    MIXED,
    Numbers,
    Plan,
    Route,
    circle_problem,
    link_problem,
    links_in_doubt,
    pair_keys,
)
from topicloom.errors import InputError
from topicloom.io.settings import parsed_json
from topicloom.io.tables import PLAN_BYTES, read_limited
from topicloom.io.whole import write_whole
from topicloom.metrics.trees import Trees
from topicloom.model.filters import protocol_of
from topicloom.model.fleet import Broker
from topicloom.model.interest import Ids, Interest
from topicloom.model.roles import PUBLISHES, SUBSCRIBES, Roles

FORMAT = "topicloom plan 1"


def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan; the same plan gives the same bytes."""
    write_whole(path, plan_text(plan))


def plan_text(plan: Plan) -> str:
    """A plan as its file holds it."""
    parts = {
        "format": json.dumps(FORMAT),
        "target": json.dumps(plan.target),
        "made": json.dumps(dict(plan.made), sort_keys=True),
        "brokers": _lines(_broker_table(broker, plan.target) for broker in plan.brokers),
        "links": _lines(plan.links),
        "topics": _lines(map(_route_table, plan.routes)),
    }
    text = ",\n ".join(f'"{key}": {value}' for key, value in parts.items())
    return f"{{{text}}}\n"


@dataclass(frozen=True)
class _TopicTable:
    """A route as it is written."""

    name: str
    qos: Annotated[int, Ge(0), Le(2)]
    root: str
    subscribers: tuple[str, ...]
    relays: tuple[str, ...]
    links: tuple[Pair, ...]
    wants: dict[str, tuple[str, ...]] | None = None
    publishes: dict[str, tuple[str, ...]] | None = None
    filters: str | None = None


@dataclass(frozen=True)
class _PlanTable:
    """A plan as it is written. Brokers are checked as those of a fleet file are, which shows no secret in errors."""

    format: str
    target: str
    made: dict[str, Any]
    brokers: tuple[dict[str, Any], ...]
    links: tuple[Pair, ...]
    topics: tuple[_TopicTable, ...]


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan and check all of it; one that does not hold together is an `InputError`."""
    return parsed_plan(read_limited(path, PLAN_BYTES), os.fspath(path))


def parsed_plan(text: bytes, where: str) -> Plan:
    """Return the plan that a text holds, as `read_plan` does; `where` is for errors."""
    if FORMAT.encode() not in text or (read := parsed_json(text, _PlanTable, where)).format != FORMAT:
        raise InputError(f"{where}: is not a plan; give a file that 'topicloom plan' wrote")
    if read.target != MIXED and read.target not in KINDS:
        raise InputError(f"{where}: unknown target {quoted(read.target)}; known are {', '.join([*KINDS, MIXED])}")
    brokers = sorted((_broker(table, read.target, where) for table in read.brokers), key=lambda broker: broker.name)
    topics = sorted(read.topics, key=lambda topic: topic.name)
    ids = {broker.name: number for number, broker in enumerate(brokers)}
    if len(ids) != len(brokers) or len({topic.name for topic in topics}) != len(topics):
        raise InputError(f"{where}: names a broker or a topic twice")
    for broker in brokers:
        if broker.port is None:
            raise InputError(f"{where}: broker {quoted(broker.name)}: has no port; give a whole number from 1 to 65535")
    opener, acceptor = _links(read.links, ids, where)
    circle = circle_problem({broker.name: broker for broker in brokers}, read.links)
    if circle is not None:
        raise InputError(f"{where}: {circle}")
    for link in links_in_doubt(brokers, opener, acceptor):
        problem = link_problem(brokers[opener[link]], brokers[acceptor[link]])
        if problem is not None:
            raise InputError(f"{where}: {problem}")
    trees = _Trees(brokers, ids, pair_keys(opener, acceptor, len(ids)))
    for topic in topics:
        problem = trees.add(topic)
        if problem is not None:
            raise InputError(f"{where}: topic {quoted(topic.name)}: {problem}")
    qos = np.array([topic.qos for topic in topics], np.uint8)
    plan = Plan(tuple(brokers), trees.done(topics), opener, acceptor, qos, MappingProxyType(read.made))
    idle = np.flatnonzero(np.bincount(plan.link_of_row, minlength=len(opener)) == 0)
    if len(idle):
        first, second = plan.links[idle[0]]
        raise InputError(f"{where}: no topic goes over the link {quoted(first)} - {quoted(second)}; remove it")
    return plan


def _links(links: Sequence[Pair], ids: Mapping[str, int], where: str) -> tuple[Ids, Ids]:
    """The links by ids, in the order of (lower, higher)."""
    known = all(name in ids for link in links for name in link)
    ends = np.array([[ids[name] for name in link] for link in links] if known else [], np.int32).reshape(-1, 2)
    keys = pair_keys(ends[:, 0], ends[:, 1], len(ids))
    if not known or (ends[:, 0] == ends[:, 1]).any() or len(np.unique(keys)) != len(keys):
        raise InputError(f"{where}: its links must each join two brokers, once")
    opener, acceptor = ends[np.argsort(keys)].T.copy()
    return opener, acceptor


class _Trees:
    """Trees of topics as they are read, and the rows of who wants and publishes what."""

    def __init__(self, brokers: Sequence[Broker], ids: Mapping[str, int], links: Numbers) -> None:
        self._ids, self._links = ids, links
        self._kinds = list(map(kind_of, brokers))
        self._distinct = list(dict.fromkeys(self._kinds))
        # When each broker is reached from the root of a topic; -1 outside.
        self._reached = np.full(len(ids), -1)
        self._upper: list[Ids] = []
        self._lower: list[Ids] = []
        self._root: list[int] = []
        self._nodes: list[Numbers] = []
        self._rows: list[list[tuple[int, str, int, bool]]] = []

    def add(self, topic: _TopicTable) -> str | None:
        """Take in a topic; why that cannot be, None if it can."""
        wants, publishes = self._sides(topic)
        if topic.wants is not None and sorted(topic.wants) != list(topic.subscribers):
            return "its subscribers are not those of what it says is wanted"
        if any(not names for side in (wants, publishes) for names in side.values()):
            return "a broker wants or publishes nothing of it"
        served = list(dict.fromkeys((*topic.subscribers, *publishes)))
        members = [*served, *topic.relays]
        named = chain((topic.root,), members, chain.from_iterable(topic.links))
        unknown = next((name for name in named if name not in self._ids), None)
        if unknown is not None:
            return f"{quoted(unknown)} is no broker of the plan"
        problem = self._pattern_problem(topic, members, wants, publishes)
        if problem is not None:
            return problem
        at = np.array([self._ids[name] for name in members], np.int64)
        ends = np.array([[self._ids[name] for name in link] for link in topic.links], np.int32).reshape(-1, 2)
        return self._tree_problem(topic, self._ids[topic.root], ends, at) or self._keep(
            topic, ends, at[: len(served)], wants, publishes
        )

    def _sides(self, topic: _TopicTable) -> tuple[Patterns, Patterns]:
        itself = (topic.name,)
        wants = dict.fromkeys(topic.subscribers, itself) if topic.wants is None else topic.wants
        return wants, dict.fromkeys(topic.subscribers, itself) if topic.publishes is None else topic.publishes

    def _pattern_problem(
        self, topic: _TopicTable, members: Iterable[str], wants: Patterns, publishes: Patterns
    ) -> str | None:
        kinds = self._distinct
        if len(kinds) > 1:
            kinds = list(dict.fromkeys(self._kinds[self._ids[name]] for name in members))
        if topic.filters is None:
            return name_problem(kinds, topic.name)
        patterns = {pattern for side in (wants, publishes) for names in side.values() for pattern in names}
        try:
            require_filters(kinds, protocol_of(topic.filters), [topic.name], sorted(patterns | {topic.name}))
        except InputError as error:
            return str(error)
        return None

    def _tree_problem(self, topic: _TopicTable, root: int, ends: Ids, members: Numbers) -> str | None:
        upper, lower = ends[:, 0], ends[:, 1]
        keys = pair_keys(upper, lower, len(self._ids))
        place = np.searchsorted(self._links, keys)
        absent = np.append(self._links, -1)[place] != keys
        if absent.any():
            first, second = topic.links[int(np.flatnonzero(absent)[0])]
            return f"goes over {quoted(first)} - {quoted(second)}, which is no link of the plan"
        reached = self._reached
        reached[root] = 0
        reached[lower] = np.arange(1, len(lower) + 1)
        whole = reached[root] == 0 and bool((reached[lower] == np.arange(1, len(lower) + 1)).all())
        whole = whole and bool(((reached[upper] >= 0) & (reached[upper] < reached[lower])).all())
        reached[root] = -1
        reached[lower] = -1
        if not whole:
            return "its links are no tree from its root on"
        tree = np.sort(np.append(lower, root))
        if len(members) != len(tree) or not np.array_equal(np.sort(members), tree):
            return "its tree does not hold exactly its subscribers, publishers and relays"
        return None

    def _keep(self, topic: _TopicTable, ends: Ids, served: Numbers, wants: Patterns, publishes: Patterns) -> str | None:
        self._upper.append(ends[:, 0])
        self._lower.append(ends[:, 1])
        self._root.append(self._ids[topic.root])
        self._nodes.append(served)
        rows: dict[tuple[int, str], int] = {}
        for side, role in ((wants, SUBSCRIBES), (publishes, PUBLISHES)):
            for name, patterns in side.items():
                for pattern in patterns:
                    rows[self._ids[name], pattern] = rows.get((self._ids[name], pattern), 0) | int(role)
        self._rows.append([(node, pattern, role, bool(role & PUBLISHES)) for (node, pattern), role in rows.items()])
        return None

    def done(self, topics: Sequence[_TopicTable]) -> Trees:
        """The trees of all topics."""
        names = tuple(topic.name for topic in topics)
        of_nodes = np.repeat(np.arange(len(names)), [len(nodes) for nodes in self._nodes])
        nodes = np.concatenate([*self._nodes, np.empty(0, np.int64)])
        interest = Interest.from_ids(tuple(self._ids), names, nodes, of_nodes, self._roles(topics))
        start = np.append(0, np.cumsum([len(upper) for upper in self._upper])).astype(np.int64)
        none = np.empty(0, np.int32)
        upper, lower = (np.concatenate([*rows, none]) for rows in (self._upper, self._lower))
        return Trees(interest, start, upper, lower, np.array(self._root, np.int32))

    def _roles(self, topics: Sequence[_TopicTable]) -> Roles | None:
        """The rows as roles; None if all want and publish the topics themselves."""
        if all(topic.wants is None and topic.publishes is None and topic.filters is None for topic in topics):
            return None
        filters = next((topic.filters for topic in topics if topic.filters is not None), None)
        patterns = tuple(sorted({pattern for rows in self._rows for _, pattern, _, _ in rows}))
        number = {pattern: at for at, pattern in enumerate(patterns)}
        rows = [sorted((node, number[pattern], role, out) for node, pattern, role, out in each) for each in self._rows]
        columns = np.array([row for each in rows for row in each], np.int64).reshape(-1, 4).T
        return Roles(
            None if filters is None else protocol_of(filters),
            patterns,
            np.append(0, np.cumsum([len(each) for each in rows])).astype(np.int64),
            columns[0],
            columns[1],
            columns[2].astype(np.uint8),
            columns[3].astype(np.bool_),
        )


def _lines(values: Iterable[Any]) -> str:
    lines = ",".join(f"\n  {json.dumps(value, ensure_ascii=False)}" for value in values)
    return f"[{lines}]"


def _broker_table(broker: Broker, target: str) -> dict[str, Any]:
    table: dict[str, Any] = {"name": broker.name, "host": broker.host, "port": broker.port, "accepts": broker.accepts}
    if target == MIXED:
        table["kind"] = broker.kind
    if broker.vhost is not None:
        table["vhost"] = broker.vhost
    for key in ("tls", "credentials"):
        value = getattr(broker, key)
        if value is not None:
            table[key] = {name: text for name, text in asdict(value).items() if text is not None}
    return table


def _route_table(route: Route) -> dict[str, Any]:
    table = {
        "name": route.topic,
        "qos": route.qos,
        "root": route.root,
        "subscribers": route.subscribers,
        "relays": route.relays,
        "links": route.links,
        "wants": route.wants,
        "publishes": route.publishes,
        "filters": route.filters,
    }
    return {key: value for key, value in table.items() if value is not None}


def _broker(table: Mapping[str, Any], target: str, where: str) -> Broker:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise InputError(f"{where}: a broker has no name; every broker needs one")
    fields = {key: value for key, value in table.items() if key != "name"}
    place = f"{where}: broker {quoted(name)}"
    if ("kind" in fields) != (target == MIXED):
        raise InputError(
            f"{place}: {'has no kind, which' if target == MIXED else 'has a kind, which only'} "
            f"a plan with the target {MIXED} needs"
        )
    return broker_from(name, {"kind": target, **fields}, place)


def picture_of(plan: Plan) -> str:
    """Brokers and links in the DOT language; a link says how many topics it carries, and points to who accepts it."""
    lines = [
        "digraph fleet {",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10, arrowsize=0.6];',
    ]
    relayed: dict[str, int] = {}
    wanted: dict[str, int] = {}
    for route in plan.routes:
        for name in route.subscribers:
            wanted[name] = wanted.get(name, 0) + 1
        for name in route.relays:
            relayed[name] = relayed.get(name, 0) + 1
    for broker in plan.brokers:
        topics = f"wants {wanted.get(broker.name, 0)}"
        relays = f", relays {relayed[broker.name]}" if broker.name in relayed else ""
        lines.append(f"  {_id(broker.name)} [label={_quoted(broker.name, f'{topics}{relays}')}];")
    for link in plan.links:
        carried = len(plan.routes_of_link[link])
        width = f"{1 + math.log2(carried):.1f}"
        lines.append(f"  {_id(link[0])} -> {_id(link[1])} [label={carried}, penwidth={width}];")
    return "\n".join([*lines, "}"]) + "\n"


def _id(name: str) -> str:
    return f'"{identifier(name)}"'


def _quoted(*rows: str) -> str:
    r"""Text in DOT's quotes, rows apart; nothing in it is taken for an escape such as \n, or for an HTML entity."""
    shown = [
        "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in row)
        .replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("&", "&amp;")
        for row in rows
    ]
    return '"' + "\\n".join(shown) + '"'


PICTURE = "fleet.dot"


def file_name(plan: Plan, broker: str) -> str:
    """The name of a broker's configuration file."""
    return f"{identifier(broker)}{kind_of(plan.broker[broker]).ending}"


def configuration_of(plan: Plan, broker: str) -> str:
    """The configuration of one broker; passwords are looked up now."""
    return kind_of(plan.broker[broker]).render(plan, broker, password_of)


def configurations(plan: Plan) -> dict[str, str]:
    """The configuration of each broker that is given one."""
    given = [broker.name for broker in plan.brokers if kind_of(broker).ending is not None]
    return {name: configuration_of(plan, name) for name in given}


def render(plan: Plan, folder: Path, *, mode: int | None = None) -> list[Path]:
    """Write the configuration of every broker, and give the files.

    Args:
        plan: what is to be configured; passwords that it names are looked up now.
        folder: must be new.
        mode: who may read the configurations; their owner alone unless given, where they hold passwords.
    """
    texts = configurations(plan)
    secret = any(broker.credentials is not None for broker in plan.brokers)
    folder.mkdir()
    written = []
    for broker, text in texts.items():
        written.append(folder / file_name(plan, broker))
        _write(written[-1], text, 0o600 if secret else 0o666)
        if mode is not None:
            written[-1].chmod(mode)
    written.append(folder / PICTURE)
    _write(written[-1], picture_of(plan), 0o666)
    return written


def _write(path: Path, text: str, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
