"""From subscriptions, an overlay and a fleet to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom._version import __version__
from topicloom.deploy.planning.broker_names import quoted, require_filters, require_names
from topicloom.deploy.planning.fleet_file import Broker, Fleet, require_distinct_addresses
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import TARGETS, Plan, Route, circle_problem, require_accepted
from topicloom.deploy.planning.routes import Routes, possible_routes, route, route_by_price
from topicloom.errors import InputError
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.rates import Rates
from topicloom.model.roles import Roles

# By target, without and with TLS.
_PORTS = {"mosquitto": (1883, 8883), "rabbitmq": (5672, 5671), "nats": (7422, 7422)}


def make_plan(
    interest: Interest,
    overlay: Overlay,
    fleet: Fleet,
    *,
    target: str = "mosquitto",
    relays: bool = False,
    prices: Prices | None = None,
    rates: Rates | None = None,
) -> Plan:
    """Plan who connects to whom and which topics go over each link.

    Links of the overlay that no topic needs are left out.

    Args:
        interest: who wants what.
        overlay: the links to choose from.
        fleet: where the brokers are; it has one for every node.
        target: the kind of the brokers, `mosquitto`, `rabbitmq` or `nats`; names that it cannot carry are errors. NATS
            takes a tree of links alone, over which topics are relayed where they must.
        prices: of links; each topic then goes along its cheapest tree instead of a shallow one, without relays.
        rates: of messages; with prices the cheapest tree is that of lowest traffic times price.
        relays: whether brokers may pass on topics that they do not want, where a topic is in pieces otherwise.
    """
    if target not in TARGETS:
        raise InputError(f"unknown target '{target}'; known are {', '.join(TARGETS)}")
    _require_carried(interest, target)
    fleet.require_brokers(interest.node_names)
    if prices is not None and (relays or target == "nats"):
        raise InputError("trees by price take no relays; leave out the prices or the relays", "prices", "relays")
    # In a tree there is one way, whoever is on it.
    relays = relays or target == "nats"
    if prices is None:
        trees = route(interest, overlay, relays=relays)
    else:
        trees = route_by_price(interest, overlay, prices, rates)
    routes = tuple(_route(trees, fleet, topic) for topic in range(interest.topic_count))
    used = _used(trees)
    circle = circle_problem(target, used)
    if circle is not None:
        raise InputError(f"the overlay: {circle}")
    brokers = {name: with_port(fleet.brokers[name], target) for name in interest.node_names}
    require_distinct_addresses(brokers.values(), fleet.where)
    hosted = [name for name, broker in brokers.items() if broker.vhost is not None]
    if hosted and target != "rabbitmq":
        raise InputError(f"{fleet.where}: broker {quoted(hosted[0])} has a vhost, which {target} does not know")
    fleet.constraints.require_kept(used, f"{fleet.where}: the overlay")
    links = tuple(_opened(brokers, link, fleet.where, target) for link in used)
    return Plan(target, tuple(brokers.values()), links, routes, _made(interest, overlay, relays))


def preview_plan(overlay: Overlay) -> Plan:
    """What a plan of an overlay would be, of a fleet of which nothing is known but names: to look at, not to apply.

    Relays are taken where they are needed; topics that remain in pieces have no route.
    """
    trees, pieces = possible_routes(overlay)
    unknown = Fleet({})
    routes = tuple(_route(trees, unknown, int(topic)) for topic in np.flatnonzero(pieces == 1))
    links = tuple(sorted({(min(ends), max(ends)) for one in routes for ends in one.links}))
    brokers = tuple(Broker(name, name) for name in overlay.interest.node_names)
    return Plan(TARGETS[0], brokers, links, routes)


def _require_carried(interest: Interest, target: str) -> None:
    """An error where the target cannot carry a topic or a filter."""
    roles = interest.roles
    if roles is None or roles.protocol is None:
        require_names(target, interest.topic_names)
        return
    require_filters(target, roles.protocol, interest.topic_names, roles.patterns)


def with_port(broker: Broker, target: str) -> Broker:
    """A broker with the usual port of its target where it names none."""
    return broker if broker.port else replace(broker, port=_PORTS[target][broker.tls is not None])


def _used(trees: Routes) -> list[Pair]:
    """The links that some topic goes over, in the order of their names, which is that of ids."""
    nodes = trees.interest.node_names
    ends = np.sort(np.stack([trees.upper, trees.lower]).astype(np.int64), axis=0)
    first, second = np.divmod(np.unique(ends[0] * len(nodes) + ends[1]), len(nodes))
    return [(nodes[one], nodes[other]) for one, other in zip(first.tolist(), second.tolist(), strict=True)]


def _route(trees: Routes, fleet: Fleet, topic: int) -> Route:
    interest, roles = trees.interest, trees.interest.roles
    names, name = interest.node_names, interest.topic_names[topic]
    members = interest.nodes_of(topic).tolist()
    upper, lower = trees.links_of(topic).T.tolist()
    # A tree with one link fewer than members has no others.
    relays = sorted({*upper, *lower}.difference(members)) if len(upper) >= len(members) else []
    route = Route(
        topic=name,
        qos=fleet.topic_qos.get(name, fleet.qos),
        root=names[trees.root[topic]],
        subscribers=_taken(names, members),
        relays=_taken(names, relays),
        links=tuple(zip(_taken(names, upper), _taken(names, lower), strict=True)),
    )
    return route if roles is None else _with_roles(route, roles, names, topic, fleet)


def _with_roles(route: Route, roles: Roles, nodes: tuple[str, ...], topic: int, fleet: Fleet) -> Route:
    """A route that says who wants and who publishes what, where not all do the same."""
    wants, publishes = ({nodes[node]: names for node, names in side.items()} for side in roles.of(topic))
    patterns = {pattern for side in (wants, publishes) for names in side.values() for pattern in names}
    qos = [fleet.topic_qos[pattern] for pattern in {route.topic, *patterns} & fleet.topic_qos.keys()]
    plain = wants == publishes and patterns == {route.topic} and roles.protocol is None
    return replace(
        route,
        qos=max(qos, default=fleet.qos),
        subscribers=tuple(sorted(wants)),
        wants=None if plain else wants,
        publishes=None if plain else publishes,
        filters=None if roles.protocol is None else roles.protocol.name,
    )


def _taken(names: tuple[str, ...], ids: list[int]) -> tuple[str, ...]:
    return tuple(map(names.__getitem__, ids))


def _opened(brokers: Mapping[str, Broker], link: Pair, where: str, target: str) -> Pair:
    """The link with the broker first that opens it: the first by name, unless the other does not accept."""
    opened = link if brokers[link[1]].accepts else link[::-1]
    require_accepted(target, brokers, opened, where)
    return opened


def _made(interest: Interest, overlay: Overlay, relays: bool) -> Mapping[str, Any]:
    made: dict[str, Any] = {"version": __version__, "subscriptions": interest.fingerprint, "relays": relays}
    if overlay.provenance is not None:
        made |= {"designer": overlay.provenance.algorithm, "parameters": dict(overlay.provenance.parameters)}
        made["seed"] = overlay.provenance.seed
    return MappingProxyType(made)
