"""What changes between two plans, and in which order to apply it.

A broker's file takes effect as a whole, one broker after the other. In between, some topics have links of both plans:
with too few of them a topic is interrupted, with too many it goes in circles. A circle floods brokers, so links are
taken away before others take their place; a topic is then interrupted for as long as that takes, unless one broker
owns both changes. Where brokers wait for each other, one of them first goes without its links. Topics of both plans
that have messages in common, as filters that overlap were merged or split, are ordered together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx

from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Line, Plan
from topicloom.deploy.planning.topic_families import topic_families
from topicloom.errors import InputError

Link = frozenset[str]
# A link and the brokers whose files make it; and for every topic those of the old plan and those of the new.
Made = tuple[Link, frozenset[str]]
Ways = Mapping[str, tuple[set[Made], set[Made]]]


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
class Step:
    """A broker to put its new file on, or, with `clear`, to take its old file from for the time being."""

    broker: str
    clear: bool = False


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
    ways = {topic: (_made(old, topic), _made(new, topic)) for topic in sorted(old.route.keys() | new.route.keys())}
    topics = tuple(_topic_changes(old, new, ways))
    changed = sorted(
        name for name in old.broker.keys() | new.broker.keys() if _settings(old, name) != _settings(new, name)
    )
    steps = _order(old, list(_waiting(old, new, topics, ways)), changed)
    return Difference(
        links=tuple(_link_changes(old, new)),
        topics=topics,
        brokers_added=tuple(sorted(new.broker.keys() - old.broker.keys())),
        brokers_removed=tuple(sorted(old.broker.keys() - new.broker.keys())),
        steps=steps,
        interrupted=tuple(sorted({*_interrupted(old, new, topics, ways, steps), *_renamed(old, new)})),
        doubled=tuple(change.topic for change in topics if _has_circle(set.union(*ways[change.topic]))),
    )


def _waiting(old: Plan, new: Plan, topics: tuple[TopicChange, ...], ways: Ways) -> Iterator[tuple[set[str], set[str]]]:
    """Brokers that take links away, and those that add links only then: for each topic, or family of topics.

    NATS can have no circle at all, so there it is all links together.
    """
    if new.target == "nats":
        before, after = ({(frozenset(link), _owners(plan, link)) for link in plan.links} for plan in (old, new))
        yield _all_owners(before - after), _all_owners(after - before)
        return
    families = _families(old, new)
    together = {topic for family in families for topic in family}
    for change in topics:
        if change.topic not in together:
            before, after = ways[change.topic]
            yield _all_owners(before - after), _all_owners(after - before)
    for family in families:
        had, has = _carrying(old, family), _carrying(new, family)
        yield _all_owners(had - has), _all_owners(has - had)


def _all_owners(made: Iterable[tuple[Any, ...]]) -> set[str]:
    return {owner for one in made for owner in one[1]}


def _families(old: Plan, new: Plan) -> list[set[str]]:
    """Topics that have messages in common with topics of other names."""
    members: dict[str, set[str]] = {}
    for topic, family in topic_families(old, new).items():
        members.setdefault(family, set()).add(topic)
    return [family for family in members.values() if len(family) > 1]


def _carrying(plan: Plan, topics: set[str]) -> set[tuple[Link, frozenset[str], frozenset[Any]]]:
    """The links of several topics with their owners and what they carry of them, in each direction."""
    carried: dict[Pair, set[Any]] = {}
    for route in plan.routes:
        if route.topic in topics:
            for link in route.links:
                opened = link if link in plan.routes_of_link else link[::-1]
                carried.setdefault(opened, set()).add((route.flows[opened], route.flows[opened[::-1]]))
    return {(frozenset(link), _owners(plan, link), frozenset(patterns)) for link, patterns in carried.items()}


def _renamed(old: Plan, new: Plan) -> Iterator[str]:
    """Topics of the old plan whose messages go by other names in the new one, and whose links change."""
    for family in _families(old, new):
        if _carrying(old, family) - _carrying(new, family):
            yield from (topic for topic in family if topic in old.route and len(old.route[topic].members) > 1)


def _carried(plan: Plan) -> dict[Link, tuple[Pair, dict[str, Line]]]:
    return {
        frozenset(link): (link, {line.pattern: line for line in lines}) for link, lines in plan.lines_of_link.items()
    }


def _link_changes(old: Plan, new: Plan) -> Iterator[LinkChange]:
    before, after = _carried(old), _carried(new)
    for key in sorted(before.keys() | after.keys(), key=sorted):
        link, topics = after.get(key, before.get(key, (("", ""), {})))
        had = before[key][1] if key in before else {}
        has = topics if key in after else {}
        kind = "add" if key not in before else "remove" if key not in after else "change"
        if kind != "change" or had != has or before[key][0] != link:
            yield LinkChange(kind, link, tuple(sorted(has.keys() - had.keys())), tuple(sorted(had.keys() - has.keys())))


def _topic_changes(old: Plan, new: Plan, ways: Ways) -> Iterator[TopicChange]:
    for topic, (before, after) in ways.items():
        kind = "add" if topic not in old.route else "remove" if topic not in new.route else "change"
        if before != after or kind != "change":
            yield TopicChange(kind, topic, _pairs(after - before), _pairs(before - after))


def _made(plan: Plan, topic: str) -> set[Made]:
    """The links of a topic, each with the brokers whose files make it."""
    route = plan.route.get(topic)
    return {(frozenset(link), _owners(plan, link)) for link in route.links} if route else set()


def _pairs(made: Iterable[Made]) -> tuple[Pair, ...]:
    return tuple(sorted((min(link), max(link)) for link, _ in made))


def _owners(plan: Plan, link: Pair) -> frozenset[str]:
    """Both ends for federation, which pulls from either side, otherwise the one that opens the link."""
    if plan.target == "rabbitmq":
        return frozenset(link)
    return frozenset({link[0] if link in plan.routes_of_link else link[1]})


def _settings(plan: Plan, broker: str) -> object:
    """All that a broker's file says, but for passwords; None where it says nothing and the broker needs no file."""
    if broker not in plan.broker:
        return None
    routes = [route for route in plan.routes if broker in route.neighbours]
    own = [link for link in plan.links_of[broker] if broker in _owners(plan, link)]
    others = [plan.broker[name] for link in own for name in link if name != broker]
    carried = [plan.lines_of_link[link] for link in own]
    if plan.target == "rabbitmq":
        return (others, carried, [(route.topic, route.diameter) for route in routes]) if routes else None
    if plan.target == "nats":
        # What a remote denies depends on all topics of the plan.
        return (others, carried, sorted(plan.route)) if own else None
    settings = others, carried, any(route.qos == 2 for route in routes)
    return settings if any(settings) else None


def _order(old: Plan, waiting: Sequence[tuple[set[str], set[str]]], changed: list[str]) -> tuple[Step, ...]:
    """Who takes links away goes before who adds some that could make a circle with them."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(changed)
    for place, (removing, adding) in enumerate(waiting):
        # By way of one node for all of them, as there may be thousands on either side.
        between = (place,)
        graph.add_edges_from((owner, between) for owner in removing)
        graph.add_edges_from((between, owner) for owner in adding)
    knots = networkx.condensation(graph)
    brokers = {
        knot: sorted(member for member in members if isinstance(member, str))
        for knot, members in networkx.get_node_attributes(knots, "members").items()
    }
    steps: list[Step] = []
    for knot in networkx.lexicographical_topological_sort(knots, key=lambda knot: brokers[knot][:1]):
        # All of a knot but the last go without their links until each of them has let go of what the others take.
        cleared, last = brokers[knot][:-1], brokers[knot][-1:]
        steps += [Step(name, clear=True) for name in cleared if name in old.broker]
        steps += [Step(name) for name in (*last, *cleared)]
    return tuple(steps)


def _interrupted(
    old: Plan, new: Plan, topics: Iterable[TopicChange], ways: Ways, steps: tuple[Step, ...]
) -> Iterator[str]:
    """The topics that do not reach all who stay subscribed, somewhere between the first step and the last."""
    # Who goes without its links interrupts all their topics, not only those that change.
    cleared = {step.broker for step in steps if step.clear}
    affected = {change.topic for change in topics}
    affected |= {route.topic for route in old.routes if not cleared.isdisjoint(route.neighbours)}
    for topic in sorted(affected):
        before, after = old.route.get(topic), new.route.get(topic)
        stay = set(before.subscribers) & set(after.subscribers) if before and after else set()
        states = _states(*ways[topic], steps, cleared)
        if any(not _connects(links, stay) for links in states):
            yield topic


def _states(before: set[Made], after: set[Made], steps: Iterable[Step], cleared: set[str]) -> Iterator[list[Link]]:
    """After each step that matters the links that carry a topic in both directions."""
    files: dict[str, set[Made]] = {}
    concerned = cleared | {owner for _, owners in before ^ after for owner in owners}
    for step in steps:
        if step.broker in concerned:
            files[step.broker] = set() if step.clear else after
            yield [
                link
                for link, owners in before | after
                if all((link, owners) in files.get(owner, before) for owner in owners)
            ]


def _has_circle(made: Iterable[Made]) -> bool:
    """Whether links have one among them; two brokers that both open the same link are one too."""
    above: dict[str, str] = {}
    for link, _ in made:
        first, second = (_top(above, name) for name in link)
        if first == second:
            return True
        above[first] = second
    return False


def _top(above: dict[str, str], name: str) -> str:
    while name in above:
        name = above[name]
    return name


def _connects(links: Iterable[Link], names: set[str]) -> bool:
    graph = networkx.Graph([tuple(link) for link in links])
    graph.add_nodes_from(names)
    return len(names) < 2 or names <= networkx.node_connected_component(graph, min(names))
