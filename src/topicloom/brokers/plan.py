"""Plans: a tree for each topic, and who opens each link.

What goes over the links of a topic's tree, in each direction, and where its messages come by.

A link carries, towards each of its ends, the patterns that somebody behind that end wants and somebody behind the
other end publishes; and of these only the widest. So a message takes only ways that lead to somebody who wants it.

A plan: which broker connects to which, and along which tree each topic goes.

From subscriptions, an overlay and a fleet to a plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from topicloom._version import __version__
from topicloom.brokers.fleet_file import require_distinct_addresses
from topicloom.brokers.kind import BrokerKind, Pair
from topicloom.brokers.kinds import DEFAULT, KINDS, kind_of, placed, require_filters, require_names
from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.metrics.trees import Routes, possible_routes, route, route_by_price
from topicloom.model.filters import PROTOCOLS, Protocol, match_classes
from topicloom.model.fleet import Broker, Fleet
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.rates import Rates
from topicloom.model.roles import Roles

Patterns = Mapping[str, tuple[str, ...]]

# Names by which the messages of one topic are followed. More ways for filters to overlap are not all looked at.
_MOST_NAMES = 300


@dataclass(frozen=True)
class Message:
    """A name that messages may have, the brokers where it is published, and those that want it."""

    name: str
    sources: tuple[str, ...]
    wanting: tuple[str, ...]


def directed_flows(
    links: Sequence[Pair], wants: Patterns, publishes: Patterns, protocol: Protocol | None
) -> dict[Pair, tuple[str, ...]]:
    """For every link of a tree, given as (upper, lower) from the root on, what it carries from the first to the second.

    Each link is there in both directions.
    """
    wanted, published = _below(links, wants), _below(links, publishes)
    all_wanted = Counter(pattern for patterns in wants.values() for pattern in patterns)
    all_published = Counter(pattern for patterns in publishes.values() for pattern in patterns)
    flows = {}
    for upper, lower in links:
        flows[upper, lower] = _carried(all_published - published[lower], wanted[lower], protocol)
        flows[lower, upper] = _carried(published[lower], all_wanted - wanted[lower], protocol)
    return flows


def _below(links: Sequence[Pair], patterns: Patterns) -> dict[str, Counter[str]]:
    """For every lower end the patterns of it and of all behind it."""
    below = {name: Counter(patterns.get(name, ())) for link in links for name in link}
    for upper, lower in reversed(links):
        below[upper] += below[lower]
    return below


def _carried(published: Counter[str], wanted: Counter[str], protocol: Protocol | None) -> tuple[str, ...]:
    if protocol is None:
        return tuple(sorted(published.keys() & wanted.keys()))
    needed = [pattern for pattern in wanted if any(protocol.overlap(pattern, other) for other in published)]
    return protocol.widest(needed)


def messages(wants: Patterns, publishes: Patterns, protocol: Protocol | None) -> Iterator[Message]:
    """Names that stand for all messages of a topic that somebody publishes and somebody wants."""
    patterns = sorted({pattern for side in (wants, publishes) for each in side.values() for pattern in each})
    if protocol is not None:
        patterns = [one.name for one in match_classes(protocol, patterns, _MOST_NAMES)]
    for name in patterns:
        sources, wanting = (
            tuple(broker for broker, each in side.items() if _match(each, name, protocol))
            for side in (publishes, wants)
        )
        if sources and wanting:
            yield Message(name, sources, wanting)


def _match(patterns: Sequence[str], name: str, protocol: Protocol | None) -> bool:
    return name in patterns if protocol is None else any(protocol.covers(pattern, name) for pattern in patterns)


def ways_in(
    flows: Mapping[Pair, Sequence[str]],
    neighbours: Mapping[str, Sequence[str]],
    source: str,
    name: str,
    protocol: Protocol | None,
) -> Iterator[Pair]:
    """The links that a message takes from where it is published, each as (from, to)."""
    reached = [(source, "")]
    for broker, came_from in reached:
        for other in neighbours[broker]:
            if other != came_from and _match(flows[broker, other], name, protocol):
                yield broker, other
                reached.append((other, broker))


# The target of a plan for brokers of several kinds.
MIXED = "mixed"

T = TypeVar("T")
Numbers = npt.NDArray[np.int64]


class Line(NamedTuple):
    """What a link carries of one pattern: `out` from the broker that opens it, `in` to it, or `both`.

    `local` and `remote` are put before names at the broker that opens the link, and at the other.
    """

    pattern: str
    direction: str
    qos: int
    local: str = ""
    remote: str = ""


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

    def opened_by(self, broker: str) -> tuple[Pair, ...]:
        """The links that a broker opens; none if the plan does not have it."""
        return tuple(link for link in self.links_of.get(broker, ()) if link[0] == broker)

    @cached_property
    def links_of(self) -> Mapping[str, tuple[Pair, ...]]:
        """For every broker its links, whoever opens them."""
        found: dict[str, list[Pair]] = {broker.name: [] for broker in self.brokers}
        for link in self.links:
            for name in link:
                found[name].append(link)
        return {name: tuple(links) for name, links in found.items()}


def circle_problem(brokers: Mapping[str, Broker], links: Iterable[Pair]) -> str | None:
    """Return why brokers cannot have these links, as their kind refuses cycles; None if they can."""
    above: dict[str, str] = {}
    for link in links:
        kind = kind_of(brokers[link[0]])
        if not kind.one_tree or not kind_of(brokers[link[1]]).one_tree:
            continue
        first, second = (_top(above, name) for name in link)
        if first == second:
            return (
                f"the link {quoted(link[0])} - {quoted(link[1])} closes a cycle, which {kind.title} refuses; "
                "design the links with the algorithm tree"
            )
        above[first] = second
    return None


def _top(above: Mapping[str, str], name: str) -> str:
    while name in above:
        name = above[name]
    return name


def link_problem(opener: Broker, acceptor: Broker) -> str | None:
    """Return why one broker cannot open a link to another, None if it can."""
    first, second = kind_of(opener), kind_of(acceptor)
    ends = sorted((opener, acceptor), key=lambda broker: broker.name)
    if not first.opens & second.speaks:
        if not second.opens & first.speaks:
            one, other = (f"{quoted(broker.name)} ({broker.kind})" for broker in ends)
            return f"{one} and {other} are linked, and neither can open a link to the other"
        return f"{quoted(opener.name)} ({first.name}) cannot open a link to {quoted(acceptor.name)} ({second.name})"
    deaf = [broker.name for broker in ends if not broker.accepts]
    if first.both_ends and deaf:
        return f"broker {quoted(deaf[0])} accepts no connections, which federation needs both ways"
    if len(deaf) == 2:
        return f"neither {quoted(deaf[0])} nor {quoted(deaf[1])} accepts connections, but they are linked"
    if acceptor.name in deaf:
        return f"{quoted(opener.name)} opens a link to {quoted(acceptor.name)}, which accepts no connections"
    return None


def make_plan(
    interest: Interest,
    overlay: Overlay,
    fleet: Fleet,
    *,
    target: str = DEFAULT,
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
        target: the kind of brokers of which the fleet names none; names that a topic's brokers cannot carry are errors.
            NATS takes a tree of links alone, over which topics are relayed if needed.
        prices: of links; each topic then goes along its cheapest tree instead of a shallow one, without relays.
        rates: of messages; with prices the cheapest tree is that of lowest traffic times price.
        relays: whether brokers may pass on topics that they do not want, where a topic is in pieces otherwise.
    """
    fleet.require_brokers(interest.node_names)
    brokers = {name: placed(fleet.brokers[name], target) for name in interest.node_names}
    kinds = [kind_of(broker) for broker in brokers.values()] or [KINDS.find(target)]
    one_tree = any(kind.one_tree for kind in kinds)
    if prices is not None and (relays or one_tree):
        raise InputError("trees by price take no relays; leave out the prices or the relays", "prices", "relays")
    # In a tree there is one path, whichever brokers are on it.
    relays = relays or one_tree
    if prices is None:
        trees = route(interest, overlay, relays=relays)
    else:
        trees = route_by_price(interest, overlay, prices, rates)
    _require_carried(trees, kinds)
    routes = tuple(_route(trees, fleet, topic) for topic in range(interest.topic_count))
    used = _used(trees)
    circle = circle_problem(brokers, used)
    if circle is not None:
        raise InputError(f"the overlay: {circle}")
    require_distinct_addresses(brokers.values(), fleet.where)
    for name, broker in brokers.items():
        problem = kind_of(broker).broker_problem(broker)
        if problem is not None:
            raise InputError(f"{fleet.where}: broker {quoted(name)} {problem}")
    fleet.constraints.require_kept(used, f"{fleet.where}: the overlay")
    links = tuple(_opened(brokers, link, fleet.where) for link in used)
    names = {kind.name for kind in kinds}
    return Plan(
        names.pop() if len(names) == 1 else MIXED,
        tuple(brokers.values()),
        links,
        routes,
        _made(interest, overlay, relays),
    )


def preview_plan(overlay: Overlay) -> Plan:
    """What a plan of an overlay would be, of a fleet of which nothing is known but names: to look at, not to apply.

    Relays are taken where they are needed; topics that remain in pieces have no route.
    """
    trees, pieces = possible_routes(overlay)
    unknown = Fleet({})
    routes = tuple(_route(trees, unknown, int(topic)) for topic in np.flatnonzero(pieces == 1))
    links = tuple(sorted({(min(ends), max(ends)) for one in routes for ends in one.links}))
    brokers = tuple(placed(Broker(name, name), DEFAULT) for name in overlay.interest.node_names)
    return Plan(DEFAULT, brokers, links, routes)


def _require_carried(trees: Routes, kinds: Sequence[BrokerKind]) -> None:
    """Raise InputError if a broker on the tree of a topic cannot carry it."""
    interest, roles = trees.interest, trees.interest.roles
    distinct = list(dict.fromkeys(kinds))
    for kind in distinct:
        topics: Sequence[int] = range(interest.topic_count)
        if len(distinct) > 1:
            own = np.array([one is kind for one in kinds])
            rows = np.repeat(np.arange(interest.topic_count), np.diff(trees.start))
            topics = np.unique(
                np.concatenate([rows[own[trees.upper] | own[trees.lower]], np.flatnonzero(own[trees.root])])
            )
        names = [interest.topic_names[topic] for topic in topics]
        if roles is None or roles.protocol is None:
            require_names([kind], names)
        else:
            patterns = {
                pattern
                for topic in topics
                for side in roles.of(int(topic))
                for each in side.values()
                for pattern in each
            }
            require_filters([kind], roles.protocol, names, sorted(patterns) if len(distinct) > 1 else roles.patterns)


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


def _opened(brokers: Mapping[str, Broker], link: Pair, where: str) -> Pair:
    """The link with the broker first that opens it: the first by name, unless only the other can."""
    problems = {pair: link_problem(*(brokers[name] for name in pair)) for pair in (link, link[::-1])}
    for pair, problem in problems.items():
        if problem is None:
            return pair
    first, second = (kind_of(brokers[name]) for name in link)
    raise InputError(f"{where}: {problems[link if first.opens & second.speaks else link[::-1]]}")


def _made(interest: Interest, overlay: Overlay, relays: bool) -> Mapping[str, Any]:
    made: dict[str, Any] = {"version": __version__, "subscriptions": interest.fingerprint, "relays": relays}
    if overlay.provenance is not None:
        made |= {"designer": overlay.provenance.algorithm, "parameters": dict(overlay.provenance.parameters)}
        made["seed"] = overlay.provenance.seed
    return MappingProxyType(made)
