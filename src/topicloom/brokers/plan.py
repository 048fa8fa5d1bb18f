"""Plans: a tree for each topic, and the broker that opens each link.

A plan is on the ids of its trees, in the order of names. Names are views of it, made when they are asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from topicloom._version import __version__
from topicloom.brokers.fingerprints import Hashes
from topicloom.brokers.fleet_file import require_distinct_addresses
from topicloom.brokers.flows import Message, Patterns, directed_flows, messages, ways_in
from topicloom.brokers.kind import BrokerKind, Pair
from topicloom.brokers.kinds import DEFAULT, KINDS, kind_of, placed, require_filters, require_names
from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.metrics.trees import Trees, possible_trees, route, route_by_price
from topicloom.model.filters import PROTOCOLS, Protocol, protocol_of
from topicloom.model.fleet import Broker, Fleet
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.rates import Rates

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


def text_id(text: bytes) -> str:
    """Identify a plan by its text."""
    return hashlib.sha256(text).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that configurations are made from, credentials only by reference.

    Args:
        brokers: one for each node of the trees, in their order; with kind and port.
        trees: of all topics; their interest says who wants and publishes what.
        opener, acceptor: the links by the ids of the brokers that open and accept them, in the order of
            (lower id, higher id).
        qos: of each topic.
        made: where the plan comes from.
    """

    brokers: tuple[Broker, ...]
    trees: Trees
    opener: Ids
    acceptor: Ids
    qos: npt.NDArray[np.uint8]
    made: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __eq__(self, other: object) -> bool:
        """Compare what the files of plans say."""
        return self.text == other.text if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def text(self) -> str:
        """The plan as its file holds it."""
        from topicloom.brokers.plan_file import plan_text

        return plan_text(self)

    @cached_property
    def id(self) -> str:
        """The same for the same plan: 16 hexadecimal digits of the hash of its text."""
        return text_id(self.text.encode())

    @cached_property
    def target(self) -> str:
        """The kind of all brokers, `mixed` if they have several; the default without brokers."""
        names = {kind_of(broker).name for broker in self.brokers} or {DEFAULT}
        return names.pop() if len(names) == 1 else MIXED

    @cached_property
    def kinds(self) -> tuple[BrokerKind, ...]:
        """The kind of each broker."""
        return tuple(map(kind_of, self.brokers))

    def where(self, flag: str) -> npt.NDArray[np.bool_]:
        """For each broker a flag of its kind, such as `one_tree`."""
        return np.fromiter((getattr(kind, flag) for kind in self.kinds), np.bool_, len(self.kinds))

    # Arrays: rows are those of the trees, a link of a topic each, by topic.

    @property
    def interest(self) -> Interest:
        """Who wants and publishes what."""
        return self.trees.interest

    @cached_property
    def topic_of_row(self) -> Numbers:
        """The topic of each row."""
        return np.repeat(np.arange(self.interest.topic_count), np.diff(self.trees.start))

    @cached_property
    def link_of_row(self) -> Numbers:
        """The number of the link of each row."""
        count = len(self.brokers)
        return np.searchsorted(
            pair_keys(self.opener, self.acceptor, count), pair_keys(self.trees.upper, self.trees.lower, count)
        )

    @cached_property
    def rows_of_links(self) -> tuple[Numbers, Numbers]:
        """Rows by link and then topic: where those of each link begin, and the rows."""
        order = np.argsort(self.link_of_row, kind="stable")
        return np.searchsorted(self.link_of_row[order], np.arange(len(self.opener) + 1)), order

    @cached_property
    def member_rows(self) -> tuple[Numbers, Numbers]:
        """The brokers on the tree of each topic: a row each of topic and broker."""
        topics = np.concatenate([np.arange(self.interest.topic_count), self.topic_of_row])
        return topics, np.concatenate([self.trees.root, self.trees.lower]).astype(np.int64)

    @cached_property
    def highest_qos(self) -> npt.NDArray[np.int64]:
        """For each broker the highest quality of service of topics on whose trees it is; -1 without any."""
        found = np.full(len(self.brokers), -1)
        topics, brokers = self.member_rows
        np.maximum.at(found, brokers, self.qos[topics])
        return found

    @cached_property
    def fingerprints(self) -> Hashes:
        """A hash of the configuration of each broker, 0 for one that says nothing."""
        found = np.zeros(len(self.brokers), np.uint64)
        for kind in dict.fromkeys(self.kinds):
            own = np.fromiter((one is kind for one in self.kinds), np.bool_, len(self.kinds))
            found[own] = kind.fingerprints(self)[own]
        return found

    @cached_property
    def diameters(self) -> Numbers:
        """The most links between two brokers of each topic's tree."""
        found = np.zeros(self.interest.topic_count, np.int64)
        upper, lower = self.trees.upper.tolist(), self.trees.lower.tolist()
        for topic, (begin, end) in enumerate(pairwise(self.trees.start.tolist())):
            reach: dict[int, int] = {}
            longest = 0
            for row in range(end - 1, begin - 1, -1):
                above, below = reach.get(upper[row], 0), reach.get(lower[row], 0) + 1
                longest = max(longest, above + below)
                reach[upper[row]] = max(above, below)
            found[topic] = longest
        return found

    def only(self, topics: Iterable[str]) -> Plan:
        """Return the plan with some of its topics, and all of its links."""
        ids = self.interest.topic_ids
        chosen = np.array(sorted(ids[topic] for topic in topics), np.int64)
        return replace(self, trees=self.trees.only(chosen), qos=self.qos[chosen])

    def unlinked(self, brokers: Collection[str]) -> Plan:
        """Return the plan without the links of some brokers; the others carry what they carry here."""
        away = np.fromiter((name in brokers for name in self.interest.node_names), np.bool_, len(self.brokers))
        stay = ~(away[self.opener] | away[self.acceptor])
        rows, trees = stay[self.link_of_row], self.trees
        start = np.append(0, np.cumsum(rows))[trees.start]
        cut = replace(trees, start=start, upper=trees.upper[rows], lower=trees.lower[rows])
        part = replace(self, trees=cut, opener=self.opener[stay], acceptor=self.acceptor[stay])
        # A cut tree does not tell what its links carried.
        vars(part)["lines_of_link"] = {link: self.lines_of_link[link] for link in part.links}
        return part

    @cached_property
    def bare(self) -> Plan:
        """The plan with its brokers alone, without links and topics."""
        return replace(self.only(()), opener=self.opener[:0], acceptor=self.acceptor[:0])

    # Views by name.

    @cached_property
    def broker(self) -> Mapping[str, Broker]:
        """Brokers by name."""
        return {broker.name: broker for broker in self.brokers}

    @cached_property
    def links(self) -> tuple[Pair, ...]:
        """Links as (who opens it, who accepts it), in the order of their ends' names."""
        names = self.interest.node_names
        return tuple(zip(_taken(names, self.opener.tolist()), _taken(names, self.acceptor.tolist()), strict=True))

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The routes of all topics, in the order of these."""
        return tuple(self._route(topic) for topic in range(self.interest.topic_count))

    @cached_property
    def route(self) -> Mapping[str, Route]:
        """Routes by topic."""
        return {route.topic: route for route in self.routes}

    def _route(self, topic: int) -> Route:
        interest, trees = self.interest, self.trees
        names, name = interest.node_names, interest.topic_names[topic]
        members = interest.nodes_of(topic).tolist()
        upper, lower = trees.links_of(topic).T.tolist()
        # A tree with one link fewer than members has no others.
        relays = sorted({*upper, *lower}.difference(members)) if len(upper) >= len(members) else []
        route = Route(
            topic=name,
            qos=int(self.qos[topic]),
            root=names[trees.root[topic]],
            subscribers=_taken(names, members),
            relays=_taken(names, relays),
            links=tuple(zip(_taken(names, upper), _taken(names, lower), strict=True)),
        )
        roles = interest.roles
        if roles is None:
            return route
        wants, publishes = ({names[node]: each for node, each in side.items()} for side in roles.of(topic))
        patterns = {pattern for side in (wants, publishes) for each in side.values() for pattern in each}
        plain = wants == publishes and patterns == {name} and roles.protocol is None
        return replace(
            route,
            subscribers=tuple(sorted(wants)),
            wants=None if plain else wants,
            publishes=None if plain else publishes,
            filters=interest.filters,
        )

    @cached_property
    def carries_topics(self) -> bool:
        """Whether every link carries just the topics of its trees, in both directions."""
        return self.interest.roles is None or all(route.is_whole for route in self.routes)

    @cached_property
    def widest_patterns(self) -> Mapping[str, tuple[str, ...]]:
        """The filters of each topic, but those that others cover."""
        assert self.interest.filters is not None
        protocol = protocol_of(self.interest.filters)
        return {
            route.topic: protocol.widest(
                sorted({name for side in route.sides for names in side.values() for name in names})
            )
            for route in self.routes
        }

    @cached_property
    def routes_of_link(self) -> Mapping[Pair, tuple[Route, ...]]:
        """For every link, as (who opens it, who accepts it), the routes that it carries."""
        return self._by_link(self.routes)

    @cached_property
    def lines_of_link(self) -> Mapping[Pair, tuple[Line, ...]]:
        """For every link, as (who opens it, who accepts it), what it carries, in the order of the patterns."""
        if self.carries_topics:
            topics = zip(self.interest.topic_names, self.qos.tolist(), strict=True)
            return self._by_link([Line(topic, "both", qos) for topic, qos in topics])
        return {
            link: tuple(sorted(chain.from_iterable(route.lines_over(link) for route in routes)))
            for link, routes in self.routes_of_link.items()
        }

    @cached_property
    def patterns_of_link(self) -> Mapping[Pair, tuple[str, ...]]:
        """For every link, as (who opens it, who accepts it), the patterns that it carries, in order."""
        if self.carries_topics:
            return self._by_link(self.interest.topic_names)
        return {
            link: tuple(dict.fromkeys(line.pattern for line in lines)) for link, lines in self.lines_of_link.items()
        }

    def _by_link(self, of_topics: Sequence[T]) -> dict[Pair, tuple[T, ...]]:
        """For every link that of its topics, in their order."""
        start, rows = self.rows_of_links
        listed = list(map(of_topics.__getitem__, self.topic_of_row[rows].tolist()))
        return {
            link: tuple(listed[slice(*own)]) for link, own in zip(self.links, pairwise(start.tolist()), strict=True)
        }

    @cached_property
    def links_of(self) -> Mapping[str, tuple[Pair, ...]]:
        """For every broker its links, whichever end opens them."""
        found: dict[str, list[Pair]] = {broker.name: [] for broker in self.brokers}
        for link in self.links:
            for name in link:
                found[name].append(link)
        return {name: tuple(links) for name, links in found.items()}

    def opened_by(self, broker: str) -> tuple[Pair, ...]:
        """The links that a broker opens; none if the plan does not have it."""
        return tuple(link for link in self.links_of.get(broker, ()) if link[0] == broker)


def empty_plan(*brokers: Broker) -> Plan:
    """Return a plan of brokers without topics and links."""
    none = np.empty(0, np.int32)
    interest = Interest.from_ids(tuple(broker.name for broker in brokers), (), none, none)
    return Plan(brokers, Trees(interest, np.zeros(1, np.int64), none, none, none), none, none, np.empty(0, np.uint8))


def pair_keys(first: Ids, second: Ids, count: int) -> Numbers:
    """A number for each pair of ids below `count`, whichever comes first; in the order of (lower, higher)."""
    keys: Numbers = np.minimum(first, second).astype(np.int64) * count + np.maximum(first, second)
    return keys


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
    ends, names = _linked(trees), interest.node_names
    used = list(zip(*(_taken(names, side.tolist()) for side in ends), strict=True))
    circle = circle_problem(brokers, used) if one_tree else None
    if circle is not None:
        raise InputError(f"the overlay: {circle}")
    require_distinct_addresses(brokers.values(), fleet.where)
    for name, broker in brokers.items():
        problem = kind_of(broker).broker_problem(broker)
        if problem is not None:
            raise InputError(f"{fleet.where}: broker {quoted(name)} {problem}")
    fleet.constraints.require_kept(used, f"{fleet.where}: the overlay")
    listed = tuple(brokers.values())
    opener, acceptor = _opened(*ends, listed, fleet.where)
    return Plan(listed, trees, opener, acceptor, _qos(interest, fleet), _made(interest, overlay, relays))


def preview_plan(overlay: Overlay) -> Plan:
    """What a plan of an overlay would be, of a fleet of which only names are known: to look at, not to apply.

    Relays are taken if they are needed; topics that remain in components have no route.
    """
    trees, pieces = possible_trees(overlay)
    trees = trees.only(np.flatnonzero(pieces == 1))
    brokers = tuple(placed(Broker(name, name), DEFAULT) for name in overlay.interest.node_names)
    opener, acceptor = _opened(*_linked(trees), brokers, "fleet")
    return Plan(brokers, trees, opener, acceptor, _qos(trees.interest, Fleet({})))


def _qos(interest: Interest, fleet: Fleet) -> npt.NDArray[np.uint8]:
    """The quality of service of each topic: the highest that the fleet asks for one of its patterns."""
    qos = np.full(interest.topic_count, fleet.qos, np.uint8)
    if not fleet.topic_qos:
        return qos
    for topic, name in enumerate(interest.topic_names):
        names = {name}
        if interest.roles is not None:
            names |= {each for side in interest.roles.of(topic) for patterns in side.values() for each in patterns}
        asked = [fleet.topic_qos[each] for each in names & fleet.topic_qos.keys()]
        qos[topic] = max(asked, default=fleet.qos)
    return qos


def _require_carried(trees: Trees, kinds: Sequence[BrokerKind]) -> None:
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


def _linked(trees: Trees) -> tuple[Ids, Ids]:
    """The links that the trees take, lower and higher ids; in their order."""
    count = max(1, trees.interest.node_count)
    low, high = np.divmod(np.unique(pair_keys(trees.upper, trees.lower, count)), count)
    return low.astype(np.int32), high.astype(np.int32)


def _opened(low: Ids, high: Ids, brokers: Sequence[Broker], where: str) -> tuple[Ids, Ids]:
    """The brokers that open and accept each link: the first by name opens it, unless only the other can."""
    first, second = low.copy(), high.copy()
    for link in links_in_doubt(brokers, first, second):
        pair = brokers[first[link]], brokers[second[link]]
        problem, other = link_problem(*pair), link_problem(*pair[::-1])
        if problem is None:
            continue
        if other is not None:
            raise InputError(f"{where}: {problem if kind_of(pair[0]).opens & kind_of(pair[1]).speaks else other}")
        first[link], second[link] = second[link], first[link]
    _open_upwards(first, second, brokers)
    return first, second


def _open_upwards(first: Ids, second: Ids, brokers: Sequence[Broker]) -> None:
    """Let brokers of kinds that `opens_one` open one link each, towards the last of their tree by name that accepts."""
    ones = [kind_of(broker).opens_one for broker in brokers]
    links: dict[int, list[int]] = {}
    for link, ends in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if ones[ends[0]] and ones[ends[1]]:
            for node in ends:
                links.setdefault(node, []).append(link)
    seen: set[int] = set()
    for root in sorted(links, key=lambda node: (brokers[node].accepts, node), reverse=True):
        if root in seen:
            continue
        seen.add(root)
        for node in (queue := [root]):
            for link in links[node]:
                below = int(first[link] + second[link]) - node
                if below not in seen:
                    seen.add(below)
                    queue.append(below)
                    if brokers[node].accepts:
                        first[link], second[link] = below, node


def links_in_doubt(brokers: Sequence[Broker], first: Ids, second: Ids) -> list[int]:
    """Which links may have a problem: all but those of brokers of one kind that open and accept links."""
    kinds = {kind_of(broker) for broker in brokers}
    one = len(kinds) == 1 and all(kind.opens & kind.speaks for kind in kinds)
    accept = np.fromiter((one and broker.accepts for broker in brokers), np.bool_, len(brokers))
    doubtful: list[int] = np.flatnonzero(~(accept[first] & accept[second])).tolist()
    return doubtful


def _taken(names: tuple[str, ...], ids: list[int]) -> tuple[str, ...]:
    return tuple(map(names.__getitem__, ids))


def _made(interest: Interest, overlay: Overlay, relays: bool) -> Mapping[str, Any]:
    made: dict[str, Any] = {"version": __version__, "subscriptions": interest.fingerprint, "relays": relays}
    if overlay.provenance is not None:
        made |= {"designer": overlay.provenance.algorithm, "parameters": dict(overlay.provenance.parameters)}
        made["seed"] = overlay.provenance.seed
    return MappingProxyType(made)
