"""A plan: which broker connects to which, and along which tree each topic goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from topicloom.deploy.planning.broker_names import quoted
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.errors import InputError

TARGETS = ("mosquitto", "rabbitmq")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Route:
    """The tree of one topic: links as (upper broker, lower broker), those nearer the root first.

    It holds the topic's subscribers and its relays, which pass it on without wanting it, and nobody else.
    """

    topic: str
    qos: int
    root: str
    subscribers: tuple[str, ...]
    relays: tuple[str, ...]
    links: tuple[Pair, ...]

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """For every broker of the tree those beside it."""
        beside: dict[str, list[str]] = {name: [] for name in (*self.subscribers, *self.relays)}
        for upper, lower in self.links:
            beside[upper].append(lower)
            beside[lower].append(upper)
        return {name: tuple(others) for name, others in beside.items()}

    @cached_property
    def levels(self) -> Mapping[str, int]:
        """How many links each broker is from the root."""
        level = {self.root: 0}
        for upper, lower in self.links:
            level[lower] = level[upper] + 1
        return level

    @property
    def depth(self) -> int:
        """The most links from the root."""
        return max(self.levels.values())

    @cached_property
    def diameter(self) -> int:
        """The most links between two brokers of the tree."""
        longest = 0
        reach = dict.fromkeys(self.levels, 0)
        for upper, lower in reversed(self.links):
            longest = max(longest, reach[upper] + reach[lower] + 1)
            reach[upper] = max(reach[upper], reach[lower] + 1)
        return longest

    def side(self, link: Pair) -> set[str]:
        """Brokers of the tree on the lower side of one of its links, given upper end first."""
        below = {link[1]}
        for upper, lower in self.links:
            if upper in below:
                below.add(lower)
        return below


@dataclass(frozen=True)
class Plan:
    """Everything that configurations are made from, credentials only by reference.

    Brokers and routes are in the order of their names. A link is opened by its first broker; `made` says where the
    plan comes from.
    """

    target: str
    brokers: tuple[Broker, ...]
    links: tuple[Pair, ...]
    routes: tuple[Route, ...]
    made: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def broker(self) -> Mapping[str, Broker]:
        """Brokers by name."""
        return {broker.name: broker for broker in self.brokers}

    @cached_property
    def route(self) -> Mapping[str, Route]:
        """Routes by topic."""
        return {route.topic: route for route in self.routes}

    @cached_property
    def routes_of_link(self) -> Mapping[Pair, tuple[Route, ...]]:
        """For every link, as (who opens it, who accepts it), the routes that it carries."""
        carried: dict[Pair, list[Route]] = {link: [] for link in self.links}
        for route in self.routes:
            for upper, lower in route.links:
                carried[(upper, lower) if (upper, lower) in carried else (lower, upper)].append(route)
        return {link: tuple(routes) for link, routes in carried.items()}

    @cached_property
    def links_of(self) -> Mapping[str, tuple[Pair, ...]]:
        """For every broker its links, whoever opens them."""
        found: dict[str, list[Pair]] = {broker.name: [] for broker in self.brokers}
        for link in self.links:
            for name in link:
                found[name].append(link)
        return {name: tuple(links) for name, links in found.items()}


def require_accepted(target: str, brokers: Mapping[str, Broker], link: Pair, where: str) -> None:
    """An error where a link, as (who opens it, who accepts it), cannot be opened."""
    deaf = [name for name in link if not brokers[name].accepts]
    if target == "rabbitmq" and deaf:
        raise InputError(f"{where}: broker {quoted(deaf[0])} accepts no connections, which federation needs both ways")
    if len(deaf) == 2:
        first, second = sorted(link)
        raise InputError(
            f"{where}: neither {quoted(first)} nor {quoted(second)} accepts connections, but they are linked"
        )
    if link[1] in deaf:
        raise InputError(f"{where}: {quoted(link[0])} opens a link to {quoted(link[1])}, which accepts no connections")
