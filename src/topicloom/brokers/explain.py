"""Why something is in a plan, what it carries, and what breaks without it."""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.brokers.kind import Pair
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Plan, Route
from topicloom.errors import InputError


@dataclass(frozen=True)
class Split:
    """A topic that falls apart: the groups of its subscribers that would still reach each other, largest first."""

    topic: str
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LinkReasons:
    """A link: who opens it, the topics it carries, and how each would fall apart without it."""

    link: Pair
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class TopicReasons:
    """A topic: its route, and for every link of it who is behind, seen from the root."""

    route: Route
    behind: tuple[tuple[Pair, tuple[str, ...]], ...]


@dataclass(frozen=True)
class BrokerReasons:
    """A broker: its links, the topics it wants and those it relays, and what falls apart without it."""

    broker: str
    links: tuple[Pair, ...]
    wants: tuple[str, ...]
    relays: tuple[str, ...]
    splits: tuple[Split, ...]


def explain_link(plan: Plan, first: str, second: str) -> LinkReasons:
    """Why two brokers are linked."""
    _require_broker(plan, first)
    _require_broker(plan, second)
    link = next((pair for pair in ((first, second), (second, first)) if pair in plan.routes_of_link), None)
    if link is None:
        raise InputError(f"the plan has no link between {quoted(first)} and {quoted(second)}")
    return LinkReasons(link, tuple(_without(route, link=link) for route in plan.routes_of_link[link]))


def explain_topic(plan: Plan, topic: str) -> TopicReasons:
    """Why a topic goes where it goes."""
    route = plan.route.get(topic)
    if route is None:
        raise InputError(f"the plan has no topic {quoted(topic)}")
    wanting = {*route.subscribers, *route.publishers}
    return TopicReasons(route, tuple((link, tuple(sorted(route.side(link) & wanting))) for link in route.links))


def explain_broker(plan: Plan, broker: str) -> BrokerReasons:
    """What a broker is there for."""
    _require_broker(plan, broker)
    splits = [_without(route, broker=broker) for route in plan.routes if broker in route.neighbours]
    return BrokerReasons(
        broker=broker,
        links=plan.links_of[broker],
        wants=tuple(route.topic for route in plan.routes if broker in route.subscribers),
        relays=tuple(route.topic for route in plan.routes if broker in route.relays),
        splits=tuple(split for split in splits if len(split.groups) > 1),
    )


def _require_broker(plan: Plan, broker: str) -> None:
    if broker not in plan.broker:
        raise InputError(f"the plan has no broker {quoted(broker)}")


def _without(route: Route, *, link: Pair | None = None, broker: str | None = None) -> Split:
    """What remains of a route without a link, or without a broker."""
    # Imported where it is needed, as it takes long and pages seldom come to it.
    import networkx

    tree = networkx.Graph(list(route.links))
    tree.add_node(route.root)
    if link is not None:
        tree.remove_edge(*link)
    if broker is not None:
        tree.remove_node(broker)
    wanting = {*route.subscribers, *route.publishers}
    groups = [tuple(sorted(piece & wanting)) for piece in networkx.connected_components(tree)]
    return Split(route.topic, tuple(sorted(filter(None, groups), key=lambda names: (-len(names), names))))
