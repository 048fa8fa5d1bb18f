"""Plans as JSON files: one broker, link or topic a line, so that version control shows what changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from topicloom.deploy.planning.broker_names import quoted, require_names
from topicloom.deploy.planning.fleet_file import Broker, broker_from
from topicloom.deploy.planning.plan import TARGETS, Plan, Route
from topicloom.errors import InputError
from topicloom.files.atomic import replacing

FORMAT = "topicloom plan 1"


def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan; the same plan gives the same bytes."""
    parts = {
        "format": json.dumps(FORMAT),
        "target": json.dumps(plan.target),
        "made": json.dumps(dict(plan.made), sort_keys=True),
        "brokers": _lines(map(_broker_table, plan.brokers)),
        "links": _lines(plan.links),
        "topics": _lines(map(_route_table, plan.routes)),
    }
    text = ",\n ".join(f'"{key}": {value}' for key, value in parts.items())
    with replacing(path) as temporary:
        temporary.write_text(f"{{{text}}}\n", encoding="utf-8", newline="\n")


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan and check it; one that does not hold together is an `InputError`."""
    where = os.fspath(path)
    try:
        tables = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError, json.JSONDecodeError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InputError(f"{where}: cannot be read ({reason})") from None
    if not isinstance(tables, dict) or tables.get("format") != FORMAT:
        raise InputError(f"{where}: is not a plan; give a file that 'topicloom plan' wrote")
    try:
        plan = Plan(
            target=tables["target"],
            brokers=tuple(_broker(table, where) for table in tables["brokers"]),
            links=tuple((str(first), str(second)) for first, second in tables["links"]),
            routes=tuple(_route(table) for table in tables["topics"]),
            made=MappingProxyType(dict(tables["made"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: lacks something that every plan has ({' '.join(str(error).split())})") from None
    _check(plan, where)
    return plan


def _lines(values: Iterable[Any]) -> str:
    lines = ",".join(f"\n  {json.dumps(value, ensure_ascii=False)}" for value in values)
    return f"[{lines}]"


def _broker_table(broker: Broker) -> dict[str, Any]:
    table: dict[str, Any] = {"name": broker.name, "host": broker.host, "port": broker.port, "accepts": broker.accepts}
    for key in ("tls", "credentials"):
        value = getattr(broker, key)
        if value is not None:
            table[key] = {name: text for name, text in asdict(value).items() if text is not None}
    return table


def _route_table(route: Route) -> dict[str, Any]:
    return {
        "name": route.topic,
        "qos": route.qos,
        "root": route.root,
        "subscribers": route.subscribers,
        "relays": route.relays,
        "links": route.links,
    }


def _broker(table: dict[str, Any], where: str) -> Broker:
    name = str(table["name"])
    fields = {key: value for key, value in table.items() if key != "name"}
    return broker_from(name, fields, f"{where}: broker {quoted(name)}")


def _route(table: dict[str, Any]) -> Route:
    return Route(
        topic=str(table["name"]),
        qos=int(table["qos"]),
        root=str(table["root"]),
        subscribers=tuple(map(str, table["subscribers"])),
        relays=tuple(map(str, table["relays"])),
        links=tuple((str(upper), str(lower)) for upper, lower in table["links"]),
    )


def _check(plan: Plan, where: str) -> None:
    """An error unless every route is a tree over its brokers along links of the plan."""
    if plan.target not in TARGETS:
        raise InputError(f"{where}: unknown target '{plan.target}'; known are {', '.join(TARGETS)}")
    if len(plan.broker) != len(plan.brokers) or len(plan.route) != len(plan.routes):
        raise InputError(f"{where}: names a broker or a topic twice")
    links = {frozenset(link) for link in plan.links}
    if len(links) != len(plan.links) or not all(len(link) == 2 and link <= plan.broker.keys() for link in links):
        raise InputError(f"{where}: its links must each join two brokers, once")
    require_names(plan.target, tuple(plan.route))
    for route in plan.routes:
        problem = _route_problem(route, links)
        if problem is not None:
            raise InputError(f"{where}: topic {quoted(route.topic)}: {problem}")


def _route_problem(route: Route, links: set[frozenset[str]]) -> str | None:
    if route.qos not in (0, 1, 2):
        return f"qos must be 0, 1 or 2, not {route.qos}"
    reached = {route.root}
    for upper, lower in route.links:
        if frozenset((upper, lower)) not in links:
            return f"goes over {quoted(upper)} - {quoted(lower)}, which is no link of the plan"
        if upper not in reached or lower in reached:
            return "its links are no tree from its root on"
        reached.add(lower)
    members = [*route.subscribers, *route.relays]
    if reached != set(members) or len(members) != len(reached):
        return "its tree does not hold exactly its subscribers and relays"
    return None
