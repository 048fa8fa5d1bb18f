"""RabbitMQ: federation as definitions, written and read, and its management interface.

A topic is a fanout exchange, federated along its tree; if it is made of filters it is a topic exchange, to which
clients bind queues by their filters and publish with the name as routing key. Federation tells each neighbour which
bindings lie behind a link, so that messages take only links behind which a queue wants them, and each link once,
however many filters match.

A broker pulls a topic from each of its neighbours in the tree that it can come from: an upstream for every neighbour,
an upstream set and a policy for every topic. `max-hops` is the longest path through the tree, so that a message ends
there whatever else is configured. The definitions add to what a broker has; they name no users and no permissions.
In files of definitions each upstream that a policy uses is a link.

The management interface takes definitions live: no file, no restart. Parameters and policies whose names begin as ours
do and that a plan no longer has are cleared, and only then others are set. Exchanges stay, as queues of others may be
bound to them.

Bindings are read from the management interface or from a file of `rabbitmqctl export_definitions`. What is bound to a
fanout exchange wants the exchange, which is the topic, as in the definitions that we render. What is bound to a topic
or direct exchange wants the routing key. Queues and exchanges that federation makes at the upstream broker are links,
not clients. Who publishes is known from counts that only the management interface has: an exchange is published at a
broker where more came in than its federation links brought.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import numpy as np

from topicloom.brokers import dial
from topicloom.brokers.fingerprints import Hashes, address_hashes, hashes_of, mixed, topic_hashes
from topicloom.brokers.kind import (
    Bridge,
    BrokerKind,
    Configured,
    DeliveryFailed,
    Driver,
    LinkState,
    Secret,
    SourceForm,
    refuse,
    too_long,
    unreadable_character,
)
from topicloom.brokers.logins import secret_of
from topicloom.brokers.names import identifier
from topicloom.brokers.rows import PUBLISHERS, BrokerRows, Heard, SourceError, asked, client_of, kept, looked_at
from topicloom.errors import InputError
from topicloom.io.http import LARGEST_BYTES, HttpClient, HttpError, Login, list_of_objects
from topicloom.model.filters import AMQP
from topicloom.model.fleet import Broker, Delivery, Source

if TYPE_CHECKING:
    from topicloom.brokers.local import Processes
    from topicloom.brokers.plan import Plan, Route

# The virtual host that every broker has.
VHOST = "/"
PREFIX = "topicloom"
_SYSTEM_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def _definitions_of(plan: Plan, broker: str, secret: Secret) -> str:
    """The definitions of one broker as JSON, for `rabbitmqctl import_definitions`."""
    routes = [route for route in plan.routes if broker in route.neighbours]
    vhost = vhost_of(plan.broker[broker])
    neighbours = sorted({other for route in routes for other in _upstreams_of(route, broker)})
    federated = [route for route in routes if _upstreams_of(route, broker)]
    definitions = {
        "vhosts": [{"name": vhost}],
        "exchanges": [{"vhost": vhost, **_exchange(route)} for route in routes],
        "parameters": [
            *({"vhost": vhost, **_upstream(plan.broker[name], secret)} for name in neighbours),
            *({"vhost": vhost, **_upstream_set(route, broker)} for route in federated),
        ],
        "policies": [{"vhost": vhost, **_policy(route)} for route in federated],
    }
    return json.dumps(definitions, indent=1, ensure_ascii=False) + "\n"


def vhost_of(broker: Broker) -> str:
    """The virtual host in which a broker has its topics."""
    return broker.vhost or VHOST


def _upstreams_of(route: Route, broker: str) -> list[str]:
    """The neighbours from which a topic comes: those with a publisher behind them, where somebody here wants it."""
    return [other for other in route.neighbours[broker] if route.flows[other, broker]]


def _exchange(route: Route) -> dict[str, Any]:
    return {
        "name": route.topic,
        "type": "fanout" if route.filters is None else "topic",
        "durable": True,
        "auto_delete": False,
        "internal": False,
        "arguments": {},
    }


def _upstream(other: Broker, secret: Secret) -> dict[str, Any]:
    value = {"uri": _uri(other, secret), "ack-mode": "on-confirm", "reconnect-delay": 5, "trust-user-id": False}
    return _parameter("federation-upstream", f"{PREFIX}-{identifier(other.name)}", value)


def _upstream_set(route: Route, broker: str) -> dict[str, Any]:
    value = [
        {"upstream": f"{PREFIX}-{identifier(other)}", "exchange": route.topic, "max-hops": route.diameter}
        for other in _upstreams_of(route, broker)
    ]
    return _parameter("federation-upstream-set", _set_name(route), value)


def _parameter(component: str, name: str, value: Any) -> dict[str, Any]:
    return {"component": component, "name": name, "value": value}


def _policy(route: Route) -> dict[str, Any]:
    # A pattern is searched for in the name, so both ends are tied and everything that means something is escaped.
    pattern = "".join(rf"\{c}" if re.match(r"[^\w]", c, re.ASCII) and c.isascii() else c for c in route.topic)
    return {
        "name": _set_name(route),
        "pattern": f"^{pattern}$",
        "apply-to": "exchanges",
        "priority": 10,
        "definition": {"federation-upstream-set": _set_name(route)},
    }


def _set_name(route: Route) -> str:
    return f"{PREFIX}-{identifier(route.topic)}"


def _uri(other: Broker, secret: Secret) -> str:
    login = ""
    if other.credentials is not None:
        login = f"{quote(other.credentials.username, safe='')}:{quote(secret(other), safe='')}@"
    host = f"[{other.host}]" if ":" in other.host else other.host
    uri = f"amqp{'s' if other.tls else ''}://{login}{host}:{other.port}"
    if other.vhost is not None and other.vhost != VHOST:
        uri += f"/{quote(other.vhost, safe='')}"
    return f"{uri}?{urlencode(list(_tls_options(other)))}" if other.tls else uri


def _tls_options(other: Broker) -> Iterator[tuple[str, str]]:
    assert other.tls is not None
    yield "verify", "verify_peer"
    yield "server_name_indication", other.host
    yield "cacertfile", other.tls.ca_file or _SYSTEM_CERTIFICATES
    if other.tls.cert_file is not None and other.tls.key_file is not None:
        yield "certfile", other.tls.cert_file
        yield "keyfile", other.tls.key_file


_PORT = 5672
_UPSTREAM, _SET, _ALL = "federation-upstream", "federation-upstream-set", "all"

Table = dict[str, Any]


def _node_in(name: str, text: str, where: str) -> Configured:
    """A broker by its file's name, and the upstreams that its policies use."""
    try:
        definitions = json.loads(text)
    except (ValueError, RecursionError):
        definitions = None
    if not isinstance(definitions, dict) or not {"parameters", "policies"} & definitions.keys():
        raise InputError("is no file of definitions; give one of rabbitmqctl export_definitions", file=where)
    upstreams = {str(each.get("name")): each.get("value") for each in _parameters(definitions, _UPSTREAM)}
    sets = {str(each.get("name")): each.get("value") for each in _parameters(definitions, _SET)}
    used: dict[str, None] = {}
    for policy in _tables(definitions.get("policies")):
        means = policy.get("definition")
        if not isinstance(means, dict):
            continue
        if _UPSTREAM in means:
            used[str(means[_UPSTREAM])] = None
        elif _SET in means:
            named = (str(each.get("upstream")) for each in _tables(sets.get(str(means[_SET]))))
            used |= dict.fromkeys(upstreams if means[_SET] == _ALL else named)
    bridges = [_bridge(upstream, upstreams[upstream], where) for upstream in used if upstream in upstreams]
    return Configured(unquote(name), (), tuple(bridges))


def _parameters(definitions: Table, component: str) -> Iterator[Table]:
    return (each for each in _tables(definitions.get("parameters")) if each.get("component") == component)


def _tables(value: Any) -> Iterable[Table]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _bridge(upstream: str, value: Any, file: str) -> Bridge:
    """A link to the broker that an upstream names, where it is one of ours, else to the host of its first URI."""
    uri = value.get("uri", "") if isinstance(value, dict) else ""
    uri = str(uri[0] if isinstance(uri, list) and uri else uri)
    where = f"{file}: upstream {upstream}"
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or _PORT
    except ValueError:
        # It is not shown, as it may hold a login.
        raise InputError(f"{where}: its URI has no host and port") from None
    if upstream.startswith(f"{PREFIX}-"):
        host = unquote(upstream.removeprefix(f"{PREFIX}-"))
    return Bridge(upstream, host, port, (), True, where)


_NOT_FOUND = 404


class RabbitManagement:
    """The interface of one broker at a URL; `login` gives a user and a password, or None."""

    def __init__(self, url: str, login: Callable[[], Login | None], seconds: float) -> None:
        self._client = HttpClient(f"{url.rstrip('/')}/api", seconds=seconds, login=login)

    def take(self, text: str) -> None:
        """Make the broker's definitions those of a plan, in their virtual host."""
        wanted = json.loads(text)
        (host,) = (row["name"] for row in wanted["vhosts"])
        vhost = quote(host, safe="")
        if host != VHOST:
            self.ask("PUT", f"vhosts/{vhost}", {})
        parameters = {(row["component"], row["name"]): row for row in wanted.get("parameters", [])}
        policies = {row["name"]: row for row in wanted.get("policies", [])}
        for row in self.ask("GET", f"policies/{vhost}"):
            if row["name"].startswith(PREFIX) and row["name"] not in policies:
                self.ask("DELETE", f"policies/{vhost}/{quote(row['name'], safe='')}")
        for component in (_SET, _UPSTREAM):
            for row in self.ask("GET", f"parameters/{component}/{vhost}"):
                if row["name"].startswith(PREFIX) and (component, row["name"]) not in parameters:
                    self.ask("DELETE", f"parameters/{component}/{vhost}/{quote(row['name'], safe='')}")
        for row in wanted.get("exchanges", []):
            fields = {key: row[key] for key in ("type", "durable", "auto_delete", "internal", "arguments")}
            self.ask("PUT", f"exchanges/{vhost}/{quote(row['name'], safe='')}", fields)
        # Upstreams before the sets that name them, and those before the policies that use them.
        for (component, name), row in sorted(parameters.items(), key=lambda item: item[0][0] == _SET):
            self.ask("PUT", f"parameters/{component}/{vhost}/{quote(name, safe='')}", {"value": row["value"]})
        for name, row in policies.items():
            fields = {key: row[key] for key in ("pattern", "apply-to", "priority", "definition")}
            self.ask("PUT", f"policies/{vhost}/{quote(name, safe='')}", fields)

    def given(self, host: str) -> str | None:
        """Return our parameters and policies in a virtual host as definitions, None if there are none."""
        vhost = quote(host, safe="")
        try:
            rows = {
                "parameters": [
                    {"vhost": host, **_parameter(component, row["name"], row["value"])}
                    for component in (_UPSTREAM, _SET)
                    for row in self.ask("GET", f"parameters/{component}/{vhost}")
                    if row["name"].startswith(PREFIX)
                ],
                "policies": [
                    {
                        "vhost": host,
                        **{key: row[key] for key in ("name", "pattern", "apply-to", "priority", "definition")},
                    }
                    for row in self.ask("GET", f"policies/{vhost}")
                    if row["name"].startswith(PREFIX)
                ],
            }
        except (LookupError, TypeError, AttributeError):
            raise HttpError("it answers with other things than parameters and policies") from None
        except HttpError as failure:
            if failure.status == _NOT_FOUND:
                return None
            raise
        return json.dumps(rows) if any(rows.values()) else None

    def links_down(self, text: str) -> list[str] | None:
        """Of the links that definitions ask for those that do not run, as exchange and upstream.

        None where the broker cannot tell, as its plugin rabbitmq_federation_management is not enabled.
        """
        wanted = json.loads(text)
        (host,) = (row["name"] for row in wanted["vhosts"])
        try:
            rows = self.ask("GET", f"federation-links/{quote(host, safe='')}")
        except HttpError as failure:
            if failure.status == _NOT_FOUND:
                return None
            raise
        running = {(row.get("exchange"), row.get("upstream")) for row in rows if row.get("status") == "running"}
        expected = [
            (each["exchange"], each["upstream"])
            for row in wanted.get("parameters", [])
            if row["component"] == _SET
            for each in row["value"]
        ]
        return [f"{exchange} from {upstream}" for exchange, upstream in expected if (exchange, upstream) not in running]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer of the interface; raise HttpError if it does not answer or refuses."""
        return self._client.send(method, path, body)


class ManagementDriver:
    """Sets and clears definitions of one broker."""

    def __init__(self, delivery: Delivery, broker: Broker) -> None:
        self._management = _management(delivery, broker.name)
        self._vhost = vhost_of(broker)

    @property
    def place(self) -> str:
        """Our parameters and policies, as if they were a file."""
        return f"the virtual host {self._vhost}"

    def get(self) -> Mapping[str, str]:
        """Return our parameters and policies as definitions; those of others are not followed."""
        try:
            text = self._management.given(self._vhost)
        except HttpError as failure:
            raise DeliveryFailed(str(failure)) from None
        return {} if text is None else {self.place: text}

    def ready(self) -> Iterator[tuple[str, str | None]]:
        """Read what can be read by those alone who may set it."""
        try:
            self.get()
        except DeliveryFailed as failure:
            yield "management", str(failure)
        else:
            yield "management", None

    def set_aside(self, places: Iterable[str]) -> None:
        """Nothing: links of others are not followed."""

    def bring_back(self) -> None:
        """Nothing was set aside."""

    def put(self, text: str) -> None:
        """Make the broker's definitions those of a plan."""
        try:
            self._management.take(text)
        except HttpError as failure:
            raise DeliveryFailed(str(failure)) from None

    def reload(self) -> None:
        """Nothing: what is set holds at once."""


def _management(delivery: Delivery, broker: str) -> RabbitManagement:
    """The interface at the URL of a delivery, with its login."""
    assert delivery.url is not None
    where = f"broker '{broker}': the password of its management interface"
    login = delivery.credentials
    return RabbitManagement(
        delivery.url, lambda: None if login is None else (login.username, secret_of(login, where)), delivery.seconds
    )


_FEDERATION = "federation: "
_INTERNAL = "amq.rabbitmq."
_BY_KEY = ("topic", "direct")
# Those that every broker has are not in definitions; an exchange without a name sends to each queue by its own.
_ALWAYS = {"amq.topic": "topic", "amq.direct": "direct"}


def ask_rabbitmq(source: Source, broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a broker by its management interface."""
    client = client_of(source, broker)
    bindings = client.objects("api/bindings?columns=source,vhost,destination,destination_type,routing_key")
    exchanges = client.objects("api/exchanges?columns=name,vhost,type,message_stats")
    here = list(_here(exchanges, source.vhost))
    links = _federation_links(client, source.vhost)
    told = [*_subscribed(_here(bindings, source.vhost), here), *_published(here, _federated(links))]
    found = looked_at(before, kept(told, source), now_us)
    return BrokerRows(
        found.rows, _upstreams_by_exchange(link.get("upstream") for link in links), _other_hosts(bindings, source.vhost)
    )


def read_definitions(source: Source, _broker: str, before: BrokerRows, now_us: int) -> BrokerRows:
    """Look at a file of definitions."""
    path = Path(source.places[0])
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise SourceError(f"{path} has more than {LARGEST_BYTES // 1_000_000} MB")
        definitions = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise SourceError(f"{path} is not JSON; give a file of rabbitmqctl export_definitions") from None
    if not isinstance(definitions, dict) or "bindings" not in definitions:
        raise SourceError(f"{path} has no bindings; give a file of rabbitmqctl export_definitions")
    bindings = list_of_objects(definitions["bindings"], f"{path}: bindings")
    exchanges = list_of_objects(definitions.get("exchanges", []), f"{path}: exchanges")
    told = _subscribed(_here(bindings, source.vhost), _here(exchanges, source.vhost))
    found = looked_at(before, kept(told, source), now_us)
    parameters = list_of_objects(definitions.get("parameters") or [], f"{path}: parameters")
    upstreams = [each for each in _here(parameters, source.vhost) if each.get("component") == "federation-upstream"]
    return BrokerRows(
        found.rows, _upstreams_by_exchange(each.get("name") for each in upstreams), _other_hosts(bindings, source.vhost)
    )


def _subscribed(bindings: Iterable[Table], exchanges: Iterable[Table]) -> Iterator[Heard]:
    kinds = _ALWAYS | {str(each.get("name")): str(each.get("type")) for each in exchanges}
    for each in bindings:
        exchange, queue = str(each.get("source", "")), str(each.get("destination", ""))
        if not exchange or exchange.startswith((_FEDERATION, _INTERNAL)) or queue.startswith(_FEDERATION):
            continue
        yield Heard(str(each.get("routing_key", "")) if kinds.get(exchange) in _BY_KEY else exchange, "sub", queue)


def _published(exchanges: Iterable[Table], federated: Mapping[str, int]) -> Iterator[Heard]:
    for each in exchanges:
        name = str(each.get("name", ""))
        came_in = _count(each, "message_stats", "publish_in")
        ours = each.get("type") in _BY_KEY or name.startswith((_FEDERATION, _INTERNAL)) or not name
        if came_in > federated.get(name, 0) and not ours:
            yield Heard(name, "pub", PUBLISHERS)


def _federation_links(client: HttpClient, vhost: str) -> list[Table]:
    try:
        return list(_here(client.objects("api/federation-links"), vhost))
    except HttpError as error:
        if error.status != _NOT_FOUND:
            raise
        return []  # without the plugin there is no such list


def _federated(links: Iterable[Table]) -> Counter[str]:
    """How many messages federation has brought to each exchange."""
    brought: Counter[str] = Counter()
    for link in links:
        brought[str(link.get("exchange"))] += _count(link, "local_channel", "message_stats", "publish")
    return brought


def _upstreams_by_exchange(names: Iterable[Any]) -> dict[str, list[str]]:
    """A position with the bridges of a broker: the upstreams from which it federates."""
    return {"bridges": sorted({str(name) for name in names})}


def _count(table: Table, *keys: str) -> int:
    value: Any = table
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def _here(tables: Iterable[Table], vhost: str) -> Iterator[Table]:
    return (table for table in tables if table.get("vhost", vhost) == vhost)


def _other_hosts(bindings: list[Table], vhost: str) -> tuple[str, ...]:
    others = sorted({str(each["vhost"]) for each in bindings if each.get("vhost", vhost) != vhost})
    return (f"virtual hosts other than {vhost} are left out: {', '.join(others[:5])}",) if others else ()


# The queue that federation makes for an exchange holds the name of the exchange twice, and may have 255 bytes.
_EXCHANGE_BYTES = 80
_ROUTING_KEY_BYTES = 255


class RabbitMq(BrokerKind):
    """RabbitMQ with its federation plugin."""

    name = "rabbitmq"
    title = "RabbitMQ"
    ports = (5672, 5671)
    ending = ".json"
    main = "definitions.json"
    wildcards = AMQP
    opens = frozenset({"amqp-federation"})
    speaks = frozenset({"amqp-federation"})
    both_ends = True
    sources = MappingProxyType({"rabbitmq": SourceForm(AMQP, over_http=True), "definitions": SourceForm(AMQP)})
    ways = MappingProxyType({"rabbitmq": (("url",), ("credentials",))})

    def name_problem(self, name: str) -> str | None:
        """Return why RabbitMQ cannot federate an exchange of this name, None if it can."""
        if name.startswith("amq."):
            return "begins with 'amq.', which RabbitMQ keeps for its own exchanges"
        return unreadable_character(name) or too_long(name, _EXCHANGE_BYTES, "a federated exchange")

    def pattern_problem(self, pattern: str) -> str | None:
        """Return why RabbitMQ can bind nothing by this filter, None if it can."""
        return unreadable_character(pattern) or too_long(pattern, _ROUTING_KEY_BYTES, "a routing key")

    def group_problem(self, name: str) -> str | None:
        """Return why no exchange can be called by a filter: a topic is an exchange, and its filters routing keys."""
        return self.name_problem(name)

    def broker_problem(self, broker: Broker) -> str | None:
        """Return None: it has virtual hosts."""
        return None

    def render(self, plan: Plan, broker: str, secret: Secret) -> str:
        """Return the definitions of a broker as JSON, for `rabbitmqctl import_definitions`."""
        return _definitions_of(plan, broker, secret)

    def fingerprints(self, plan: Plan) -> Hashes:
        """Return hashes of exchanges, of the neighbours that they are federated from, and of the virtual hosts."""
        roles, trees = plan.interest.roles, plan.trees
        kinds = np.full(plan.interest.topic_count, roles is not None and roles.protocol is not None)
        exchanges = mixed(mixed(topic_hashes(plan), plan.diameters), kinds)
        found, addresses = np.zeros(len(plan.brokers), np.uint64), address_hashes(plan)
        topics, members = plan.member_rows
        np.add.at(found, members, exchanges[topics])
        down, up = np.ones((2, len(trees.upper)), np.bool_)
        if not plan.carries_topics:
            flows = [(route.flows, link) for route in plan.routes for link in route.links]
            down, up = np.array([(len(flow[a, b]), len(flow[b, a])) for flow, (a, b) in flows]).reshape(-1, 2).T > 0
        for comes, source, to in ((down, trees.upper, trees.lower), (up, trees.lower, trees.upper)):
            upstream = mixed(exchanges[plan.topic_of_row[comes]], np.zeros(int(comes.sum()), np.uint8))
            np.add.at(found, to[comes], mixed(upstream, addresses[source[comes]]))
        return np.where(found == 0, found, mixed(found, hashes_of(map(vhost_of, plan.brokers))))

    def parse(self, name: str, text: str, where: str, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the broker that a file of definitions describes."""
        return _node_in(name, text, where)

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what the management interface or a file of definitions tells."""
        look = read_definitions if source.kind == "definitions" else ask_rabbitmq
        yield asked(look, source, broker, before, now_us)

    def driver(self, broker: Broker, delivery: Delivery) -> Driver:
        """Return the driver by its management interface."""
        return ManagementDriver(delivery, broker)

    def links(self, plan: Plan, broker: Broker, delivery: Delivery) -> LinkState:
        """Return how many links a broker has, once all that its definitions ask for run.

        It cannot tell without its management interface, or without the plugin rabbitmq_federation_management.
        """
        if delivery.url is None:
            return LinkState(None, None, 'give via = "rabbitmq" in the fleet file')
        try:
            down = _management(delivery, broker.name).links_down(self.render(plan, broker.name, lambda _: ""))
        except HttpError as failure:
            raise DeliveryFailed(str(failure)) from None
        if down is None:
            return LinkState(None, None, "enable rabbitmq_federation_management")
        if down:
            more = f" and {len(down) - 1} more" if len(down) > 1 else ""
            raise DeliveryFailed(f"its links are not up: {down[0]}{more}")
        count = len(plan.links_of.get(broker.name, ()))
        return LinkState(count, count)

    def log_in(self, line: dial.Line, broker: Broker, login: dial.Login | None) -> None:
        """Log in by AMQP; without a login as a new node's own user, as upstreams do."""
        dial.amqp_login(line, login or ("guest", "guest"), vhost_of(broker))

    def answers(self, broker: Broker, management: str | None, deadline: float) -> bool:
        """Whether its management interface serves, which logs nothing, or a connection begins."""
        from topicloom.brokers import health

        if management is not None:
            return health.serves(management, deadline)
        return health.over_line(broker, deadline, lambda line, _: dial.amqp_greeting(line))

    def local(self, names: Sequence[str], *, lasting: bool) -> Processes:
        """Return RabbitMQ nodes on loopback."""
        from topicloom.brokers.kinds.rabbitmq_nodes import RabbitProcesses
        from topicloom.brokers.local import free_ports

        return RabbitProcesses(free_ports(names))


KIND = RabbitMq()
