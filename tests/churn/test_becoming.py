"""Maintainers that become an interest, are frozen and thawed, and are tidied."""

from __future__ import annotations

import json
import random

import pytest

from effort import times
from reference.fleets import links_of, random_event, random_overlay, topics_of
from topicloom import Constraints, InputError, Interest, Overlay, design
from topicloom.churn import Change, Maintainer, Settings, maintainer
from topicloom.churn.maintainer import links_by_name
from topicloom.churn.settings import thaw
from topicloom.churn.tree import TreeMaintainer, carried_topics
from topicloom.model.demand import Demand
from topicloom.model.events import LEAVE, Event, topics_by_node

KINDS = ("shadow", "naive", "rebuild", "tree")


def made(overlay: Overlay, kind: str, seed: int = 0) -> Maintainer:
    if kind == "tree":
        return TreeMaintainer(topics_by_node(overlay.interest), links_by_name(overlay), Constraints())
    return maintainer(overlay, Settings(kind, seed=seed, prune=seed % 2 == 1))


def demand(interest: Interest) -> Demand:
    return Demand.of_topics(topics_by_node(interest))


def after(overlay: Overlay, dice: random.Random, events: int) -> Interest:
    """An interest some events later."""
    topics = topics_of(overlay.interest)
    for number in range(events):
        event = random_event(dice, number, topics)
        wanted = topics.pop(event.node, set()).difference(event.remove).union(event.add)
        if event.kind != LEAVE:
            topics[event.node] = wanted
    return Interest.from_pairs([(node, topic) for node in topics for topic in topics[node]])


@pytest.mark.parametrize("kind", KINDS)
def test_to_become_an_interest_is_to_take_the_events_that_lead_there(kind: str) -> None:
    for seed in range(times(12)):
        dice = random.Random(f"become {kind} {seed}")
        overlay = random_overlay(dice, "low-oda")
        interest = after(overlay, dice, seed % 4)
        events = demand(overlay.interest).events_to(demand(interest))
        one, other = made(overlay, kind, seed), made(overlay, kind, seed)
        expected = other.apply(events[0]) if len(events) == 1 else other.apply_jointly(events)[0]
        assert one.become(interest) == expected, seed
        assert one.interest() == interest
        assert links_of(one.overlay()) == links_of(other.overlay())
        assert one.become(interest) == Change((), (), 0)


def test_an_interest_without_nodes_or_topics_of_before() -> None:
    found = maintainer(design(Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "u")]), "gm"))
    found.become(Interest.from_pairs([("x", "v"), ("b", "v")]))
    assert list(links_by_name(found.overlay())) == [("b", "x")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_thawed_maintainer_goes_on_as_the_frozen_one(kind: str) -> None:
    for seed in range(times(6)):
        dice = random.Random(f"freeze {kind} {seed}")
        overlay = random_overlay(dice, "low-oda")
        found = made(overlay, kind, seed)
        topics = topics_of(overlay.interest)
        for number in range(30):
            event = random_event(dice, number, topics)
            wanted = topics.pop(event.node, set()).difference(event.remove).union(event.add)
            if event.kind != LEAVE:
                topics[event.node] = wanted
            if number == 10:
                frozen = json.loads(json.dumps(found.freeze()))
                settings = None if kind == "tree" else Settings(kind, seed=seed, prune=seed % 2 == 1)
                thawed = thaw(frozen, settings)
                assert thawed.freeze() == found.freeze()
            change = found.apply(event)
            assert number < 10 or thawed.apply(event) == change, (seed, number)


def worn(kind: str) -> tuple[Maintainer, Overlay]:
    """A maintainer after many events, and a fresh design."""
    dice = random.Random(f"worn {kind}")
    overlay = random_overlay(dice, "gm", most_nodes=30, most_topics=12)
    found = made(overlay, kind)
    topics = topics_of(overlay.interest)
    for number in range(200):
        event = random_event(dice, number, topics)
        wanted = topics.pop(event.node, set()).difference(event.remove).union(event.add)
        if event.kind != LEAVE:
            topics[event.node] = wanted
        found.apply(event)
    return found, design(found.interest(), "tree" if kind == "tree" else "low-oda")


@pytest.mark.parametrize("kind", ["shadow", "tree"])
def test_tidied_links_are_nearer_to_a_fresh_design(kind: str) -> None:
    found, fresh = worn(kind)
    before = links_by_name(found.overlay())
    steps = found.tidying(fresh, 40)
    assert 0 < len(steps) <= 40
    change = found.tidy(fresh, 40)
    after = links_by_name(found.overlay())
    assert set(after) == set(before).union(change.added).difference(change.removed)
    assert len(change.added) + len(change.removed) <= 40
    again, _ = worn(kind)
    again.relink([(action, list(link)) for action, link in steps])
    assert again.freeze() == found.freeze(), "steps that were kept lead to the same"
    if kind == "tree":
        assert carried_topics(found.overlay()) < carried_topics(worn(kind)[0].overlay())
    else:
        assert len(after) < len(before)
        assert found.support == 1.0
        found.apply(Event(999, LEAVE, found.interest().node_names[0]))
        assert found.support == 1.0


def test_nothing_to_tidy() -> None:
    overlay = design(Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")]), "low-oda")
    assert maintainer(overlay).tidying(overlay, 10) == []
    with pytest.raises(InputError, match="rebuild designs anew with every event"):
        maintainer(overlay, Settings("rebuild")).tidying(overlay, 10)


def test_links_over_an_interest_with_roles() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")])
    found = maintainer(design(interest, "gm"))
    assert found.overlay(interest).interest is interest
    assert list(links_of(found.overlay(interest))) == list(links_of(found.overlay()))
