"""What changes between two plans, and in which order to apply it.

A broker's file takes effect as a whole, one broker after the other. In between, some topics have links of both plans:
with too few of them a topic is interrupted, with too many it goes in circles. A circle floods brokers, so links are
taken away before others take their place; a topic is then interrupted for as long as that takes, unless one broker
owns both changes. Where brokers wait for each other, one of them first goes without its links. Topics of both plans
that have messages in common, as filters that overlap were merged or split, are ordered together.
"""

from __future__ import annotations

import gc
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from topicloom.deploy.changes.plan_steps import Family, Step, interrupted_topics, steps_between
from topicloom.deploy.changes.topic_ways import TopicWays, owners_of, ways_of_topics
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.planning.topic_families import topic_families
from topicloom.errors import InputError


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
    """What must change to get from one plan to another of the same target, and in which order."""
    if old.target != new.target:
        raise InputError(f"the plans are for different targets: {old.target} and {new.target}")
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
    if new.target == "nats":
        had, has = ({(frozenset(link), owners_of(plan, link)) for link in plan.links} for plan in (old, new))
        yield Family(frozenset(old.route.keys() | new.route.keys()), _owners(had - has), _owners(has - had))
        return
    for topics in _related(old, new):
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
        if plan.target == "rabbitmq":
            for route in plan.routes:
                for name in route.members:
                    self.routes.setdefault(name, []).append((route.topic, route.diameter))

    def of(self, broker: str) -> object:
        """Those of one broker; None where its file says nothing and it needs none."""
        if broker not in self.plan.broker:
            return None
        own = [link for link in self.plan.links_of[broker] if broker in owners_of(self.plan, link)]
        others = [self.plan.broker[name] for link in own for name in link if name != broker]
        carried = [self.plan.lines_of_link[link] for link in own]
        if self.plan.target == "rabbitmq":
            return (others, carried, self.routes[broker]) if broker in self.routes else None
        if self.plan.target == "nats":
            # What a remote denies depends on all topics of the plan.
            return (others, carried, self.topics) if own else None
        settings = others, carried, broker in self.exactly_once
        return settings if any(settings) else None
