"""Steps from one plan to another, in a safe order.

Topics of two plans that have messages in common.

Filters that overlap are one topic, so a filter that comes or goes can make one topic of several, split one, or give it
another name. Messages then go along trees of topics with other names, and a change must take care of all of these
together.

The ways of topics in two plans beside each other: which links each topic leaves, keeps and takes up.

All topics are gone through together, on numbers: a row for every link of every topic.

The order in which brokers get the files of a new plan, and which topics are interrupted on the way.

While brokers get their files no topic has a circle, so how many links it has tells most of what is asked.

What changes between two plans, and in which order to apply it.

A broker's file takes effect as a whole, one broker after the other. In between, some topics have links of both plans:
with too few of them a topic is interrupted, with too many it goes in circles. A circle floods brokers, so links are
taken away before others take their place; a topic is then interrupted for as long as that takes, unless one broker
owns both changes. Where brokers wait for each other, one of them first goes without its links. Topics of both plans
that have messages in common, as filters that overlap were merged or split, are ordered together.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import networkx
import numpy as np
import numpy.typing as npt

from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Numbers, Plan, Route
from topicloom.errors import InputError
from topicloom.model.filters import FilterIndex


def topic_families(old: Plan, new: Plan) -> Mapping[str, str]:
    """For each topic of two plans the family that it belongs to, called by the first of its topics.

    Topics are of one family where something that one of them carries could be carried by the other; each topic is a
    family of its own where topics are no filters.
    """
    first = {topic: topic for topic in sorted(old.route.keys() | new.route.keys())}
    protocol = next((route.protocol for plan in (old, new) for route in plan.routes if route.protocol), None)
    if protocol is None:
        return first
    names, topics = _patterns((*old.routes, *new.routes))
    index = FilterIndex(protocol, names)
    for name, topic in zip(names, topics, strict=True):
        for other in index.overlapping(name):
            one, two = sorted((_first(first, topic), _first(first, topics[other])))
            first[two] = one
    return {topic: _first(first, topic) for topic in first}


def _patterns(routes: Iterable[Route]) -> tuple[list[str], list[str]]:
    """All patterns, and the topic of each."""
    found = {
        (pattern, route.topic)
        for route in routes
        for side in route.sides
        for patterns in side.values()
        for pattern in patterns
    }
    ordered = sorted(found)
    return [pattern for pattern, _ in ordered], [topic for _, topic in ordered]


def _first(first: Mapping[str, str], topic: str) -> str:
    while first[topic] != topic:
        topic = first[topic]
    return topic


@dataclass(frozen=True, eq=False)
class WayRows:
    """Which link of which topic: a row each, by topic and then link."""

    topic: Numbers
    link: Numbers

    def by_topic(self, topics: int) -> list[Numbers]:
        """The links of each of so many topics."""
        begins = np.searchsorted(self.topic, np.arange(topics + 1)).tolist()
        return [self.link[begin:end] for begin, end in pairwise(begins)]

    def counts(self, topics: int) -> Numbers:
        """How many rows each of so many topics has."""
        return np.bincount(self.topic, minlength=topics).astype(np.int64)

    def of(self, topic: int) -> slice:
        """The rows of a topic."""
        return slice(*np.searchsorted(self.topic, (topic, topic + 1)))


@dataclass(frozen=True, eq=False)
class TopicWays:
    """The links that topics leave, keep and take up between two plans, as numbers into sorted lists.

    A link is known by its ends and by the brokers whose files make it, which are numbers into `brokers`; both columns
    of `owners` are the same where one broker makes it.
    """

    topics: Sequence[str]
    brokers: Sequence[str]
    ends: Sequence[Pair]
    owners: Numbers
    left: WayRows
    kept: WayRows
    taken: WayRows

    @property
    def sides(self) -> tuple[WayRows, WayRows, WayRows]:
        """All links of all topics."""
        return self.left, self.kept, self.taken

    @property
    def counts(self) -> Numbers:
        """How many links each topic has in both plans together."""
        left, kept, taken = (rows.counts(len(self.topics)) for rows in self.sides)
        return left + kept + taken


def ways_of_topics(old: Plan, new: Plan) -> TopicWays:
    """The ways of all topics of two plans."""
    topics = sorted(old.route.keys() | new.route.keys())
    made = sorted({one for plan in (old, new) for one in _made(plan)})
    brokers = sorted({name for _, owners in made for name in owners})
    number = {name: i for i, name in enumerate(brokers)}
    had, has = (_keys(plan, topics, made) for plan in (old, new))
    place = np.searchsorted(has, had)
    stays = np.append(has, -1)[place] == had
    rows = (had[~stays], had[stays], np.delete(has, place[stays]))
    owners = np.array([[number[name] for name in owners] for _, owners in made], np.int64).reshape(-1, 2)
    return TopicWays(
        topics,
        brokers,
        [ends for ends, _ in made],
        owners,
        *(WayRows(*np.divmod(keys, max(1, len(made)))) for keys in rows),
    )


def owners_of(plan: Plan, link: Pair) -> Pair:
    """The brokers whose files make a link of a plan.

    Both ends for federation, which pulls from either side, otherwise twice the one that opens the link.
    """
    return (min(link), max(link)) if kind_of(plan.broker[link[0]]).both_ends else (link[0], link[0])


def _made(plan: Plan) -> list[tuple[Pair, Pair]]:
    """The ends and the owners of each link of a plan."""
    return [((min(link), max(link)), owners_of(plan, link)) for link in plan.links]


def _keys(plan: Plan, topics: Sequence[str], made: Sequence[tuple[Pair, Pair]]) -> Numbers:
    """A number for every link of every topic; rising."""
    place = {one: i for i, one in enumerate(made)}
    number = {topic: i for i, topic in enumerate(topics)}
    links, routes = plan.carried
    of_route = np.array([number[route.topic] for route in plan.routes], np.int64)
    of_link = np.array([place[one] for one in _made(plan)], np.int64)
    return np.sort(of_route[routes] * len(made) + of_link[links])


# The time of a step that never comes.
_NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Step:
    """A broker to put its new file on, or, with `clear`, to take its old file from for the time being."""

    broker: str
    clear: bool = False


@dataclass(frozen=True)
class Family:
    """Topics whose links are changed together: who takes some away, and who adds some only then."""

    topics: frozenset[str]
    removing: frozenset[str]
    adding: frozenset[str]


def steps_between(
    ways: TopicWays, families: Sequence[Family], changed: Collection[str], had: Collection[str]
) -> tuple[Step, ...]:
    """Who takes links of a topic, or a family of topics, away goes before who adds some to it.

    Steps are for the brokers whose files have changed; those that had a file may have to go without it for a while.
    """
    named = {name for family in families for name in family.removing | family.adding}
    names = sorted({*ways.brokers, *changed, *named})
    number = {name: i for i, name in enumerate(names)}
    owners = np.array([number[name] for name in ways.brokers], np.int64)[ways.owners]
    alone = ~np.isin(ways.topics, [topic for family in families for topic in family.topics])
    removing = _waits(ways.left, alone, owners, [[number[name] for name in family.removing] for family in families])
    adding = _waits(ways.taken, alone, owners, [[number[name] for name in family.adding] for family in families])
    # By way of the topic, as thousands of brokers may wait for thousands of others.
    before = np.concatenate([removing[1], adding[0] + len(names)])
    after = np.concatenate([removing[0] + len(names), adding[1]])
    knots = np.array(_knots(_successors(before, after, len(names) + len(ways.topics) + len(families))), np.int64)
    brokers: dict[int, list[str]] = {}
    for broker in sorted({*(number[name] for name in changed), *removing[1].tolist(), *adding[1].tolist()}):
        brokers.setdefault(int(knots[broker]), []).append(names[broker])
    steps: list[Step] = []
    for knot in _sorted_knots(knots[before], knots[after], len(knots), brokers):
        # All of a knot but the last go without their links until each of them has let go of what the others take.
        waiting, last = brokers[knot][:-1], brokers[knot][-1:]
        steps += [Step(name, clear=True) for name in waiting if name in had]
        steps += [Step(name) for name in (*last, *waiting)]
    return tuple(steps)


def _waits(
    rows: WayRows, alone: npt.NDArray[np.bool_], owners: Numbers, of_families: Sequence[Sequence[int]]
) -> tuple[Numbers, Numbers]:
    """Topics that are alone, and families, numbered after all topics, each with the brokers that change its links."""
    chosen = alone[rows.topic]
    topic, broker = np.repeat(rows.topic[chosen], 2), owners[rows.link[chosen]].ravel()
    family = np.repeat(np.arange(len(of_families)) + len(alone), [len(brokers) for brokers in of_families])
    listed = np.array([one for brokers in of_families for one in brokers], np.int64)
    pairs = np.concatenate([topic, family]), np.concatenate([broker, listed])
    count = int(pairs[1].max(initial=0)) + 1
    topic, broker = np.divmod(np.unique(pairs[0] * count + pairs[1]), count)
    return topic, broker


def _successors(before: Numbers, after: Numbers, count: int) -> list[list[int]]:
    order = np.argsort(before, kind="stable")
    begins = np.searchsorted(before[order], np.arange(count + 1)).tolist()
    listed = after[order].tolist()
    return [listed[begin:end] for begin, end in pairwise(begins)]


def _knots(successors: Sequence[Sequence[int]]) -> list[int]:
    """Number the strongly connected components, and give that of each node: Tarjan's algorithm, without recursion."""
    found = [0] * len(successors)
    low = [0] * len(successors)
    knot = [-1] * len(successors)
    open_nodes: list[int] = []
    count = knots = 0
    for start in range(len(successors)):
        if found[start]:
            continue
        path = [(start, iter(successors[start]))]
        count += 1
        found[start] = low[start] = count
        open_nodes.append(start)
        while path:
            node, others = path[-1]
            for other in others:
                if not found[other]:
                    count += 1
                    found[other] = low[other] = count
                    open_nodes.append(other)
                    path.append((other, iter(successors[other])))
                    break
                if knot[other] < 0 and found[other] < low[node]:
                    low[node] = found[other]
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == found[node]:
                    while knot[node] < 0:
                        knot[open_nodes.pop()] = knots
                    knots += 1
    return knot


def _sorted_knots(before: Numbers, after: Numbers, count: int, names: Mapping[int, list[str]]) -> Iterator[int]:
    """The knots that have names, each after those that it waits for, and otherwise by their first name."""
    keys = np.unique((before * count + after)[before != after])
    before, after = np.divmod(keys, max(1, count))
    successors = _successors(before, after, count)
    waits = np.bincount(after, minlength=count).tolist()
    ready = [(names[knot][:1] if knot in names else [], knot) for knot in range(count) if not waits[knot]]
    heapify(ready)
    while ready:
        _, knot = heappop(ready)
        if knot in names:
            yield knot
        for other in successors[knot]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (names[other][:1] if other in names else [], other))


@dataclass(frozen=True, eq=False)
class _Gaps:
    """When links of topics are away: from the step that takes them until the one that brings them; by topic."""

    rows: WayRows
    begin: Numbers
    end: Numbers


def interrupted_topics(old: Plan, new: Plan, ways: TopicWays, steps: Sequence[Step]) -> Iterator[str]:
    """The topics that do not reach all who stay subscribed, somewhere between the first step and the last."""
    gaps = _gaps(ways, steps)
    for number, fewest in zip(*_fewest_links(ways, gaps), strict=True):
        topic = ways.topics[number]
        before, after = old.route.get(topic), new.route.get(topic)
        if before is None or after is None:
            continue
        stay = set(before.subscribers).intersection(after.subscribers)
        if fewest < len(stay) - 1:
            yield topic
        elif len(stay) > 1 and not (_is_plain(before, after) and stay.issuperset(before.members + after.members)):
            # Links between others are among those that were counted.
            ends = {link: ways.ends[link] for rows in ways.sides for link in rows.link[rows.of(number)].tolist()}
            if any(not _connects(links, stay) for links in _states(ends, gaps, gaps.rows.of(number))):
                yield topic


def _is_plain(before: Route, after: Route) -> bool:
    """Whether a topic is ordered for itself; filters are, together with others, by what links carry."""
    return before.filters is None and after.filters is None


def _fewest_links(ways: TopicWays, gaps: _Gaps) -> tuple[list[int], list[int]]:
    """The topics that lose links on the way, and the fewest that each of them has."""
    topic = np.tile(gaps.rows.topic, 2)
    time = np.concatenate([gaps.begin, gaps.end])
    change = np.repeat([-1, 1], len(gaps.begin))
    happens = (time >= 0) & (time < _NEVER)
    topic, time, change = topic[happens], time[happens], change[happens]
    # By one number, as sorting by two takes three times as long.
    order = np.argsort(topic * (int(time.max(initial=0)) + 1) + time)
    topic, time, change = topic[order], time[order], change[order]
    if not len(topic):
        return [], []
    last_of_step = np.append((np.diff(topic) != 0) | (np.diff(time) != 0), True)
    after = np.cumsum(change)
    first_of_topic = np.flatnonzero(np.append(True, np.diff(topic) != 0))
    before = after[first_of_topic] - change[first_of_topic]
    # In the middle of a step a link may be gone for which another comes.
    after[~last_of_step] = _NEVER
    lost = np.minimum.reduceat(after, first_of_topic) - before
    had = ways.left.counts(len(ways.topics)) + ways.kept.counts(len(ways.topics))
    topics = topic[first_of_topic]
    return topics.tolist(), (had[topics] + lost).tolist()


def _states(ends: Mapping[int, Pair], gaps: _Gaps, own: slice) -> Iterator[list[Pair]]:
    """The links of a topic after each step that takes some away."""
    link, begin, end = gaps.rows.link[own], gaps.begin[own], gaps.end[own]
    for time in np.unique(begin[begin >= 0]):
        away = set(link[(begin <= time) & (time < end)].tolist())
        yield [pair for number, pair in ends.items() if number not in away]


def _connects(links: Sequence[Pair], names: set[str]) -> bool:
    graph = networkx.Graph(links)
    graph.add_nodes_from(names)
    return names.issubset(networkx.node_connected_component(graph, min(names)))


def _gaps(ways: TopicWays, steps: Sequence[Step]) -> _Gaps:
    number = {name: i for i, name in enumerate(ways.brokers)}
    cleared, put = np.full((2, len(ways.brokers)), _NEVER)
    for time, step in enumerate(steps):
        if step.broker in number:
            (cleared if step.clear else put)[number[step.broker]] = time
    cleared, put = cleared[ways.owners], put[ways.owners]
    gone, back = np.minimum(cleared, put).min(axis=1), put.max(axis=1)
    # Two brokers that make a link may go without their files one after the other, or at the same time.
    put = np.where(cleared < _NEVER, put, _NEVER)
    first, second = cleared.min(axis=1), cleared.max(axis=1)
    apart = put.min(axis=1) < second
    pieces = (
        (ways.left, gone, np.full_like(gone, _NEVER)),
        (ways.taken, np.full_like(gone, -1), back),
        (ways.kept, first, np.where(apart, put.min(axis=1), put.max(axis=1))),
        (ways.kept, np.where(apart, second, _NEVER), put.max(axis=1)),
    )
    topic, link, begin, end = (
        np.concatenate(column)
        for column in zip(
            *((rows.topic, rows.link, begin[rows.link], end[rows.link]) for rows, begin, end in pieces), strict=True
        )
    )
    order = np.flatnonzero(begin < end)
    order = order[np.argsort(topic[order], kind="stable")]
    return _Gaps(WayRows(topic[order], link[order]), begin[order], end[order])


@dataclass(frozen=True)
class LinkChange:
    """A link that carries other topics than before; `kind` is `add`, `change` or `remove`."""

    kind: str
    link: Pair
    topics_added: tuple[str, ...]
    topics_removed: tuple[str, ...]


@dataclass(frozen=True)
class TopicChange:
    """A topic that takes another way than before; `kind` is `add`, `change` or `remove`."""

    kind: str
    topic: str
    links_added: tuple[Pair, ...]
    links_removed: tuple[Pair, ...]


@dataclass(frozen=True)
class Difference:
    """What changes from one plan to another.

    `steps` is the order to apply it in; on that way no topic has a circle, and the topics `interrupted` do not reach
    all their subscribers for a while. The topics `doubled` would have a circle if links were added before others go.
    """

    links: tuple[LinkChange, ...]
    topics: tuple[TopicChange, ...]
    brokers_added: tuple[str, ...]
    brokers_removed: tuple[str, ...]
    steps: tuple[Step, ...]
    interrupted: tuple[str, ...]
    doubled: tuple[str, ...]

    def count(self, kind: str) -> int:
        """How many links are of a kind of change."""
        return sum(change.kind == kind for change in self.links)


def compare_plans(old: Plan, new: Plan) -> Difference:
    """What must change to get from one plan to another whose brokers are of the same kinds, and in which order."""
    for name in sorted(old.broker.keys() & new.broker.keys()):
        kinds = [kind_of(plan.broker[name]).name for plan in (old, new)]
        if kinds[0] != kinds[1]:
            raise InputError(f"broker {quoted(name)} is of the kind {kinds[0]} in one plan and {kinds[1]} in the other")
    with _no_collector():
        return _difference(old, new)


@contextmanager
def _no_collector() -> Iterator[None]:
    """No looking for circles of objects: among the million names and links there are none, and it took a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _difference(old: Plan, new: Plan) -> Difference:
    ways = ways_of_topics(old, new)
    left, right = _Settings(old), _Settings(new)
    changed = sorted(name for name in old.broker.keys() | new.broker.keys() if left.of(name) != right.of(name))
    steps = steps_between(ways, list(_families(old, new)), changed, old.broker.keys())
    return Difference(
        links=tuple(_link_changes(old, new, ways)),
        topics=tuple(_topic_changes(old, new, ways)),
        brokers_added=tuple(sorted(new.broker.keys() - old.broker.keys())),
        brokers_removed=tuple(sorted(old.broker.keys() - new.broker.keys())),
        steps=steps,
        interrupted=tuple(sorted({*interrupted_topics(old, new, ways, steps), *_renamed(old, new)})),
        doubled=tuple(_doubled(old, new, ways)),
    )


def _families(old: Plan, new: Plan) -> Iterator[Family]:
    """Topics that must not have a circle together; for NATS these are all, as all links are one network."""
    trees = [{link for link in plan.links if kind_of(plan.broker[link[0]]).one_tree} for plan in (old, new)]
    shared: set[str] = set()
    if any(trees):
        both = list(zip((old, new), trees, strict=True))
        had, has = ({(frozenset(link), owners_of(plan, link)) for link in links} for plan, links in both)
        shared = {route.topic for plan, links in both for link in links for route in plan.routes_of_link[link]}
        yield Family(frozenset(shared), _owners(had - has), _owners(has - had))
    for topics in _related(old, new):
        if not shared.isdisjoint(topics):
            continue
        before, after = _carrying(old, topics), _carrying(new, topics)
        yield Family(topics, _owners(before - after), _owners(after - before))


def _owners(made: Iterable[tuple[Any, ...]]) -> frozenset[str]:
    return frozenset(owner for one in made for owner in one[1])


def _related(old: Plan, new: Plan) -> list[frozenset[str]]:
    """Topics that have messages in common with topics of other names."""
    members: dict[str, set[str]] = {}
    for topic, family in topic_families(old, new).items():
        members.setdefault(family, set()).add(topic)
    return [frozenset(family) for family in members.values() if len(family) > 1]


def _carrying(plan: Plan, topics: Container[str]) -> set[tuple[frozenset[str], Pair, frozenset[Any]]]:
    """The links of several topics with their owners and what they carry of them, in each direction."""
    carried: dict[Pair, set[Any]] = {}
    for route in plan.routes:
        if route.topic in topics:
            for link in route.links:
                opened = link if link in plan.routes_of_link else link[::-1]
                carried.setdefault(opened, set()).add((route.flows[opened], route.flows[opened[::-1]]))
    return {(frozenset(link), owners_of(plan, link), frozenset(patterns)) for link, patterns in carried.items()}


def _renamed(old: Plan, new: Plan) -> Iterator[str]:
    """Topics of the old plan whose messages go by other names in the new one, and whose links change."""
    for family in _related(old, new):
        if _carrying(old, family) - _carrying(new, family):
            yield from (topic for topic in family if topic in old.route and len(old.route[topic].members) > 1)


def _link_changes(old: Plan, new: Plan, ways: TopicWays) -> Iterator[LinkChange]:
    before, after = ({(min(link), max(link)): link for link in plan.links} for plan in (old, new))
    for ends in dict.fromkeys(ways.ends):
        had, has = before.get(ends), after.get(ends)
        if has is None:
            assert had is not None
            yield LinkChange("remove", had, (), old.patterns_of_link[had])
        elif had is None:
            yield LinkChange("add", has, new.patterns_of_link[has], ())
        elif had != has or old.lines_of_link[had] != new.lines_of_link[has]:
            left, right = old.patterns_of_link[had], new.patterns_of_link[has]
            yield LinkChange("change", has, _without(right, left), _without(left, right))


def _without(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Names that are not among others, in order."""
    return tuple(sorted(set(names).difference(others)))


def _topic_changes(old: Plan, new: Plan, ways: TopicWays) -> Iterator[TopicChange]:
    added, removed = (
        [tuple(map(ways.ends.__getitem__, links.tolist())) for links in rows.by_topic(len(ways.topics))]
        for rows in (ways.taken, ways.left)
    )
    for topic, more, less in zip(ways.topics, added, removed, strict=True):
        kind = "add" if topic not in old.route else "remove" if topic not in new.route else "change"
        if more or less or kind != "change":
            yield TopicChange(kind, topic, more, less)


def _doubled(old: Plan, new: Plan, ways: TopicWays) -> Iterator[str]:
    """The topics whose ways in both plans have a circle among them."""
    for topic, links in zip(ways.topics, ways.counts.tolist(), strict=True):
        if topic in old.route and topic in new.route:
            before, after = set(old.route[topic].members), set(new.route[topic].members)
            # Two trees that meet are a tree together as long as they have one link fewer than brokers.
            if not before.isdisjoint(after) and links >= len(before | after):
                yield topic


class _Settings:
    """All that the files of a plan's brokers say, but for passwords."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.topics = sorted(plan.route)
        self.exactly_once = {name for route in plan.routes if route.qos == 2 for name in route.members}
        self.routes: dict[str, list[tuple[str, int]]] = {}
        for route in plan.routes:
            for name in route.members:
                if kind_of(plan.broker[name]).both_ends:
                    self.routes.setdefault(name, []).append((route.topic, route.diameter))

    def of(self, broker: str) -> object:
        """Those of one broker; None where its file says nothing and it needs none."""
        if broker not in self.plan.broker:
            return None
        own = [link for link in self.plan.links_of[broker] if broker in owners_of(self.plan, link)]
        others = [self.plan.broker[name] for link in own for name in link if name != broker]
        carried = [self.plan.lines_of_link[link] for link in own]
        kind = kind_of(self.plan.broker[broker])
        if kind.both_ends:
            return (others, carried, self.routes[broker]) if broker in self.routes else None
        if kind.one_tree:
            # What a remote denies depends on all topics of the plan.
            return (others, carried, self.topics) if own else None
        settings = others, carried, broker in self.exactly_once
        return settings if any(settings) else None
