"""The order in which brokers get the files of a new plan, and which topics are interrupted on the way.

While brokers get their files no topic has a circle, so how many links it has tells most of what is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import networkx
import numpy as np
import numpy.typing as npt

from topicloom.deploy.changes.topic_ways import TopicWays, WayRows
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Numbers, Plan, Route

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
