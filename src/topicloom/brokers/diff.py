"""Steps from one plan to another, in a safe order, and what changes on the way.

A broker's file takes effect as a whole, one broker after the other. In between, some topics have links of both plans:
with too few of them a topic is interrupted, with too many it has a cycle. A cycle floods brokers, so links are taken
away before others take their place; a topic is then interrupted for as long as that takes, unless one broker owns both
changes. If brokers wait for each other, one of them first goes without its links.

Filters that overlap are one topic, so a filter that comes or goes can make one topic of several, split one, or give it
another name. Messages then go along trees of topics with other names; such topics are ordered together.

All topics are gone through together, on ids that both plans share, a row for every link of every topic. While brokers
get their files no topic has a cycle, so how many links it has tells most of what is asked.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import networkx
import numpy as np
import numpy.typing as npt

from topicloom.brokers.fingerprints import link_hashes
from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.plan import Numbers, Plan, Route
from topicloom.model.filters import FilterIndex, protocol_of


def topic_families(old: Plan, new: Plan) -> Mapping[str, str]:
    """For each topic of two plans the family that it belongs to, called by the first of its topics.

    Topics are of one family where something that one of them carries could be carried by the other; each topic is a
    family of its own where topics are no filters.
    """
    first = {topic: topic for topic in sorted({*old.interest.topic_names, *new.interest.topic_names})}
    filters = old.interest.filters or new.interest.filters
    if filters is None:
        return first
    protocol = protocol_of(filters)
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


class JointPlans:
    """Two plans on ids that both share, in the order of names, and the links that topics leave, keep and take up.

    A link is known by its ends and by the brokers whose files make it: both ends for federation, else the one that
    opens it, in both columns of `owners`.
    """

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old, self.new = old, new
        self.names, self.nodes = _joint(old.interest.node_names, new.interest.node_names)
        self.topics, self.topic_ids = _joint(old.interest.topic_names, new.interest.topic_names)
        made = [_made(plan, nodes, len(self.names)) for plan, nodes in zip((old, new), self.nodes, strict=True)]
        links = np.union1d(*made)
        self.links_of = [np.searchsorted(links, each) for each in made]
        ends, owned = np.divmod(links, 3)
        self.low, self.high = np.divmod(ends, max(1, len(self.names)))
        self.owners = np.stack(
            [np.where(owned == 2, self.high, self.low), np.where(owned == 0, self.low, self.high)], 1
        )
        had, has = (
            np.sort(topics[plan.topic_of_row] * max(1, len(links)) + own[plan.link_of_row])
            for plan, topics, own in zip((old, new), self.topic_ids, self.links_of, strict=True)
        )
        place = np.searchsorted(has, had)
        stays = np.append(has, -1)[place] == had
        rows = (had[~stays], had[stays], np.delete(has, place[stays]))
        self.left, self.kept, self.taken = (WayRows(*np.divmod(keys, max(1, len(links)))) for keys in rows)

    @property
    def sides(self) -> tuple[WayRows, WayRows, WayRows]:
        """All links of all topics."""
        return self.left, self.kept, self.taken

    @cached_property
    def counts(self) -> Numbers:
        """How many links each topic has in both plans together."""
        left, kept, taken = (rows.counts(len(self.topics)) for rows in self.sides)
        return left + kept + taken

    @cached_property
    def in_both(self) -> npt.NDArray[np.bool_]:
        """Whether each topic is in both plans."""
        both: npt.NDArray[np.bool_] = np.bincount(np.concatenate(self.topic_ids), minlength=len(self.topics)) == 2
        return both

    def ends(self, link: int) -> Pair:
        """The names of the ends of a link, the lower first."""
        return self.names[self.low[link]], self.names[self.high[link]]

    def place(self, side: int, topic: int) -> int:
        """The number that a topic of both has in one of the plans."""
        return int(np.searchsorted(self.topic_ids[side], topic))

    def subscribers(self, side: int, topic: int) -> Numbers:
        """The brokers that want a topic in one of the plans."""
        interest, own = (self.old, self.new)[side].interest, self.place(side, topic)
        wanting = interest.nodes_of(own) if interest.roles is None else np.array(sorted(interest.roles.of(own)[0]))
        return self.nodes[side][wanting.astype(np.int64)]

    def members(self, side: int, topic: int) -> Numbers:
        """The brokers on the tree of a topic in one of the plans."""
        trees, own = (self.old, self.new)[side].trees, self.place(side, topic)
        lower = trees.lower[trees.start[own] : trees.start[own + 1]]
        members: Numbers = self.nodes[side][np.append(lower, trees.root[own])]
        return members

    @cached_property
    def changed(self) -> Numbers:
        """The brokers whose files say something else, or are there in one plan alone and say something."""
        prints = np.zeros((2, len(self.names)), np.uint64)
        for side, plan in enumerate((self.old, self.new)):
            prints[side, self.nodes[side]] = plan.fingerprints
        differ: Numbers = np.flatnonzero(prints[0] != prints[1])
        return differ


def _joint(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[Numbers, Numbers]]:
    """Names of both in order, and what number among them each name has."""
    if old == new:
        same = np.arange(len(old))
        return old, (same, same)
    names = tuple(sorted({*old, *new}))
    number = {name: at for at, name in enumerate(names)}
    ids = [np.fromiter(map(number.__getitem__, each), np.int64, len(each)) for each in (old, new)]
    return names, (ids[0], ids[1])


def _made(plan: Plan, nodes: Numbers, count: int) -> Numbers:
    """A number for each link of a plan: in the order of its ends, then of the brokers whose files make it."""
    opener, acceptor = nodes[plan.opener], nodes[plan.acceptor]
    low, high = np.minimum(opener, acceptor), np.maximum(opener, acceptor)
    owned = np.where(plan.where("both_ends")[plan.opener], 1, np.where(opener == low, 0, 2))
    made: Numbers = (low * max(1, count) + high) * 3 + owned
    return made


# The time of a step that never comes.
_NEVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Step:
    """A broker to put its new file on, or, with `clear`, to take its old file from for the time being."""

    broker: str
    clear: bool = False


@dataclass(frozen=True)
class Family:
    """Topics whose links are changed together: brokers that take some away, and those that add some only then."""

    topics: Numbers
    removing: Numbers
    adding: Numbers


def _steps(joint: JointPlans, families: Sequence[Family], had: Collection[int]) -> tuple[Step, ...]:
    """Brokers that take links of a topic, or a family of topics, away go before those that add some to it.

    Steps are for the brokers whose files have changed; those that had a file may have to go without it for a while.
    """
    count, topics = len(joint.names), len(joint.topics)
    alone = np.ones(topics, np.bool_)
    for family in families:
        alone[family.topics] = False
    removing = _waits(joint.left, alone, joint.owners, [family.removing for family in families])
    adding = _waits(joint.taken, alone, joint.owners, [family.adding for family in families])
    # By way of the topic, as thousands of brokers may wait for thousands of others.
    before = np.concatenate([removing[1], adding[0] + count])
    after = np.concatenate([removing[0] + count, adding[1]])
    knots = np.array(_knots(_successors(before, after, count + topics + len(families))), np.int64)
    brokers: dict[int, list[int]] = {}
    for broker in np.unique(np.concatenate([joint.changed, removing[1], adding[1]])).tolist():
        brokers.setdefault(int(knots[broker]), []).append(broker)
    steps: list[Step] = []
    for knot in _sorted_knots(knots[before], knots[after], len(knots), brokers):
        # All of a knot but the last go without their links until each of them has let go of what the others take.
        waiting, last = brokers[knot][:-1], brokers[knot][-1:]
        steps += [Step(joint.names[broker], clear=True) for broker in waiting if broker in had]
        steps += [Step(joint.names[broker]) for broker in (*last, *waiting)]
    return tuple(steps)


def _waits(
    rows: WayRows, alone: npt.NDArray[np.bool_], owners: Numbers, of_families: Sequence[Numbers]
) -> tuple[Numbers, Numbers]:
    """Topics that are alone, and families, numbered after all topics, each with the brokers that change its links."""
    chosen = alone[rows.topic]
    topic, broker = np.repeat(rows.topic[chosen], 2), owners[rows.link[chosen]].ravel()
    family = np.repeat(np.arange(len(of_families)) + len(alone), [len(brokers) for brokers in of_families])
    pairs = np.concatenate([topic, family]), np.concatenate([broker, *of_families])
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


def _sorted_knots(before: Numbers, after: Numbers, count: int, names: Mapping[int, list[int]]) -> Iterator[int]:
    """The knots that have brokers, each after those that it waits for, and otherwise by their first broker."""
    keys = np.unique((before * count + after)[before != after])
    before, after = np.divmod(keys, max(1, count))
    successors = _successors(before, after, count)
    waits = np.bincount(after, minlength=count).tolist()
    ready = [(names[knot][0] if knot in names else -1, knot) for knot in range(count) if not waits[knot]]
    heapify(ready)
    while ready:
        _, knot = heappop(ready)
        if knot in names:
            yield knot
        for other in successors[knot]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (names[other][0] if other in names else -1, other))


@dataclass(frozen=True, eq=False)
class _Gaps:
    """When links of topics are away: from the step that takes them until the one that brings them; by topic."""

    rows: WayRows
    begin: Numbers
    end: Numbers


def _interrupted(joint: JointPlans, steps: Sequence[Step]) -> Iterator[str]:
    """The topics that do not reach all who stay subscribed, somewhere between the first step and the last."""
    gaps = _gaps(joint, steps)
    for topic, fewest in zip(*_fewest_links(joint, gaps), strict=True):
        if not joint.in_both[topic]:
            continue
        stay = np.intersect1d(joint.subscribers(0, topic), joint.subscribers(1, topic), assume_unique=True)
        if fewest < len(stay) - 1:
            yield joint.topics[topic]
        elif len(stay) > 1 and not _is_plain(joint, topic, stay):
            # Links between others are among those that were counted.
            links = {link for rows in joint.sides for link in rows.link[rows.of(topic)].tolist()}
            names = set(stay.tolist())
            if any(not _connects(joint, left, names) for left in _states(links, gaps, gaps.rows.of(topic))):
                yield joint.topics[topic]


def _is_plain(joint: JointPlans, topic: int, stay: Numbers) -> bool:
    """Whether a topic is ordered for itself, and only those that stay are on its trees.

    Filters are ordered together with others, by what links carry.
    """
    if joint.old.interest.filters is not None or joint.new.interest.filters is not None:
        return False
    return all(bool(np.isin(joint.members(side, topic), stay).all()) for side in (0, 1))


def _fewest_links(ways: JointPlans, gaps: _Gaps) -> tuple[list[int], list[int]]:
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


def _states(links: set[int], gaps: _Gaps, own: slice) -> Iterator[list[int]]:
    """The links of a topic after each step that takes some away."""
    link, begin, end = gaps.rows.link[own], gaps.begin[own], gaps.end[own]
    for time in np.unique(begin[begin >= 0]):
        yield list(links - {*link[(begin <= time) & (time < end)].tolist()})


def _connects(joint: JointPlans, links: Sequence[int], names: set[int]) -> bool:
    graph = networkx.Graph(zip(joint.low[links].tolist(), joint.high[links].tolist(), strict=True))
    graph.add_nodes_from(names)
    return names.issubset(networkx.node_connected_component(graph, min(names)))


def _gaps(ways: JointPlans, steps: Sequence[Step]) -> _Gaps:
    number = {name: i for i, name in enumerate(ways.names)}
    cleared, put = np.full((2, len(ways.names)), _NEVER)
    for time, step in enumerate(steps):
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


class Difference:
    """What changes from one plan to another.

    `steps` is the order to apply it in; on that way no topic has a cycle. Brokers of `other_kind` let go of their links
    by their old kind first. The other parts are worked out when they are
    asked for.
    """

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old, self.new = old, new
        with _no_collector():
            self._joint = JointPlans(old, new)
            had = set(self._joint.nodes[0].tolist())
            steps = _steps(self._joint, list(_families(self._joint)), had)
        both = ((broker, new.broker.get(name)) for name, broker in old.broker.items())
        self.other_kind = tuple(
            one.name for one, other in both if other and one.kind != other.kind and kind_of(one) != kind_of(other)
        )
        self.steps = self._by_kinds(steps) if self.other_kind else steps

    def _by_kinds(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The same where brokers of another kind let go of their links by the old one before all else."""
        other = {*self.other_kind}
        had = {name for name, known in zip(self.old.interest.node_names, self.old.fingerprints, strict=True) if known}
        first = [Step(name, clear=True) for name in self.other_kind if name in had]
        rest = [
            step
            for step in steps
            if step.broker not in other or not (step.clear or kind_of(self.new.broker[step.broker]).ending is None)
        ]
        return (*first, *rest)

    @property
    def brokers_added(self) -> tuple[str, ...]:
        """Brokers of the new plan alone."""
        return tuple(sorted({*self.new.interest.node_names} - {*self.old.interest.node_names}))

    @property
    def brokers_removed(self) -> tuple[str, ...]:
        """Brokers of the old plan alone."""
        return tuple(sorted({*self.old.interest.node_names} - {*self.new.interest.node_names}))

    @cached_property
    def interrupted(self) -> tuple[str, ...]:
        """The topics that do not reach all their subscribers for a while."""
        with _no_collector():
            return tuple(sorted({*_interrupted(self._joint, self.steps), *_renamed(self.old, self.new)}))

    @cached_property
    def doubled(self) -> tuple[str, ...]:
        """The topics that would have a cycle if links were added before others go."""
        with _no_collector():
            return tuple(_doubled(self._joint))

    @cached_property
    def links(self) -> tuple[LinkChange, ...]:
        """The links that carry something else."""
        with _no_collector():
            return tuple(_link_changes(self._joint))

    @cached_property
    def topics(self) -> tuple[TopicChange, ...]:
        """The topics that take another way."""
        with _no_collector():
            return tuple(_topic_changes(self._joint))

    def to_dict(self) -> dict[str, Any]:
        """All parts by name, ready for JSON."""
        parts = ("links", "topics", "brokers_added", "brokers_removed", "steps", "interrupted", "doubled")
        found = {part: getattr(self, part) for part in parts}
        return found | {part: [asdict(one) for one in found[part]] for part in ("links", "topics", "steps")}

    def count(self, kind: str) -> int:
        """How many links are of a kind of change."""
        return sum(change.kind == kind for change in self.links)


def compare_plans(old: Plan, new: Plan) -> Difference:
    """What must change to get from one plan to another, and in which order."""
    return Difference(old, new)


@contextmanager
def _no_collector() -> Iterator[None]:
    """No looking for cycles of objects: among the million names and links there are none, and it took a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _families(joint: JointPlans) -> Iterator[Family]:
    """Topics that must not have a cycle together; for kinds with one tree all, as all links are one network."""
    trees = [
        links[plan.where("one_tree")[plan.opener]]
        for plan, links in zip((joint.old, joint.new), joint.links_of, strict=True)
    ]
    shared = np.zeros(len(joint.topics), np.bool_)
    if any(map(len, trees)):
        for rows in joint.sides:
            shared[rows.topic[np.isin(rows.link, np.concatenate(trees))]] = True
        left, taken = (np.setdiff1d(one, other) for one, other in (trees, trees[::-1]))
        yield Family(np.flatnonzero(shared), np.unique(joint.owners[left]), np.unique(joint.owners[taken]))
    brokers = {name: number for number, name in enumerate(joint.names)}
    topics = {name: number for number, name in enumerate(joint.topics)}
    for related in _related(joint.old, joint.new):
        family = np.array(sorted(topics[name] for name in related), np.int64)
        if not shared[family].any():
            before, after = _carrying(joint.old, related), _carrying(joint.new, related)
            removing, adding = (
                np.array(sorted(brokers[name] for name in _owners(gone)), np.int64)
                for gone in (before - after, after - before)
            )
            yield Family(family, removing, adding)


def _owners_of(plan: Plan, link: Pair) -> Pair:
    """The brokers whose files make a link of a plan, twice the same if it is one."""
    return (min(link), max(link)) if kind_of(plan.broker[link[0]]).both_ends else (link[0], link[0])


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
    return {(frozenset(link), _owners_of(plan, link), frozenset(patterns)) for link, patterns in carried.items()}


def _renamed(old: Plan, new: Plan) -> Iterator[str]:
    """Topics of the old plan whose messages go by other names in the new one, and whose links change."""
    for family in _related(old, new):
        if _carrying(old, family) - _carrying(new, family):
            yield from (topic for topic in family if topic in old.route and len(old.route[topic].members) > 1)


def _link_changes(joint: JointPlans) -> Iterator[LinkChange]:
    old, new = joint.old, joint.new
    before, after = (
        {
            ends: number
            for number, ends in enumerate(zip(joint.low[own].tolist(), joint.high[own].tolist(), strict=True))
        }
        for own in joint.links_of
    )
    same = _same_links(joint)
    for ends in sorted(before.keys() | after.keys()):
        at, to = before.get(ends), after.get(ends)
        if at is None:
            assert to is not None
            yield LinkChange("add", new.links[to], new.patterns_of_link[new.links[to]], ())
        elif to is None:
            yield LinkChange("remove", old.links[at], (), old.patterns_of_link[old.links[at]])
        elif (at, to) not in same:
            had, has = old.links[at], new.links[to]
            if had != has or old.lines_of_link[had] != new.lines_of_link[has]:
                left, right = old.patterns_of_link[had], new.patterns_of_link[has]
                yield LinkChange("change", has, _without(right, left), _without(left, right))


def _same_links(joint: JointPlans) -> set[tuple[int, int]]:
    """Links, by their numbers in both plans, that are opened by the same broker and carry the same."""
    hashes = [link_hashes(plan, qos=True) for plan in (joint.old, joint.new)]
    had, has = joint.links_of
    _, before, after = np.intersect1d(had, has, assume_unique=True, return_indices=True)
    openers = (joint.nodes[0][joint.old.opener[before]], joint.nodes[1][joint.new.opener[after]])
    same = (openers[0] == openers[1]) & (hashes[0][before] == hashes[1][after])
    return set(zip(before[same].tolist(), after[same].tolist(), strict=True))


def _without(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Names that are not among others, in order."""
    return tuple(sorted(set(names).difference(others)))


def _topic_changes(joint: JointPlans) -> Iterator[TopicChange]:
    pairs = list(map(joint.ends, range(len(joint.low))))
    added, removed = (
        [tuple(map(pairs.__getitem__, links.tolist())) for links in rows.by_topic(len(joint.topics))]
        for rows in (joint.taken, joint.left)
    )
    known = np.isin(np.arange(len(joint.topics)), joint.topic_ids[0])
    for topic, more, less in zip(range(len(joint.topics)), added, removed, strict=True):
        kind = "change" if joint.in_both[topic] else "remove" if known[topic] else "add"
        if more or less or kind != "change":
            yield TopicChange(kind, joint.topics[topic], more, less)


def _doubled(joint: JointPlans) -> Iterator[str]:
    """The topics whose trees in both plans have a cycle among them."""
    for topic in np.flatnonzero(joint.in_both).tolist():
        before, after = joint.members(0, topic), joint.members(1, topic)
        together = len(np.union1d(before, after))
        # Two trees that meet are a tree together as long as they have one link fewer than brokers.
        if together < len(before) + len(after) and joint.counts[topic] >= together:
            yield joint.topics[topic]
