"""Events that are mended jointly: refusals, what they come to, and states that keep them; twins are elsewhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from reference.fleets import links_of, random_event, random_overlay, topics_of
from topicloom.churn import Change, Settings, maintainer
from topicloom.churn.maintainer import broken_topics
from topicloom.churn.state import open_state
from topicloom.designers import design
from topicloom.model import Interest
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event

SMALL = Interest.from_pairs([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "z")])
every = pytest.mark.parametrize("method", ["shadow", "naive", "rebuild"])


@every
def test_those_that_cannot_have_happened_are_refused_and_the_others_happen(method: str) -> None:
    found = maintainer(design(SMALL, "gm"), Settings(method))
    events = [
        Event(1, JOIN, "a", ("x",)),
        Event(2, JOIN, "e", ("x", "z")),
        Event(3, LEAVE, "nobody"),
        Event(4, LEAVE, "b"),
        Event(5, CHANGE, "b", ("z",)),
        Event(6, CHANGE, "e", ("y",), ("x",)),
    ]
    _, refused = found.apply_jointly(events)
    assert refused == {
        1: "join of 'a', which is there already",
        3: "leave of 'nobody', which is not there",
        5: "change of 'b', which is not there",
    }
    assert topics_of(found.interest()) == {"a": {"x", "y"}, "c": {"y"}, "d": {"z"}, "e": {"y", "z"}}
    assert broken_topics(found.overlay()) == []


@every
def test_what_comes_to_nothing_changes_nothing(method: str) -> None:
    found = maintainer(design(SMALL, "gm"), Settings(method))
    before = links_of(found.overlay())
    events = [Event(1, JOIN, "e", ("x",)), Event(2, CHANGE, "a", ("z",)), Event(3, CHANGE, "a", (), ("z",))]
    assert found.apply_jointly([*events, Event(4, LEAVE, "e")]) == (Change((), (), 0), {})
    assert found.apply_jointly([]) == (Change((), (), 0), {})
    assert links_of(found.overlay()) == before


def test_a_rebuild_is_one_design_for_all() -> None:
    found = maintainer(design(SMALL, "low-oda"), Settings("rebuild"))
    found.apply_jointly([Event(1, LEAVE, "d"), Event(2, JOIN, "e", ("y",))])
    assert links_of(found.overlay()) == links_of(design(found.interest(), "low-oda"))


@every
def test_a_state_that_ended_anywhere_goes_on_as_if_nothing_had_happened(tmp_path: Path, method: str) -> None:
    dice = random.Random(7)
    overlay = random_overlay(dice, "gm")
    settings = Settings(method, seed=3)
    topics = topics_of(overlay.interest)
    batches = []
    for batch in range(4):
        events = []
        for number in range(5):
            event = random_event(dice, 10 * batch + number, topics)
            events.append(event)
            wanted = topics.pop(event.node, set()).difference(event.remove).union(event.add)
            if event.kind != LEAVE:
                topics[event.node] = wanted
        batches.append(events)
    with open_state(overlay, settings) as state:
        expected = [outcome for events in batches for outcome in state.take_jointly(events)]
        links = list(links_of(state.maintainer.overlay()).items())
    assert [outcome.change for outcome in expected if outcome.change and outcome.change.added]
    for end in range(5):
        folder = tmp_path / str(end)
        with open_state(overlay, settings, folder) as state:
            for events in batches[:end]:
                state.take_jointly(events)
        with open_state(overlay, settings, folder) as state:
            again = list(state.begin())
            again += [outcome for events in batches[end:] for outcome in state.take_jointly(events)]
            assert [(o.event.id, o.change, o.error) for o in again] == [
                (o.event.id, o.change, o.error) for o in expected
            ]
            assert list(links_of(state.maintainer.overlay()).items()) == links
            assert state.last_event == batches[-1][-1].id


def test_a_batch_of_one_is_an_event(tmp_path: Path) -> None:
    overlay = design(SMALL, "gm")
    with open_state(overlay, Settings()) as jointly, open_state(overlay, Settings()) as alone:
        event = Event(1, LEAVE, "b")
        assert jointly.take_jointly([event])[0].change == alone.take(event).change
        assert jointly.take_jointly([]) == []
