"""Views of plans: what is in one, why something is there, and what changes from one to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.views.designs import written
from topicloom.views.numbers import count, count_of
from topicloom.views.view import Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.brokers.diff import Difference
    from topicloom.brokers.explain import BrokerReasons, LinkReasons, Split, TopicReasons
    from topicloom.brokers.plan import Plan

_SIGNS = {"add": "+", "change": "~", "remove": "-"}


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
            *_data(asdict(change)),
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
