"""What holds for every maintainer, after every event; and what each refuses."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from effort import times
from reference import greedy
from reference.fleets import STARTS, links_of, random_event, random_overlay, topics_of
from reference.maintainers import broken_topics, pieces
from topicloom.churn import EventRefused, Maintainer, Settings, maintainer
from topicloom.designers import design
from topicloom.model import InputError, Interest, Overlay
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event

ALL = {
    "primal-dual": Settings(),
    "primal-dual, pruning": Settings(prune=True, coverage=2),
    "greedy": Settings(backups="greedy", coverage=1),
    "greedy, pruning": Settings(backups="greedy", prune=True),
    "neighbours alone": Settings(coverage=0, rule="gm"),
    "naive": Settings("naive"),
    "naive, pruning": Settings("naive", prune=True, rho=1),
    "rebuild": Settings("rebuild"),
}
every = pytest.mark.parametrize("settings", ALL.values(), ids=ALL)
SMALL = Interest.from_pairs([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "alone")])


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message


def small(settings: Settings) -> Maintainer:
    return maintainer(design(SMALL, "low-oda"), settings)


def traces(settings: Settings, seeds: int, events: int) -> Iterator[tuple[Maintainer, Event, str]]:
    """Maintainers of random fleets, each with what happens next."""
    for seed in range(times(seeds)):
        dice = random.Random(f"{settings} {seed}")
        found = maintainer(random_overlay(dice, STARTS[seed % len(STARTS)]), settings)
        for number in range(events):
            event = random_event(dice, number, topics_of(found.interest()))
            yield found, event, f"{seed=} {event}"


def wanted_after(topics: dict[str, set[str]], event: Event) -> dict[str, set[str]]:
    if event.kind == LEAVE:
        return {node: wanted for node, wanted in topics.items() if node != event.node}
    before = topics.get(event.node, set())
    return {**topics, event.node: before - set(event.remove) | set(event.add)}


@every
def test_every_topic_is_connected_after_every_event(settings: Settings) -> None:
    for found, event, where in traces(settings, seeds=8, events=40):
        expected = wanted_after(topics_of(found.interest()), event)
        found.apply(event)
        overlay = found.overlay()
        assert topics_of(overlay.interest) == expected, where
        assert broken_topics(expected, links_of(overlay)) == [], where


@pytest.mark.slow
@pytest.mark.parametrize("settings", [Settings(), Settings(prune=True), Settings("naive", prune=True)])
def test_every_topic_is_connected_throughout_a_long_trace(settings: Settings) -> None:
    dice = random.Random(11)
    found = maintainer(random_overlay(dice, "low-oda", most_nodes=150), settings)
    topics = topics_of(found.interest())
    for number in range(400):
        event = random_event(dice, number, topics)
        topics = wanted_after(topics, event)
        found.apply(event)
        assert broken_topics(topics, links_of(found.overlay())) == [], event


@pytest.mark.parametrize("settings", [Settings("naive"), Settings("naive", prune=True), Settings("rebuild")])
def test_whoever_keeps_no_backups_can_go_on_from_an_overlay(settings: Settings) -> None:
    """A new maintainer has other numbers for nodes and topics, which must not matter."""
    going_on: Maintainer | None = None
    for found, event, where in traces(settings, seeds=6, events=24):
        if event.id % 6 == 0:
            going_on = maintainer(found.overlay(), settings)
        assert going_on is not None
        assert going_on.apply(event) == found.apply(event), where
        assert links_of(going_on.overlay()) == links_of(found.overlay()), where


@every
def test_changes_tell_what_happens_to_the_links(settings: Settings) -> None:
    for found, event, where in traces(settings, seeds=4, events=30):
        before = links_of(found.overlay())
        change = found.apply(event)
        after = links_of(found.overlay())
        assert set(change.added) == after.keys() - before.keys(), where
        assert set(change.removed) == before.keys() - after.keys(), where
        assert list(change.removed) == sorted(change.removed), where
        assert list(change.added) == [link for link in after if link in change.added], where
        assert all(link.source < link.target for link in change.added + change.removed), where
        if settings.method != "rebuild":
            # Links that stay keep their places and contributions; new ones come last.
            assert list(after.items())[: len(after) - len(change.added)] == [
                (link, contribution) for link, contribution in before.items() if link in after
            ], where


@every
def test_counts_are_those_of_the_overlay(settings: Settings) -> None:
    for found, event, where in traces(settings, seeds=2, events=30):
        found.apply(event)
        counts = found.node_count, found.link_count, found.max_degree
        overlay = found.overlay()
        assert counts == (overlay.interest.node_count, len(overlay), overlay.degrees.max(initial=0)), where
        wanted = topics_of(found.interest())
        assert all(found.has(node) and found.topics_of(node) == sorted(wanted[node]) for node in wanted), where
        assert found.has(event.node) == (event.kind != LEAVE), where


@pytest.mark.parametrize("settings", [Settings(), Settings(backups="greedy"), Settings("naive")])
def test_contributions_add_up_to_the_pieces_that_an_event_left(settings: Settings) -> None:
    for found, event, where in traces(settings, seeds=6, events=30):
        expected = wanted_after(topics_of(found.interest()), event)
        kept = [link for link in links_of(found.overlay()) if event.kind != LEAVE or event.node not in link]
        left = sum(len(pieces(expected, kept, topic)) - 1 for topic in set().union(*expected.values()))
        change = found.apply(event)
        after = links_of(found.overlay())
        assert sum(after[link] for link in change.added) == left, where
        assert all(after[link] > 0 for link in change.added), where


def test_rebuilding_is_low_oda_from_scratch() -> None:
    for seed in range(times(10)):
        dice = random.Random(f"rebuild {seed}")
        rho = dice.choice([1, 2, 3])
        found = maintainer(random_overlay(dice, "gm", most_nodes=9, most_topics=6), Settings("rebuild", rho=rho))
        for number in range(12):
            change = found.apply(random_event(dice, number, topics_of(found.interest())))
            names = found.interest().node_names
            expected = {(names[u], names[v]): gain for u, v, gain in greedy.low_oda(found.interest(), rho)}
            assert list(links_of(found.overlay()).items()) == list(expected.items()), f"{seed=} {number=}"
            assert change.shadow == len(names)


@pytest.mark.slow
@every
def test_leaving_and_coming_back(settings: Settings) -> None:
    for seed in range(6):
        dice = random.Random(seed)
        overlay = random_overlay(dice, STARTS[seed % len(STARTS)])
        found = maintainer(overlay, settings)
        for node, wanted in topics_of(overlay.interest).items():
            found.leave(node)
            found.join(node, wanted)
            assert broken_topics(topics_of(found.interest()), links_of(found.overlay())) == [], f"{seed=} {node}"
        assert found.interest() == overlay.interest


@every
def test_what_is_maintained_can_be_written_and_read(settings: Settings, tmp_path: Path) -> None:
    for found, event, where in traces(settings, seeds=2, events=12):
        found.apply(event)
        interest, overlay = found.interest(), found.overlay()
        pairs = [(node, topic) for node, wanted in topics_of(interest).items() for topic in wanted]
        assert interest == overlay.interest == Interest.from_pairs(pairs), where
        assert interest.fingerprint == Interest.from_pairs(pairs).fingerprint, where
        interest.write(tmp_path / "interest.parquet")
        overlay.write(tmp_path / "overlay.parquet")
        read = Overlay.read(tmp_path / "overlay.parquet", Interest.read(tmp_path / "interest.parquet"))
        assert read.to_arrow().equals(overlay.to_arrow(), check_metadata=True), where
        assert read.provenance == overlay.provenance, where


@every
def test_the_same_events_give_the_same_bytes(settings: Settings, tmp_path: Path) -> None:
    dice = random.Random(3)
    overlay = random_overlay(dice, "low-oda")
    first, second = maintainer(overlay, settings), maintainer(overlay, settings)
    for number in range(30):
        event = random_event(dice, number, topics_of(first.interest()))
        assert first.apply(event) == second.apply(event)
    first.overlay().write(tmp_path / "first.parquet")
    second.overlay().write(tmp_path / "second.parquet")
    assert (tmp_path / "first.parquet").read_bytes() == (tmp_path / "second.parquet").read_bytes()


@every
def test_events_are_calls(settings: Settings) -> None:
    one, other = small(settings), small(settings)
    assert one.apply(Event(1, JOIN, "e", ("x", "z"))) == other.join("e", iter(["z", "x", "z"]))
    assert one.apply(Event(2, CHANGE, "c", ("x",), ("y",))) == other.change("c", iter(["x"]), ["y", "y"])
    assert one.apply(Event(3, LEAVE, "a")) == other.leave("a")
    assert links_of(one.overlay()) == links_of(other.overlay())


@every
def test_a_topic_with_one_subscriber_needs_nothing(settings: Settings) -> None:
    found = small(settings)
    changes = [
        found.join("e", ["only e"]),
        found.change("d", ["only d"], ["alone"]),
        found.change("e", add=["another"]),
        found.leave("d"),
    ]
    assert all(change.added == change.removed == () for change in changes)
    if settings.method == "shadow":
        assert [change.shadow for change in changes] == [1, 1, 1, 0]


@every
def test_a_fleet_may_vanish_and_come_again(settings: Settings) -> None:
    found = small(settings)
    for node in "cabd":
        found.leave(node)
    assert (found.node_count, found.link_count, found.max_degree) == (0, 0, 0)
    assert found.interest() == Interest.from_pairs([])
    assert len(found.overlay()) == 0
    assert found.join("z", ["x"]).added == ()
    assert found.join("a", ["x"]).added == (("a", "z"),)
    assert links_of(found.overlay()) == {("a", "z"): 1}


def test_what_one_was_made_with() -> None:
    shadow = small(Settings(coverage=2, seed=7))
    assert shadow.method == "shadow"
    assert dict(shadow.parameters) == {"rho": 3.0, "backups": "primal-dual", "coverage": 2, "prune": False, "seed": 7}
    assert small(Settings(backups="greedy")).parameters["backups"] == "greedy"
    naive = small(Settings("naive", rho=1, prune=True))
    assert dict(naive.parameters) == {"rho": 1.0, "prune": True, "seed": 0}
    assert dict(small(Settings("rebuild", rho=2)).parameters) == {"rho": 2.0}
    assert dict(small(Settings("rebuild", rule="gm")).parameters) == {"rule": "gm"}
    assert small(Settings(rule="minmax-oda", coverage=0)).parameters["rule"] == "minmax-oda"
    provenance = shadow.overlay().provenance
    assert provenance is not None
    assert (provenance.algorithm, provenance.seed, provenance.parameters["coverage"]) == ("shadow", 7, 2)


class TestRefusedEvents:
    CASES: tuple[tuple[Callable[[Maintainer], object], str], ...] = (
        (lambda m: m.join("a", ["x"]), "join of 'a', which is there already"),
        (lambda m: m.join("a", []), "join of 'a', which is there already"),
        (lambda m: m.join("new", []), "join of 'new', which wants no topic"),
        (lambda m: m.leave("new"), "leave of 'new', which is not there"),
        (lambda m: m.change("new", ["x"]), "change of 'new', which is not there"),
        (lambda m: m.change("a", ["z", "y"]), "change of 'a': it wants 'y' already"),
        (lambda m: m.change("c", ["z"], ["y", "x"]), "change of 'c': it does not want 'x', which it is to give up"),
        (lambda m: m.change("a"), "change of 'a', in which nothing changes"),
        (lambda m: m.change("a", [], ["x", "y"]), "change of 'a': it would want no topic; let it leave instead"),
        (lambda m: m.change("c", ["y"], ["y"]), "change of 'c': it wants 'y' already"),
        (
            lambda m: m.change("c", ["x"], ["x"]),
            "change of 'c': it does not want 'x', which it is to give up",
        ),
        (lambda m: m.apply(Event(3, LEAVE, "B")), "leave of 'B', which is not there"),
        (lambda m: m.apply(Event(3, JOIN, "b", ("x",))), "join of 'b', which is there already"),
        (lambda m: m.apply(Event(3, CHANGE, "b")), "change of 'b', in which nothing changes"),
    )

    @every
    @pytest.mark.parametrize(("call", "message"), CASES, ids=[message for _, message in CASES])
    def test_change_nothing(self, settings: Settings, call: Callable[[Maintainer], object], message: str) -> None:
        found, other = small(settings), small(settings)
        before = found.overlay().to_arrow()
        with pytest.raises(EventRefused) as caught:
            call(found)
        assert str(caught.value) == message
        assert found.overlay().to_arrow().equals(before, check_metadata=True)
        assert found.interest() == other.interest()
        # Nothing hidden has changed either: what follows is what would have followed.
        for event in (Event(1, LEAVE, "a"), Event(2, JOIN, "new", ("x", "y", "alone")), Event(3, LEAVE, "b")):
            assert found.apply(event) == other.apply(event)
        assert links_of(found.overlay()) == links_of(other.overlay())

    @every
    def test_in_the_middle_of_a_trace(self, settings: Settings) -> None:
        dice = random.Random(str(settings))
        overlay = random_overlay(dice, "low-oda", most_nodes=12)
        found, other = maintainer(overlay, settings), maintainer(overlay, settings)
        for number in range(25):
            topics = topics_of(other.interest())
            there = dice.choice(sorted(topics))
            for call in (
                lambda node=there: found.join(node, ["q"]),
                lambda: found.leave("nobody"),
                lambda node=there, wanted=topics[there]: found.change(node, ["q"], [*wanted, "nothing"]),
            ):
                with pytest.raises(EventRefused):
                    call()
            event = random_event(dice, number, topics)
            assert found.apply(event) == other.apply(event)
        assert found.overlay().to_arrow().equals(other.overlay().to_arrow(), check_metadata=True)


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"method": "shadows"}, "method must be shadow, naive or rebuild, not 'shadows'"),
            ({"method": ""}, "method must be shadow, naive or rebuild, not ''"),
            (
                {"backups": "primal"},
                "backups must be primal-dual, primal-dual-carried, greedy or greedy-plain, not 'primal'",
            ),
            ({"coverage": -1}, "coverage must be a whole number from 0 to 1000, not -1"),
            ({"coverage": 1.5}, "coverage must be a whole number from 0 to 1000, not 1.5"),
            ({"coverage": True}, "coverage must be a whole number from 0 to 1000, not True"),
            ({"rule": "random"}, "rule must be low-oda, gm or minmax-oda, not 'random'"),
            ({"rho": 0.99}, "rho must be a number, 1 or more, not 0.99"),
            ({"rho": float("nan")}, "rho must be a number, 1 or more, not nan"),
            ({"rho": float("inf")}, "rho must be a number, 1 or more, not inf"),
            ({"rho": "3"}, "rho must be a number, 1 or more, not '3'"),
            ({"prune": 1}, "prune must be True or False, not 1"),
            *(
                ({"seed": seed}, f"seed must be a whole number from 0 to {2**64 - 1}, not {seed}")
                for seed in (-1, 2**64, 1.5, False)
            ),
        ],
    )
    def test_refusals(self, given: dict[str, Any], message: str) -> None:
        assert refusal(lambda: Settings(**given)) == message

    def test_bounds_are_within(self) -> None:
        for seed in (0, 2**64 - 1):
            assert small(Settings(coverage=1, rho=1, seed=seed)).join("e", ["x"]).added

    def test_defaults(self) -> None:
        assert maintainer(design(SMALL, "gm")).parameters == small(Settings("shadow", "primal-dual", 3, 3.0)).parameters


class TestConnected:
    ADVICE = "give one that does, such as the designer low-oda makes"

    @every
    def test_an_overlay_in_pieces_is_refused(self, settings: Settings) -> None:
        overlay = Overlay.from_links(SMALL, [("a", "b"), ("c", "d")])
        message = f"the overlay does not connect all nodes of topic 'y'; {self.ADVICE}"
        assert refusal(lambda: maintainer(overlay, settings)) == message

    def test_others_are_counted(self) -> None:
        message = f"the overlay does not connect all nodes of topic 'x' and 1 more; {self.ADVICE}"
        assert refusal(lambda: maintainer(Overlay.from_links(SMALL, []))) == message

    def test_a_way_through_others_does_not_count(self) -> None:
        interest = Interest.from_pairs([("a", "x"), ("b", "z"), ("c", "x")])
        overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c")])
        assert refusal(lambda: maintainer(overlay)).startswith("the overlay does not connect all nodes of topic 'x';")

    def test_agrees_with_a_slow_check(self) -> None:
        for seed in range(150):
            dice = random.Random(seed)
            interest = random_overlay(dice, "gm", most_nodes=7, most_topics=4).interest
            links = [link for link in combinations(interest.node_names, 2) if dice.random() < seed % 10 / 10]
            broken = broken_topics(topics_of(interest), links)
            overlay = Overlay.from_links(interest, links)
            if broken:
                others = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
                expected = f"the overlay does not connect all nodes of topic '{broken[0]}'{others}; {self.ADVICE}"
                assert refusal(partial(maintainer, overlay)) == expected, f"{seed=}"
            else:
                assert maintainer(overlay).link_count == len(links), f"{seed=}"


class TestNames:
    @pytest.mark.parametrize(
        ("node", "topics", "message"),
        [
            ("", ["x"], "join of '', which is no name"),
            ("new", "xy", "topics are a list of names, not the text 'xy'"),
            ("new", ["x", ""], "topic '' is no name"),
            ("new", [5], "topic 5 is no name"),
            ("half \ud800", ["x"], "join of 'half \\ud800', which is no name"),
        ],
    )
    def test_what_is_no_name_changes_nothing(self, node: str, topics: list[str], message: str) -> None:
        interest = Interest.from_pairs([("a", "x"), ("b", "x")])
        maintained = maintainer(design(interest, "low-oda"))
        with pytest.raises(EventRefused) as caught:
            maintained.join(node, topics)
        assert str(caught.value) == message
        assert maintained.interest() == interest
