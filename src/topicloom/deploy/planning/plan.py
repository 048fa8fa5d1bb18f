"""A plan: which broker connects to which, and along which tree each topic goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from topicloom.deploy.planning.broker_names import quoted
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.flows import Message, Pair, Patterns, directed_flows, messages, ways_in
from topicloom.errors import InputError
from topicloom.model.filters import PROTOCOLS, Protocol

TARGETS = ("mosquitto", "rabbitmq", "nats")

T = TypeVar("T")
Numbers = npt.NDArray[np.int64]


class Line(NamedTuple):
    """What a link carries of one pattern: `out` from who opens it, `in` to it, or `both`."""

    pattern: str
    direction: str
    qos: int


@dataclass(frozen=True)
class Route:
    """The tree of one topic: links as (upper broker, lower broker), those nearer the root first.

    It holds the topic's subscribers and publishers and its relays, which pass it on without either, and nobody else.
    Where brokers differ in what they want and publish of it, `wants` and `publishes` say so, by patterns of the
    protocol `filters` where it has wildcards; else all subscribers want and publish the topic itself.
    """

    topic: str
    qos: int
    root: str
    subscribers: tuple[str, ...]
    relays: tuple[str, ...]
    links: tuple[Pair, ...]
    wants: Patterns | None = None
    publishes: Patterns | None = None
    filters: str | None = None

    @cached_property
    def publishers(self) -> tuple[str, ...]:
        """The brokers where it is published, in the order of their names."""
        return self.subscribers if self.publishes is None else tuple(sorted(self.publishes))

    @cached_property
    def members(self) -> tuple[str, ...]:
        """All brokers of the tree."""
        return tuple(dict.fromkeys((*self.subscribers, *self.publishers, *self.relays)))

    @property
    def protocol(self) -> Protocol | None:
        """How its patterns are written, where they may have wildcards."""
        return None if self.filters is None else PROTOCOLS[self.filters]

    @property
    def sides(self) -> tuple[Patterns, Patterns]:
        """What each broker wants, and what it publishes."""
        itself = (self.topic,)
        wants = dict.fromkeys(self.subscribers, itself) if self.wants is None else self.wants
        return wants, dict.fromkeys(self.publishers, itself) if self.publishes is None else self.publishes

    @cached_property
    def flows(self) -> Mapping[Pair, tuple[str, ...]]:
        """The patterns that each link carries from its first broker to its second; every link is there both ways."""
        if self.is_whole:
            return {pair: (self.topic,) for link in self.links for pair in (link, link[::-1])}
        return directed_flows(self.links, *self.sides, self.protocol)

    @property
    def is_whole(self) -> bool:
        """Whether all its brokers want and publish the topic itself."""
        return self.wants is None and self.publishes is None

    def lines_over(self, link: Pair) -> Iterable[Line]:
        """What one of its links, as (who opens it, who accepts it), carries."""
        out, back = set(self.flows[link]), set(self.flows[link[::-1]])
        return (
            Line(pattern, "both" if pattern in out & back else "out" if pattern in out else "in", self.qos)
            for pattern in out | back
        )

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Names that stand for all its messages, with where each is published and wanted."""
        return tuple(messages(*self.sides, self.protocol))

    def ways_in(self, source: str, name: str) -> list[Pair]:
        """The links that a message takes from where it is published, each as (from, to)."""
        return list(ways_in(self.flows, self.neighbours, source, name, self.protocol))

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """For every broker of the tree those beside it."""
        beside: dict[str, list[str]] = {name: [] for name in self.members}
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
    def carried(self) -> tuple[Numbers, Numbers]:
        """A row for every link of every route, by link and then route: the number of the link, and of the route."""
        number = {way: at for at, link in enumerate(self.links) for way in (link, link[::-1])}
        ways = chain.from_iterable(route.links for route in self.routes)
        links = np.fromiter(map(number.__getitem__, ways), np.int64)
        routes = np.repeat(np.arange(len(self.routes)), [len(route.links) for route in self.routes])
        links, routes = np.divmod(np.sort(links * len(self.routes) + routes), max(1, len(self.routes)))
        return links, routes

    @cached_property
    def routes_of_link(self) -> Mapping[Pair, tuple[Route, ...]]:
        """For every link, as (who opens it, who accepts it), the routes that it carries."""
        return self._by_link(self.routes)

    @cached_property
    def lines_of_link(self) -> Mapping[Pair, tuple[Line, ...]]:
        """For every link, as (who opens it, who accepts it), what it carries, in the order of the patterns."""
        if self._carries_topics:
            return self._by_link([Line(route.topic, "both", route.qos) for route in self.routes])
        return {
            link: tuple(sorted(chain.from_iterable(route.lines_over(link) for route in routes)))
            for link, routes in self.routes_of_link.items()
        }

    @cached_property
    def patterns_of_link(self) -> Mapping[Pair, tuple[str, ...]]:
        """For every link, as (who opens it, who accepts it), the patterns that it carries, in order."""
        if self._carries_topics:
            return self._by_link([route.topic for route in self.routes])
        return {
            link: tuple(dict.fromkeys(line.pattern for line in lines)) for link, lines in self.lines_of_link.items()
        }

    @cached_property
    def _carries_topics(self) -> bool:
        """Whether every link carries just the topics of its routes, which come in order."""
        return all(route.is_whole for route in self.routes) and all(a.topic < b.topic for a, b in pairwise(self.routes))

    def _by_link(self, of_routes: Sequence[T]) -> dict[Pair, tuple[T, ...]]:
        """For every link that of its routes, in their order."""
        links, routes = self.carried
        begins = np.searchsorted(links, np.arange(len(self.links) + 1)).tolist()
        listed = list(map(of_routes.__getitem__, routes.tolist()))
        return {link: tuple(listed[slice(*own)]) for link, own in zip(self.links, pairwise(begins), strict=True)}

    @cached_property
    def links_of(self) -> Mapping[str, tuple[Pair, ...]]:
        """For every broker its links, whoever opens them."""
        found: dict[str, list[Pair]] = {broker.name: [] for broker in self.brokers}
        for link in self.links:
            for name in link:
                found[name].append(link)
        return {name: tuple(links) for name, links in found.items()}


def circle_problem(target: str, links: Iterable[Pair]) -> str | None:
    """Why a target cannot have these links, where it refuses circles; None where it can."""
    if target != "nats":
        return None
    above: dict[str, str] = {}
    for link in links:
        first, second = (_top(above, name) for name in link)
        if first == second:
            return (
                f"the link {quoted(link[0])} - {quoted(link[1])} closes a circle, which NATS refuses; "
                "design the links with the algorithm tree"
            )
        above[first] = second
    return None


def _top(above: Mapping[str, str], name: str) -> str:
    while name in above:
        name = above[name]
    return name


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
