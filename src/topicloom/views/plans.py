"""Views of plans: what is in one, why something is there, and what changes from one to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.metrics.summary import COSTS
from topicloom.views.designs import written
from topicloom.views.numbers import count, count_of, mean
from topicloom.views.view import Column, Fact, Note, On, Table, View

if TYPE_CHECKING:
    from topicloom.brokers.diff import Difference
    from topicloom.brokers.explain import BrokerReasons, LinkReasons, Split, TopicReasons
    from topicloom.brokers.plan import Plan
    from topicloom.metrics.trees import BrokenTopic
    from topicloom.model import Overlay
    from topicloom.model.fleet import Fleet
    from topicloom.model.rates import TopicTraffic

_SIGNS = {"add": "+", "change": "~", "remove": "-"}

_SHOWN_COMPONENTS = 4
_SHOWN_NAMES = 6
_SHOWN_RELAYED = 20


def plan(
    made: Plan,
    overlay: Overlay,
    fleet: Fleet,
    costs: Mapping[str, float | None],
    traffic: TopicTraffic | None,
    out: str | PathLike[str],
    *,
    designed: bool = False,
) -> View:
    """A new plan, made of the links of an overlay, and the file that it was written to.

    `designed` if the overlay was designed for this plan.
    """
    carried = [len(lines) for lines in made.lines_of_link.values()]
    patterns = {name for route in made.routes for side in route.sides for names in side.values() for name in names}
    relays = [{"topic": route.topic, "relays": list(route.relays)} for route in made.routes if route.relays]
    unused = sorted(fleet.topic_qos.keys() - patterns)
    roles = overlay.interest.roles
    relayed = [f"{row['topic']}: relayed by {_some(row['relays'], _SHOWN_NAMES)}" for row in relays[:_SHOWN_RELAYED]]
    if len(relays) > _SHOWN_RELAYED:
        relayed.append(f"and {count(len(relays) - _SHOWN_RELAYED)} more")
    return View(
        "plan",
        "Plan",
        (
            Fact("target", made.target, on=On.DATA),
            Fact("brokers", len(made.brokers), count),
            Fact("brokers_without_topics", len(fleet.brokers) - len(made.brokers), count),
            Fact("topics", len(made.routes), count),
            Fact("links", len(made.links), count),
            Fact("links_unused", len(overlay) - len(made.links), count, "unused links"),
            Fact("topics_per_link", sum(carried) / len(carried) if carried else 0.0, mean, "average topics a link"),
            Fact("max_topics_per_link", max(carried, default=0), count, "max topics a link"),
            Fact("max_hops", max((route.diameter for route in made.routes), default=0), count),
            Fact("relays", len(relays), count, "topics with relays", on=On.PEOPLE),
            Fact("relays", relays, on=On.DATA),
            Fact("topics_nobody_wants", unused, on=On.DATA),
            _unless_zero(
                "wanted_unpublished", 0 if roles is None else roles.unspoken, "wanted, subscribers taken to publish"
            ),
            _unless_zero("passed_on", _passed_on(made), "relayed without subscribers"),
            *(Fact(key, value, mean, COSTS[key], On.DATA if value is None else On.ALL) for key, value in costs.items()),
            *([] if traffic is None else _rated(traffic)),
            *(_design(overlay) if designed else []),
            Fact("out", str(out), on=On.DATA),
            *_notes(f"  {topic}: is in the fleet file, without subscribers or publishers" for topic in unused),
            *_notes(f"  {line}" for line in relayed),
            *written(out),
        ),
    )


def _design(overlay: Overlay) -> list[Fact | Note]:
    """How the links of a plan were designed."""
    made = overlay.provenance
    assert made is not None
    rounds, bound = made.parameters.get("rounds"), made.facts.get("lower_bound")
    effort = "" if rounds is None else f" in {rounds:,} rounds"
    proved = "" if bound is None else f"; any design that connects all topics has {bound:,} or more"
    return [
        Fact("designer", made.algorithm, on=On.DATA),
        Fact("parameters", dict(made.parameters), on=On.DATA),
        Fact("lower_bound", bound, on=On.DATA),
        Note(f"links designed by {made.algorithm}{effort}{proved}"),
    ]


def _rated(traffic: TopicTraffic) -> list[Fact]:
    return [
        _unless_zero("topics_without_rate", traffic.unrated, "topics without a rate"),
        _unless_zero("rates_idle", traffic.idle, "rates of topics without subscribers or publishers"),
    ]


def _unless_zero(key: str, number: int, title: str) -> Fact:
    return Fact(key, number, count, title, On.ALL if number else On.DATA)


def _passed_on(made: Plan) -> int:
    """How often a broker gets a message for others alone, if each publisher of filters sends one of every kind."""
    return sum(
        len({to for _, to in route.ways_in(source, message.name)}.difference(message.wanting))
        for route in made.routes
        if route.filters is not None
        for message in route.messages
        for source in message.sources
    )


def not_connected(broken: Sequence[BrokenTopic]) -> View:
    """Topics that links do not connect, with their components."""
    lines = []
    for topic in broken:
        shown = [_some(names, _SHOWN_NAMES) for names in topic.pieces[:_SHOWN_COMPONENTS]]
        if len(topic.pieces) > _SHOWN_COMPONENTS:
            shown.append(f"and {count_of(len(topic.pieces) - _SHOWN_COMPONENTS, 'component')} more")
        lines.append(f"{topic.topic}: {' | '.join(shown)}")
    rows = [(topic.topic, [list(names) for names in topic.pieces]) for topic in broken]
    table = Table("broken", (Column("topic"), Column("pieces")), rows, On.DATA)
    return View("not_connected", "Topics that are not connected", (table, *_notes(lines)))


def new_fleet(names: Sequence[str], out: str | PathLike[str]) -> View:
    """The brokers of a new fleet file."""
    return View(
        "fleet",
        "Fleet",
        (
            Fact("brokers", list(names), on=On.DATA),
            Fact("out", str(out), on=On.DATA),
            Note(f"{count_of(len(names), 'broker')}: {printable(_some(names))}"),
            *written(out),
        ),
    )


def rendered(plan: Plan, files: Sequence[str], out: str | PathLike[str]) -> View:
    """The configuration files of a plan, and the folder that they were written to."""
    return View(
        "rendered",
        "Configurations",
        (
            Fact("target", plan.target, on=On.DATA),
            Fact("files", list(files), on=On.DATA),
            Fact("brokers", len(plan.brokers), count, "configurations", on=On.PEOPLE),
            Fact("links", len(plan.links), count),
            Fact("out", str(out), on=On.DATA),
            *written(out),
        ),
    )


def link_reasons(reasons: LinkReasons) -> View:
    """What a link of a plan is for."""
    first, second = reasons.link
    return _explained(
        reasons,
        f"{first} opens a link to {second}. It carries {count_of(len(reasons.splits), 'topic')}.",
        "Without it:",
        *_splits(reasons.splits),
    )


def topic_reasons(reasons: TopicReasons) -> View:
    """Where a topic of a plan goes."""
    route = reasons.route
    wanted = count_of(len(route.subscribers), "broker")
    lines = [f"{route.topic} is wanted by {wanted}, with QoS {route.qos}. Its tree begins at {route.root}."]
    if route.publishers != route.subscribers:
        lines.append(f"It is published at {', '.join(route.publishers)}.")
    lines.append(f"Its longest path has {count_of(route.diameter, 'link')}.")
    if route.relays:
        lines.append(f"It is relayed by {', '.join(route.relays)}, as its subscribers are not connected without.")
    for (upper, lower), behind in reasons.behind:
        indent = "  " * (1 + route.levels[upper])
        lines.append(f"{indent}{upper} - {lower}: without it {', '.join(behind)} would be cut off")
    return _explained(reasons, *lines)


def broker_reasons(reasons: BrokerReasons) -> View:
    """What a broker of a plan is for."""
    wants, relays = count_of(len(reasons.wants), "topic"), count_of(len(reasons.relays), "topic")
    others = [(second if first == reasons.broker else first, first) for first, second in reasons.links]
    return _explained(
        reasons,
        f"{reasons.broker} wants {wants} and relays {relays}, over {count_of(len(reasons.links), 'link')}:",
        *(f"  {other}, opened by {opener}" for other, opener in others),
        f"Without it {count_of(len(reasons.splits), 'topic')} would split:",
        *_splits(reasons.splits),
    )


def difference(change: Difference) -> View:
    """What changes from one plan to another, and in which order."""
    lines = [f"+ broker {name}" for name in change.brokers_added]
    lines += [f"- broker {name}" for name in change.brokers_removed]
    for link in change.links:
        carried = _signed(link.topics_added, link.topics_removed)
        lines.append(f"{_SIGNS[link.kind]} link {_pair(link.link)}: {carried or 'settings'}")
    for topic in change.topics:
        path = _signed(map(_pair, topic.links_added), map(_pair, topic.links_removed))
        lines.append(f"{_SIGNS[topic.kind]} topic {topic.topic}: {path or 'no links'}")
    steps = []
    for number, step in enumerate(change.steps, 1):
        does = "put the new file on"
        if step.clear:
            does = "take the links from"
        elif step.broker in change.brokers_removed:
            does = "stop"
        steps.append(f"  {number}. {does} {step.broker}")
    add, other, remove = (change.count(kind) for kind in _SIGNS)
    return View(
        "difference",
        "Difference",
        (
            *_data(change.to_dict()),
            *_notes(lines),
            *([Note("\nin this order:"), *_notes(steps)] if steps else []),
            Note(f"\ninterrupted on the way: {printable(_some(change.interrupted)) or 'none'}"),
            Note(f"would duplicate in another order: {printable(_some(change.doubled)) or 'none'}"),
            Note(f"Plan: {count_of(add, 'link')} to add, {other} to change, {remove} to remove."),
        ),
    )


def _pair(link: tuple[str, str]) -> str:
    return " - ".join(link)


def _signed(added: Iterable[str], removed: Iterable[str]) -> str:
    return _some([*(f"+{name}" for name in added), *(f"-{name}" for name in removed)])


def _some(names: Sequence[str], shown: int = 8) -> str:
    """The first of some names, and how many more there are."""
    more = f", and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _explained(reasons: LinkReasons | TopicReasons | BrokerReasons, *lines: str) -> View:
    return View("reasons", "Reasons", (*_data(asdict(reasons)), *_notes(lines)))


def _splits(splits: Sequence[Split]) -> list[str]:
    return [f"  {split.topic}: {' | '.join(', '.join(names) for names in split.groups)}" for split in splits]


def _data(values: dict[str, Any]) -> list[Fact]:
    """Values for programs alone."""
    return [Fact(key, value, on=On.DATA) for key, value in values.items()]


def _notes(lines: Iterable[str]) -> list[Note]:
    return [Note(printable(line)) for line in lines]
