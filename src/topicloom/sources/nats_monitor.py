"""NATS: what the monitoring port of a server tells of its clients' subscriptions.

`/connz` has the clients and what they subscribe to. `/subsz` has all subscriptions of the server, so those that no
client holds are its own: the subjects of JetStream's streams. Leaf nodes (`/leafz`) and routes (`/routez`) are links to
other servers, and what goes over them is wanted there; where the leaf nodes are not part of the fleet, settings say
that what they want counts here. No interface tells who publishes what.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topicloom.deploy.planning.source_settings import SourceSettings
from topicloom.sources.broker_rows import BrokerRows, Heard, kept, looked_at
from topicloom.sources.http_json import Asking, list_of_objects
from topicloom.sources.source_error import SourceError

_PAGE = 1024
# Pages shift when clients go while they are read.
_TRIES = 5
_SYSTEM_ACCOUNT = "$SYS"
# Subjects of servers, of JetStream, and of answers to requests.
_INTERNAL = ("$", "_")


def ask_nats(source: SourceSettings, broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a server."""
    asking = Asking(source, broker)
    connections = _pages(asking, "connz?subs=1", "connections")
    told = [
        Heard(subject, "sub", str(each.get("name") or f"client {each.get('cid')}"))
        for each in connections
        for subject in _subjects(each)
    ]
    clients = {each.get("cid") for each in connections}
    for each in _pages(asking, "subsz?subs=1", "subscriptions_list"):
        if each.get("cid") not in clients and each.get("account") != _SYSTEM_ACCOUNT:
            told.append(Heard(str(each.get("subject", "")), "sub", "server"))
    leafs = _list(asking.object("leafz?subs=1"), "leafs")
    routes = _list(asking.object("routez"), "routes")
    if source.leafs:
        told += [
            Heard(subject, "sub", str(leaf.get("name") or f"leaf node {leaf.get('ip')}"))
            for leaf in leafs
            for subject in _subjects(leaf)
        ]
    found = looked_at(before, kept((row for row in told if not row.topic.startswith(_INTERNAL)), source), now_us)
    links = [("leaf node", leaf) for leaf in leafs] + [("route", route) for route in routes]
    return BrokerRows(
        found.rows, {"bridges": sorted(f"{what} {each.get('ip')}:{each.get('port')}" for what, each in links)}
    )


def _pages(asking: Asking, path: str, key: str) -> list[dict[str, Any]]:
    """All objects of all pages, as of one moment as nearly as the server lets us."""
    for _ in range(_TRIES):
        pages = list(_read_pages(asking, path, key))
        rows = [row for page in pages for row in _list(page, key)]
        if len(rows) == pages[-1].get("total", len(rows)):
            return rows
    raise SourceError(f"{path.partition('?')[0]} changes faster than it can be read")


def _read_pages(asking: Asking, path: str, key: str) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        page = asking.object(f"{path}&limit={_PAGE}&offset={offset}")
        yield page
        offset += _PAGE
        if not _list(page, key) or offset >= int(page.get("total", 0)):
            return


def _list(answer: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return list_of_objects(answer.get(key) or [], key)


def _subjects(each: dict[str, Any]) -> list[str]:
    return [str(subject) for subject in each.get("subscriptions_list") or []]
