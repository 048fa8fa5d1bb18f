"""What if: brokers gone, links forbidden, brokers added, another designer or budget; and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from topicloom.churn.settings import maintainer
from topicloom.designers import DesignProblem, design, run
from topicloom.errors import InputError
from topicloom.metrics import Measures, measure, measure_prices
from topicloom.model import Constraints, Interest, Overlay, Prices
from topicloom.model.constraints import Pair
from topicloom.model.events import JOIN, LEAVE, Event
from topicloom.registry import Value, Watch

LEAVE_IT, MEND, DESIGN = "leave", "mend", "design"
# Who mends where links are forbidden that are there; it chooses as maintainers do.
MENDER = "low-oda"
# What is done about it.
REACTIONS = {
    DESIGN: "design anew",
    MEND: "mend, with few changes",
    LEAVE_IT: "nothing: see what breaks",
}


@dataclass(frozen=True)
class Question:
    """What is changed, and what is done about it: one of `REACTIONS`, with which designer and parameters."""

    reaction: str = DESIGN
    algorithm: str = "gm"
    parameters: Mapping[str, Value] = field(default_factory=dict)
    seed: int = 0
    killed: tuple[str, ...] = ()
    forbidden: tuple[Pair, ...] = ()
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Answered:
    """An overlay before and after, how good both are, what happened in between, and the seconds that it took.

    `longest_ways` are those of both by price, where prices are known. `staying` are links that had to be built.
    """

    question: Question
    before: Overlay
    after: Overlay
    measures: tuple[Measures, Measures]
    longest_ways: tuple[float | None, float | None]
    events: tuple[Event, ...]
    seconds: float
    staying: tuple[Pair, ...] = ()


def what_if(
    before: Overlay,
    question: Question,
    *,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    watch: Watch | None = None,
    measured: Measures | None = None,
) -> Answered:
    """Answer a question about an overlay; `measured` are its measures, where they are known already."""
    if question.reaction not in REACTIONS:
        raise InputError(f"unknown reaction '{question.reaction}'; known are {', '.join(REACTIONS)}")
    _check(before.interest, question)
    began = time.perf_counter()
    allowed = _allowed(question, constraints)
    interest = changed_interest(before.interest, question)
    events = _events(question)
    staying: tuple[Pair, ...] = ()
    if question.reaction == DESIGN:
        problem = DesignProblem.of(interest, constraints=allowed, prices=prices, seed=question.seed, watch=watch)
        after = run(problem, question.algorithm, **question.parameters).overlay
    elif question.reaction == MEND and not cuts(before, question):
        after = _mended(before, events, allowed, prices)
    else:
        after = surviving(before, interest, question)
        if question.reaction == MEND:
            staying = tuple(after)
            after = _rejoined(after, allowed, prices, watch)
    seconds = time.perf_counter() - began
    both = (measured or measure(before.interest, before), measure(after.interest, after))
    ways = (_longest_way(before, prices), _longest_way(after, prices))
    return Answered(question, before, after, both, ways, events, seconds, staying)


def changed_interest(interest: Interest, question: Question) -> Interest:
    """Who wants what after brokers are gone and others came; the same interest where neither happened."""
    if not question.killed and not question.added:
        return interest
    killed = {interest.node_ids[name] for name in question.killed}
    names = [name for node, name in enumerate(interest.node_names) if node not in killed]
    nodes = tuple(sorted([*names, *question.added]))
    topics = tuple(sorted({*interest.topic_names, *(topic for each in question.added.values() for topic in each)}))
    node_id = {name: number for number, name in enumerate(nodes)}
    topic_id = {name: number for number, name in enumerate(topics)}
    place = np.array([node_id.get(name, -1) for name in interest.node_names], np.int64)
    kind = np.array([topic_id[name] for name in interest.topic_names], np.int64)
    old = np.repeat(place, np.diff(interest.node_start))
    kept = old >= 0
    more = [(node_id[name], topic_id[topic]) for name, each in question.added.items() for topic in each]
    added = np.array(more, np.int64).reshape(-1, 2)
    return Interest.from_ids(
        nodes,
        topics,
        np.concatenate([old[kept], added[:, 0]]),
        np.concatenate([kind[interest.node_topics][kept], added[:, 1]]),
    )


def surviving(before: Overlay, interest: Interest, question: Question) -> Overlay:
    """The links whose ends are both there still and which nobody forbids."""
    forbidden = {frozenset(pair) for pair in question.forbidden}
    ids = interest.node_ids
    links = [link for link in before if link[0] in ids and link[1] in ids and frozenset(link) not in forbidden]
    return Overlay.from_links(interest, links)


def cuts(before: Overlay, question: Question) -> bool:
    """Whether a link is forbidden that is there."""
    there = {frozenset(link) for link in before}
    return any(frozenset(pair) in there for pair in question.forbidden)


def _rejoined(left: Overlay, constraints: Constraints | None, prices: Prices | None, watch: Watch | None) -> Overlay:
    """The links that are left, and those that join what is in pieces then; a maintainer mends only after events."""
    given = constraints or Constraints()
    allowed = replace(given, require=(*given.require, *left))
    return design(left.interest, MENDER, constraints=allowed, prices=prices, watch=watch)


def _mended(
    before: Overlay, events: tuple[Event, ...], constraints: Constraints | None, prices: Prices | None
) -> Overlay:
    if before.interest.roles is not None:
        before = replace(before, interest=replace(before.interest, roles=None))
    mending = maintainer(before, constraints=constraints, prices=prices)
    _, refused = mending.apply_jointly(events)
    for reason in refused.values():
        raise InputError(reason)
    return mending.overlay()


def _check(interest: Interest, question: Question) -> None:
    for name in question.killed:
        if name not in interest.node_ids:
            raise InputError(f"there is no node '{name}' to take away")
    if len(question.killed) >= interest.node_count:
        raise InputError("no node would be left")
    for pair in question.forbidden:
        for name in pair:
            if name not in interest.node_ids and name not in question.added:
                raise InputError(f"there is no node '{name}' to forbid a link of")
    for name, topics in question.added.items():
        if name in interest.node_ids:
            raise InputError(f"there is a node '{name}' already; give the new one another name")
        if not topics:
            raise InputError(f"say which topics '{name}' wants")


def _allowed(question: Question, constraints: Constraints | None) -> Constraints | None:
    if not question.forbidden:
        return constraints
    given = constraints or Constraints()
    return replace(given, forbid=(*given.forbid, *question.forbidden))


def _events(question: Question) -> tuple[Event, ...]:
    happened = [(JOIN, name, tuple(sorted(topics))) for name, topics in question.added.items()]
    happened += [(LEAVE, name, ()) for name in question.killed]
    return tuple(Event(number, kind, name, topics) for number, (kind, name, topics) in enumerate(happened, start=1))


def _longest_way(overlay: Overlay, prices: Prices | None) -> float | None:
    return None if prices is None else measure_prices(overlay.interest, overlay, prices).longest_way
