"""Definitions for RabbitMQ: every topic is an exchange, federated along its tree.

A topic is a fanout exchange; where it is made of filters it is a topic exchange, to which clients bind queues by their
filters and publish with the name as routing key. Federation tells each neighbour which bindings lie behind a link, so
that messages take only links behind which a queue wants them, and each link once, however many filters match.

A broker pulls a topic from each of its neighbours in the tree that it can come from: an upstream for every neighbour,
an upstream set and a policy for every topic. `max-hops` is the longest way through the tree, so that a message ends
there whatever else is configured. The definitions add to what a broker has; they name no users and no permissions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.plan import Plan, Route
from topicloom.deploy.targets.secrets import password_of

# The virtual host that every broker has.
VHOST = "/"
PREFIX = "topicloom"
_SYSTEM_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def definitions_of(plan: Plan, broker: str) -> str:
    """The definitions of one broker as JSON, for `rabbitmqctl import_definitions`."""
    routes = [route for route in plan.routes if broker in route.neighbours]
    vhost = vhost_of(plan.broker[broker])
    neighbours = sorted({other for route in routes for other in _upstreams(route, broker)})
    federated = [route for route in routes if _upstreams(route, broker)]
    definitions = {
        "vhosts": [{"name": vhost}],
        "exchanges": [{"vhost": vhost, **_exchange(route)} for route in routes],
        "parameters": [
            *({"vhost": vhost, **_upstream(plan.broker[name])} for name in neighbours),
            *({"vhost": vhost, **_upstream_set(route, broker)} for route in federated),
        ],
        "policies": [{"vhost": vhost, **_policy(route)} for route in federated],
    }
    return json.dumps(definitions, indent=1, ensure_ascii=False) + "\n"


def vhost_of(broker: Broker) -> str:
    """The virtual host in which a broker has its topics."""
    return broker.vhost or VHOST


def _upstreams(route: Route, broker: str) -> list[str]:
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


def _upstream(other: Broker) -> dict[str, Any]:
    value = {"uri": _uri(other), "ack-mode": "on-confirm", "reconnect-delay": 5, "trust-user-id": False}
    return _parameter("federation-upstream", f"{PREFIX}-{identifier(other.name)}", value)


def _upstream_set(route: Route, broker: str) -> dict[str, Any]:
    value = [
        {"upstream": f"{PREFIX}-{identifier(other)}", "exchange": route.topic, "max-hops": route.diameter}
        for other in _upstreams(route, broker)
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


def _uri(other: Broker) -> str:
    login = ""
    if other.credentials is not None:
        login = f"{quote(other.credentials.username, safe='')}:{quote(password_of(other), safe='')}@"
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
