"""NATS: leaf node remotes, written and read, and its monitoring.

NATS passes interest on by itself, so a subject crosses a link where somebody behind it subscribes; and it refuses
cycles, so a plan's links are one tree, or one for each island, for all topics. A link is a remote of the server that
opens it. A server passes on to the servers that it opens links to what its clients want and what those want that open
links to it, but not what others want that it opens links to. So each opens one link, towards the root of the tree. What
the plan does not send over a link is denied there, in each direction, so that a client that subscribes
where the plan knows of no interest does not pull a topic through the fleet.

The file is for the inside of the server's block `leafnodes`, by `include`; where the server listens for leafnodes, and
who may log in, stays with the server.

Configurations are read with `:`, `=` or a space between keys and values; `{ }` and `[ ]`; values end with a comma, a
semicolon or their line; text in quotes or without; comments after `#` and `//`. Variables and includes are not
followed. Each remote of a server is a link that it opens.

Of the monitoring port, `/connz` has the clients and what they subscribe to. `/subsz` has all subscriptions of the
server, so those that no client holds are its own: the subjects of JetStream's streams. Leaf nodes (`/leafz`) and routes
(`/routez`) are links to other servers, and what goes over them is wanted there; if the leaf nodes are not part of the
fleet, settings say that what they want counts here. No interface tells who publishes what.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import numpy as np

from topicloom.brokers import dial
from topicloom.brokers.fingerprints import Hashes, address_hashes, hashes_of, mixed, opened_hashes, topic_hashes
from topicloom.brokers.kind import (
    Bridge,
    BrokerKind,
    Configured,
    DeliveryFailed,
    LinkState,
    Pair,
    Secret,
    SourceForm,
    refuse,
    too_long,
    unreadable_character,
)
from topicloom.brokers.names import identifier
from topicloom.brokers.rows import BrokerRows, Heard, SourceError, asked, client_of, kept, looked_at
from topicloom.errors import InputError
from topicloom.io.http import HttpClient, HttpError, list_of_objects
from topicloom.model.filters import NATS
from topicloom.model.fleet import Broker, Delivery, Source

if TYPE_CHECKING:
    from topicloom.brokers.local import Processes
    from topicloom.brokers.plan import Plan

# The line that begins what we write for a server.
_HEADING = re.compile(r"^# Topicloom: leafnode remotes of broker (\S+) at (\S+):(\d+)$", re.MULTILINE)


def _remotes_of(plan: Plan, broker: str, secret: Secret) -> str:
    """The leafnode remotes of one server."""
    opened = [link for link in plan.links_of[broker] if link[0] == broker]
    own = plan.broker[broker]
    lines = [
        f"# Topicloom: leafnode remotes of broker {identifier(broker)} at {own.host}:{own.port}",
        "# Made from a plan: change the plan and render again, rather than this file.",
        "remotes: [",
    ]
    for link in opened:
        lines += [f"  {line}" for line in _remote(plan, link, secret)]
    return "\n".join([*lines, "]"]) + "\n"


def denied(plan: Plan, link: Pair) -> tuple[list[str], list[str]]:
    """What a link, as (who opens it, who accepts it), does not take in, and what it does not give out.

    Filters that overlap are of one topic, and topics have no subject in common: so all filters of the topics that do
    not go over the link are denied, and nothing that goes over it is.
    """
    if plan.interest.filters is None:
        lines = plan.lines_of_link[link]
        comes = {line.pattern for line in lines if line.direction != "out"}
        goes = {line.pattern for line in lines if line.direction != "in"}
        return sorted(plan.route.keys() - comes), sorted(plan.route.keys() - goes)
    directions = {
        route.topic: {line.direction for line in route.lines_over(link)} for route in plan.routes_of_link[link]
    }
    comes = {topic for topic, found in directions.items() if found - {"out"}}
    goes = {topic for topic, found in directions.items() if found - {"in"}}
    imports, exports = (
        sorted(pattern for topic, patterns in plan.widest_patterns.items() if topic not in side for pattern in patterns)
        for side in (comes, goes)
    )
    return imports, exports


def _remote(plan: Plan, link: Pair, secret: Secret) -> Iterator[str]:
    other = plan.broker[link[1]]
    imports, exports = denied(plan, link)
    yield "{"
    yield f"  # to broker {identifier(other.name)}"
    yield f"  urls: [{json.dumps(_url(other, secret))}]"
    yield from (f"  {line}" for line in _tls(other))
    yield f"  deny_imports: {_subject_list(imports)}"
    yield f"  deny_exports: {_subject_list(exports)}"
    yield "}"


def _subject_list(subjects: list[str]) -> str:
    return "[" + ", ".join(json.dumps(subject, ensure_ascii=False) for subject in subjects) + "]"


def _url(other: Broker, secret: Secret) -> str:
    login = ""
    if other.credentials is not None:
        login = f"{quote(other.credentials.username, safe='')}:{quote(secret(other), safe='')}@"
    host = f"[{other.host}]" if ":" in other.host else other.host
    return f"{'tls' if other.tls else 'nats-leaf'}://{login}{host}:{other.port}"


def _tls(other: Broker) -> Iterator[str]:
    if other.tls is not None and other.tls.ca_file is not None:
        yield "tls: {"
        for key, value in vars(other.tls).items():
            if value is not None:
                yield f"  {key}: {json.dumps(value)}"
        yield "}"


_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r,;]+|(?:\#|//)[^\n]*)|(?P<line>\n)|(?P<sign>[{}\[\]:=])"""
    r"""|"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>[^']*)'|(?P<word>(?:[^\s{}\[\]:=,;"'\#]|:(?=//|\d|\w))+)"""
)

Token = tuple[str, str, int]


def parse_nats(text: str, where: str) -> dict[str, Any]:
    """What a configuration holds; `where` names it in errors."""
    return _Parser(list(_tokens(text, where)), where).table(None)


def _tokens(text: str, where: str) -> Iterator[Token]:
    place, line = 0, 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise InputError("cannot be read as a configuration of NATS", file=f"{where}:{line}")
        place = found.end()
        kind = found.lastgroup or ""
        if kind != "blank":
            yield "text" if kind in ("double", "single", "word") else kind, found[kind], line
        line += found[0].count("\n")


class _Parser:
    def __init__(self, tokens: list[Token], where: str) -> None:
        self._tokens = tokens
        self._place = 0
        self._where = where

    def table(self, end: str | None) -> dict[str, Any]:
        """Keys and values up to the sign that ends them; None stands for the end of the file."""
        found: dict[str, Any] = {}
        while (token := self._next(end)) is not None:
            kind, key, line = token
            if kind != "text":
                raise self._wrong(key, line)
            if self._peek() in (":", "="):
                self._place += 1
            found[key.lower()] = self._value(line)
        return found

    def _value(self, line: int) -> Any:
        token = self._next("")
        if token is None:
            raise self._wrong("the end", line)
        kind, text, line = token
        if kind == "text":
            return text
        if text == "{":
            return self.table("}")
        if text == "[":
            values = []
            while (token := self._next("]")) is not None:
                self._place -= 1
                values.append(self._value(token[2]))
            return values
        raise self._wrong(text, line)

    def _peek(self) -> str | None:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else None

    def _next(self, end: str | None) -> Token | None:
        """The next token that is no line's end; None where it is the sign that ends what is read."""
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            if token[0] == "sign" and token[1] == end:
                return None
            if token[0] != "line":
                return token
        if end:
            raise InputError(f"ends before '{end}'; give the whole file", file=self._where)
        return None

    def _wrong(self, text: str, line: int) -> InputError:
        return InputError(f"'{text}' stands where a key or a value should", file=f"{self._where}:{line}")


_LEAF_PORT = 7422
_SECTIONS = ("leafnodes", "leaf")


def _server_in(name: str, text: str, where: str) -> Configured:
    """The server that a configuration describes; `where` names it in errors and places."""
    table = parse_nats(text, where)
    # A file that we made is the inside of the section.
    leafs: dict[str, Any] = next((table[key] for key in _SECTIONS if isinstance(table.get(key), dict)), table)
    own = str(table.get("server_name", name))
    headed = _HEADING.search(text)
    if headed is not None:
        own = unquote(headed[1])
    remotes = leafs.get("remotes", [])
    bridges = [
        _bridge(url, f"{where}: remote {number}")
        for number, remote in enumerate(remotes if isinstance(remotes, list) else [remotes], 1)
        for url in _urls(remote)[:1]
    ]
    addresses = _addresses(leafs) if headed is None else ((headed[2], int(headed[3])),)
    return Configured(own, addresses, tuple(bridges), None if headed is None else own)


def _urls(remote: Any) -> list[str]:
    """All are ways to the same server, or to servers of one cluster; the first stands for them."""
    urls = remote.get("urls", [remote.get("url")]) if isinstance(remote, dict) else [remote]
    return [str(url) for url in (urls if isinstance(urls, list) else [urls]) if url is not None]


def _bridge(url: str, where: str) -> Bridge:
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        host, port = parts.hostname or "", parts.port or _LEAF_PORT
    except ValueError:
        raise InputError(f"its URL has no host and port, such as nats-leaf://HOST:{_LEAF_PORT}", file=where) from None
    return Bridge("leaf node", host, port, (), True, where)


def _addresses(leafs: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Where a server listens for leaf nodes."""
    listen = str(leafs.get("listen", ""))
    host, _, port = listen.rpartition(":") if listen else (str(leafs.get("host", "")), "", str(leafs.get("port", "")))
    if not port.isdecimal():
        return ()
    return (("" if host in ("0.0.0.0", "::") else host.strip("[]"), int(port)),)


_PAGE = 1024
# Pages shift when clients go while they are read.
_TRIES = 5
_SYSTEM_ACCOUNT = "$SYS"
# Subjects of servers, of JetStream, and of answers to requests.
_INTERNAL = ("$", "_")


def ask_nats(source: Source, broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a server."""
    client = client_of(source, broker)
    connections = _pages(client, "connz?subs=1", "connections")
    told = [
        Heard(subject, "sub", str(each.get("name") or f"client {each.get('cid')}"))
        for each in connections
        for subject in _subjects(each)
    ]
    clients = {each.get("cid") for each in connections}
    for each in _pages(client, "subsz?subs=1", "subscriptions_list"):
        if each.get("cid") not in clients and each.get("account") != _SYSTEM_ACCOUNT:
            told.append(Heard(str(each.get("subject", "")), "sub", "server"))
    leafs = _list(client.object("leafz?subs=1"), "leafs")
    routes = _list(client.object("routez"), "routes")
    if source.option("leafs"):
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


def leafnodes(client: HttpClient) -> list[dict[str, Any]]:
    """Return the leafnode connections of a server, by its monitoring interface."""
    return list_of_objects(client.object("leafz").get("leafs") or [], "leafs of leafz")


def _pages(client: HttpClient, path: str, key: str) -> list[dict[str, Any]]:
    """All objects of all pages, as of one moment as nearly as the server lets us."""
    for _ in range(_TRIES):
        pages = list(_read_pages(client, path, key))
        rows = [row for page in pages for row in _list(page, key)]
        if len(rows) == pages[-1].get("total", len(rows)):
            return rows
    raise SourceError(f"{path.partition('?')[0]} changes faster than it can be read")


def _read_pages(client: HttpClient, path: str, key: str) -> Iterator[dict[str, Any]]:
    offset = 0
    while True:
        page = client.object(f"{path}&limit={_PAGE}&offset={offset}")
        yield page
        offset += _PAGE
        if not _list(page, key) or offset >= int(page.get("total", 0)):
            return


def _list(answer: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return list_of_objects(answer.get(key) or [], key)


def _subjects(each: dict[str, Any]) -> list[str]:
    return [str(subject) for subject in each.get("subscriptions_list") or []]


# A line of NATS' protocol may have 4,096 bytes, and holds more than the subject.
_SUBJECT_BYTES = 3000
_ASK_SECONDS = 5.0
# Words that other configurations with this ending do not have.
_WORDS = re.compile(
    r"^\s*(leafnodes|remotes|server_name|cluster|jetstream|http_port|accounts)\b|^\s*port\s*[:=]", re.MULTILINE
)


class Nats(BrokerKind):
    """nats-server, linked by leaf nodes."""

    name = "nats"
    title = "NATS"
    ports = (7422, 7422)
    ending = ".conf"
    main = "nats-server.conf"
    wildcards = NATS
    opens = frozenset({"nats-leaf"})
    speaks = frozenset({"nats-leaf"})
    one_tree = True
    opens_one = True
    greets_first = True
    lints = True
    sources = MappingProxyType({"nats": SourceForm(NATS, over_http=True, options=("leafs",))})

    def name_problem(self, name: str) -> str | None:
        """Return why NATS cannot carry a subject of this name, None if it can."""
        tokens = name.split(".")
        if "" in tokens:
            return "has an empty part between dots, which NATS refuses"
        wildcard = next((token for token in tokens if token in ("*", ">")), None)
        if wildcard is not None:
            return (
                f"has the wildcard '{wildcard}', which no message can have in its subject; give the names it stands for"
            )
        return self.pattern_problem(name)

    def pattern_problem(self, pattern: str) -> str | None:
        """Return why NATS cannot carry what matches a filter, None if it can."""
        if any(character.isspace() for character in pattern):
            return "has a space, at which NATS splits the lines of its protocol; names without spaces are right"
        if pattern.startswith("$"):
            return "begins with '$', which NATS keeps for itself"
        return unreadable_character(pattern) or too_long(pattern, _SUBJECT_BYTES, "a subject of NATS")

    def render(self, plan: Plan, broker: str, secret: Secret) -> str:
        """Return the leafnode remotes of a server."""
        return _remotes_of(plan, broker, secret)

    def fingerprints(self, plan: Plan) -> Hashes:
        """Return hashes of the links that servers open, and of all topics, as remotes deny the others."""
        if plan.interest.filters is not None:
            found, carried = (
                np.zeros(len(plan.brokers), np.uint64),
                hashes_of(denied(plan, link) for link in plan.links),
            )
            np.add.at(found, plan.opener, mixed(carried, address_hashes(plan)[plan.acceptor]))
            return found
        links = opened_hashes(plan, qos=False)
        topics = topic_hashes(plan).sum(dtype=np.uint64)
        return np.where(links == 0, links, mixed(links, np.full(len(links), topics)))

    def looks_like(self, text: str) -> bool:
        """Whether a configuration has words that only one of NATS has."""
        return _WORDS.search(text) is not None

    def parse(self, name: str, text: str, where: str, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the server that a configuration describes."""
        return _server_in(name, text, where)

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what the monitoring port tells."""
        yield asked(ask_nats, source, broker, before, now_us)

    def links(self, plan: Plan, broker: Broker, delivery: Delivery) -> LinkState:
        """Return how many links a server opens, by the ports they lead to, if it has a monitoring port."""
        from topicloom.brokers.deliver import values_of
        from topicloom.brokers.fleet_file import filled

        if delivery.monitor is None:
            return LinkState(None, None, "give monitor in the fleet file")
        url = filled(delivery.monitor, values_of(broker)).rstrip("/")
        try:
            leafs = leafnodes(HttpClient(url, seconds=_ASK_SECONDS))
        except HttpError as error:
            raise DeliveryFailed(str(error)) from None
        opened = [plan.broker[link[1]].port for link in plan.opened_by(broker.name)]
        known = {other.port for other in plan.brokers}
        found = Counter(leaf["port"] for leaf in leafs if leaf.get("port") in known)
        if found != Counter(opened):
            raise DeliveryFailed(
                f"it has {found.total()} links to other servers, and {len(opened)} by the plan "
                "(nats-server 2.9 takes other remotes only when it restarts)"
            )
        return LinkState(len(opened), len(opened))

    def greet(self, line: dial.Line, broker: Broker) -> None:
        """Read the INFO, and compare what it says with the fleet file."""
        info = dial.nats_greeting(line)
        if not dial.is_for_leafnodes(info):
            raise dial.Refusal("protocol", f"is a port for clients; give the one for leafnodes, usually {_LEAF_PORT}")
        if dial.wants_tls(info) and broker.tls is None:
            raise dial.Refusal("protocol", "asks for TLS; give it tls in the fleet file")

    def log_in(self, line: dial.Line, broker: Broker, login: dial.Login | None) -> None:
        """Log in at the port for leafnodes."""
        dial.nats_login(line, login)

    def answers(self, broker: Broker, management: str | None, deadline: float) -> bool:
        """Whether a server greets with INFO."""
        from topicloom.brokers import health

        return health.greets(broker, deadline)

    def local(self, names: Sequence[str], *, lasting: bool) -> Processes:
        """Return nats-servers on loopback."""
        from topicloom.brokers.kinds.nats_servers import NatsProcesses
        from topicloom.brokers.local import free_ports

        ports = free_ports(names)
        return NatsProcesses(ports, free_ports(names, ports.values()), lasting=lasting)


KIND = Nats()
