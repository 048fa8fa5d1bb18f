"""Plans and configurations as files.

Plans as JSON files: one broker, link or topic a line, so that version control shows what changed.

The fleet as a picture for Graphviz.

Configuration files from a plan: one for each broker, and a picture of the fleet.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from annotated_types import Ge, Le

from topicloom.brokers.fleet_file import broker_from
from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import KINDS, kind_of, name_problem, require_filters
from topicloom.brokers.logins import password_of
from topicloom.brokers.names import identifier, quoted
from topicloom.brokers.plan import MIXED, Plan, Route, circle_problem, link_problem
from topicloom.errors import InputError
from topicloom.io.settings import parsed_json
from topicloom.io.tables import PLAN_BYTES, read_limited
from topicloom.io.whole import write_whole
from topicloom.model.filters import protocol_of
from topicloom.model.fleet import Broker

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
    if FORMAT.encode() not in text or parsed_json(text, dict[str, Any], where).get("format") != FORMAT:
        raise InputError(f"{where}: is not a plan; give a file that 'topicloom plan' wrote")
    read = parsed_json(text, _PlanTable, where)
    if read.target != MIXED and read.target not in KINDS:
        raise InputError(f"{where}: unknown target {quoted(read.target)}; known are {', '.join([*KINDS, MIXED])}")
    plan = Plan(
        target=read.target,
        brokers=tuple(_broker(table, read.target, where) for table in read.brokers),
        links=read.links,
        routes=tuple(
            Route(topic=topic.name, **{key: value for key, value in vars(topic).items() if key != "name"})
            for topic in read.topics
        ),
        made=MappingProxyType(read.made),
    )
    require_whole(plan, where)
    return plan


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


def require_whole(plan: Plan, where: str) -> None:
    """An error unless links join brokers that may be linked, and every route is a tree over its brokers along them."""
    if len(plan.broker) != len(plan.brokers) or len(plan.route) != len(plan.routes):
        raise InputError(f"{where}: names a broker or a topic twice")
    for broker in plan.brokers:
        if broker.port is None:
            raise InputError(f"{where}: broker {quoted(broker.name)}: has no port; give a whole number from 1 to 65535")
    links = {frozenset(link) for link in plan.links}
    if len(links) != len(plan.links) or not all(len(link) == 2 and link <= plan.broker.keys() for link in links):
        raise InputError(f"{where}: its links must each join two brokers, once")
    circle = circle_problem(plan.broker, plan.links)
    if circle is not None:
        raise InputError(f"{where}: {circle}")
    for link in plan.links:
        problem = link_problem(*(plan.broker[name] for name in link))
        if problem is not None:
            raise InputError(f"{where}: {problem}")
    for topic in plan.route:
        problem = _pattern_problem(plan, plan.route[topic]) or _route_problem(plan.route[topic], plan, links)
        if problem is not None:
            raise InputError(f"{where}: topic {quoted(topic)}: {problem}")
    for link, routes in plan.routes_of_link.items():
        if not routes:
            raise InputError(f"{where}: no topic goes over the link {quoted(link[0])} - {quoted(link[1])}; remove it")


def _pattern_problem(plan: Plan, route: Route) -> str | None:
    kinds = list(dict.fromkeys(kind_of(plan.broker[name]) for name in route.members if name in plan.broker))
    if route.filters is None:
        return name_problem(kinds, route.topic)
    patterns = {pattern for side in route.sides for names in side.values() for pattern in names}
    try:
        require_filters(kinds, protocol_of(route.filters), [route.topic], sorted(patterns | {route.topic}))
    except InputError as error:
        return str(error)
    return None


def _route_problem(route: Route, plan: Plan, links: set[frozenset[str]]) -> str | None:
    members = [*dict.fromkeys((*route.subscribers, *route.publishers)), *route.relays]
    if route.wants is not None and sorted(route.wants) != list(route.subscribers):
        return "its subscribers are not those of what it says is wanted"
    if any(not names for side in route.sides for names in side.values()):
        return "a broker wants or publishes nothing of it"
    for name in (route.root, *members):
        if name not in plan.broker:
            return f"{quoted(name)} is no broker of the plan"
    reached = {route.root}
    for upper, lower in route.links:
        if frozenset((upper, lower)) not in links:
            return f"goes over {quoted(upper)} - {quoted(lower)}, which is no link of the plan"
        if upper not in reached or lower in reached:
            return "its links are no tree from its root on"
        reached.add(lower)
    if reached != set(members) or len(members) != len(reached):
        return "its tree does not hold exactly its subscribers, publishers and relays"
    return None


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
