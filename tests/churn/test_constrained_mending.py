"""Maintainers within constraints: the links of their slow twins after every event, and never one not allowed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from test_mending_twins import let_happen, wanted_after

from effort import times
from reference.constrained import Rules, random_rules
from reference.fleets import links_of, random_event, topics_of
from reference.maintainers import MaintainerTwin, broken_topics
from topicloom.churn import Settings, maintainer
from topicloom.churn.state import open_state
from topicloom.designers import design
from topicloom.metrics import measure
from topicloom.model import Constraints, InputError, Interest, NodeRule, Overlay, Prices
from topicloom.model.events import JOIN, Event

KINDS = ("primal-dual", "greedy", "naive", "rebuild")


def constrained_fleet(dice: random.Random) -> tuple[Overlay, Rules]:
    """A connected overlay within rules, which also speak of nodes that may join."""
    while True:
        nodes = [f"b{i:02}" for i in range(dice.randint(3, 9))]
        pairs = [(node, topic) for node in nodes for topic in "uvwxyz" if dice.random() < 0.45]
        interest = Interest.from_pairs(pairs or [("b00", "u")])
        rules = random_rules([f"b{i:02}" for i in range(12)], dice)
        overlay = design(interest, "low-oda", constraints=rules.constraints())
        if not broken_topics(topics_of(interest), links_of(overlay)):
            return overlay, rules


def event_of_fleet(dice: random.Random, number: int, topics: Mapping[str, set[str]]) -> Event:
    """A random event; whoever joins is mostly one that the rules speak of."""
    event = random_event(dice, number, topics)
    away = [name for name in (f"b{i:02}" for i in range(12)) if name not in topics]
    return replace(event, node=dice.choice(away)) if event.kind == JOIN and away and dice.random() < 0.8 else event


@pytest.mark.slow
@pytest.mark.parametrize("prune", [False, True], ids=["keeping", "pruning"])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_its_twin_and_breaks_nothing(kind: str, prune: bool) -> None:
    for seed in range(times(15)):
        dice = random.Random(f"constrained {kind} {prune} {seed}")
        overlay, rules = constrained_fleet(dice)
        methods = {"naive": "naive", "rebuild": "rebuild"}
        settings = Settings(
            methods.get(kind, "shadow"), kind if kind not in methods else "greedy", 2, 2.0, prune, seed, "low-oda"
        )
        found = maintainer(overlay, settings, rules.constraints())
        twin = MaintainerTwin(
            topics_of(overlay.interest),
            links_of(overlay),
            kind,
            coverage=2,
            rho=2.0,
            prune=prune,
            seed=seed,
            rules=rules,
        )
        for number in range(25):
            event = event_of_fleet(dice, number, twin.topics)
            at = f"seed {seed}, {event}"
            change = found.apply(event)
            expected = let_happen(twin, event)
            links = links_of(found.overlay())
            assert not rules.broken(links), at
            there = {pair for pair in rules.keep + rules.require if set(pair) <= twin.topics.keys()}
            assert there <= links.keys(), at
            if number % 8 == 0:
                assert found.support == pytest.approx(measure(found.interest(), found.overlay()).support), at
            if kind != "rebuild":
                assert (list(change.added), list(change.removed), change.shadow) == expected, at
                assert list(links.items()) == list(twin.links.items()), at


@pytest.mark.parametrize("kind", ["greedy", "naive"])
def test_events_mended_jointly_equal_their_twin_and_break_nothing(kind: str) -> None:
    for seed in range(times(10)):
        dice = random.Random(f"jointly {kind} {seed}")
        overlay, rules = constrained_fleet(dice)
        naive = kind == "naive"
        settings = Settings("naive" if naive else "shadow", "greedy", 2, 2.0, bool(seed % 2), seed, "low-oda")
        found = maintainer(overlay, settings, rules.constraints())
        given = {"coverage": 2, "rho": 2.0, "prune": bool(seed % 2), "seed": seed, "rules": rules}
        twin = MaintainerTwin(topics_of(overlay.interest), links_of(overlay), kind, **given)
        number = 0
        for _ in range(8):
            events: list[Event] = []
            before = {node: set(topics) for node, topics in twin.topics.items()}
            after = before
            for _ in range(dice.randint(1, 4)):
                events.append(event_of_fleet(dice, number, after))
                after = wanted_after(after, events[-1:])
                number += 1
            concerned = sorted(node for node in before.keys() | after.keys() if before.get(node) != after.get(node))
            expected = twin.jointly({node: after.get(node) for node in concerned}) if concerned else ([], [], 0)
            change, _ = found.apply_jointly(events)
            at = f"seed {seed}, {events}"
            assert (list(change.added), list(change.removed), change.shadow) == expected, at
            links = links_of(found.overlay())
            assert list(links.items()) == list(twin.links.items()), at
            assert not rules.broken(links), at
            there = {pair for pair in rules.keep + rules.require if set(pair) <= twin.topics.keys()}
            assert there <= links.keys(), at


def test_what_a_leave_frees_mends_an_earlier_topic() -> None:
    """a has room for one link; when it loses its neighbour, the topic that was left in pieces is joined."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    overlay = Overlay.from_links(interest, [("a", "b")])
    kept = maintainer(overlay, constraints=Constraints({"a": NodeRule(1), "b": NodeRule(1)}))
    assert kept.join("c", ["x"]).added == ()
    assert kept.support == 0.5
    assert kept.leave("b").added == (("a", "c"),)
    assert kept.support == 1.0


@pytest.mark.parametrize("method", ["shadow", "rebuild"])
def test_constraints_survive_in_a_state(method: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("state") / "state"
    dice = random.Random(1)
    overlay, rules = constrained_fleet(dice)
    settings = Settings(method)
    topics = topics_of(overlay.interest)
    events = [random_event(dice, number, topics) for number in range(1)]
    with open_state(overlay, settings, folder, constraints=rules.constraints()) as state:
        list(state.begin())
        for event in events:
            state.take(event)
        state.checkpoint()
        expected = links_of(state.maintainer.overlay())
    with open_state(overlay, settings, folder, constraints=rules.constraints()) as state:
        list(state.begin())
        assert links_of(state.maintainer.overlay()) == expected
    with (
        pytest.raises(InputError, match="was begun with another fleet; give the same, or another folder"),
        open_state(overlay, settings, folder),
    ):
        pass


def test_an_overlay_that_breaks_constraints_is_refused() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match=r"the overlay breaks a constraint: 'b' has 2 links \(max_links 1\)"):
        maintainer(overlay, constraints=Constraints({"b": NodeRule(1)}))
    with pytest.raises(InputError, match="the overlay lacks the link 'a' - 'c', which is to be kept"):
        maintainer(overlay, constraints=Constraints(keep=(("a", "c"),)))


@pytest.mark.parametrize("method", ["shadow", "naive", "rebuild"])
def test_what_constraints_left_in_pieces_is_joined_once_there_is_room(method: str) -> None:
    interest = Interest.from_pairs([("hub", "t"), ("a", "t"), ("b", "t"), ("c", "t"), ("c", "u"), ("d", "u")])
    constraints = Constraints(
        {"hub": NodeRule(max_links=2)}, forbid=(("a", "b"), ("a", "c"), ("b", "c")), keep=(("a", "hub"),)
    )
    overlay = design(interest, "gm", constraints=constraints)
    assert broken_topics(topics_of(interest), links_of(overlay)) == ["t"]
    with pytest.raises(InputError, match="does not connect all nodes of topic 't'"):
        maintainer(overlay, Settings(method))
    found = maintainer(overlay, Settings(method), constraints)
    found.join("e", ["u"])
    assert broken_topics(topics_of(found.interest()), links_of(found.overlay())) == ["t"]
    outside = next(
        name for name in "bc" if ("hub" not in {end for link in links_of(overlay) if name in link for end in link})
    )
    found.leave("b" if outside == "c" else "c")
    assert ("hub", outside) in {tuple(sorted(link, reverse=True)) for link in links_of(found.overlay())}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["primal-dual", "greedy", "naive"])
@pytest.mark.parametrize("rule", ["low-oda", "gm"])
def test_of_equally_good_links_the_cheaper_is_added(kind: str, rule: str) -> None:
    names = [f"b{i:02}" for i in range(12)]
    other = 0
    for seed in range(15):
        dice = random.Random(f"priced {kind} {rule} {seed}")
        overlay, rules = constrained_fleet(dice)
        region = {name: dice.choice("xyz") for name in names}
        between = {(a, b): dice.choice([1, 2, 5]) for a in "xyz" for b in "xyz" if a <= b}
        price = {
            (a, b): between[min(region[a], region[b]), max(region[a], region[b])] for a, b in combinations(names, 2)
        }
        settings = Settings("naive" if kind == "naive" else "shadow", kind if kind != "naive" else "greedy", rule=rule)
        settings = replace(settings, coverage=2, rho=2.0, prune=False, seed=seed)
        prices = Prices(between, region) if seed % 2 else Prices({**price, ("*", "*"): 1})
        found = maintainer(overlay, settings, rules.constraints(), prices)
        blind = maintainer(overlay, settings, rules.constraints())
        given = {"coverage": 2, "rho": 2.0, "rule": rule, "prune": False, "seed": seed, "rules": rules, "price": price}
        twin = MaintainerTwin(topics_of(overlay.interest), links_of(overlay), kind, **given)
        for number in range(20):
            event = event_of_fleet(dice, number, twin.topics)
            if event.kind == JOIN and event.node not in names:
                continue
            change = found.apply(event)
            assert (list(change.added), list(change.removed), change.shadow) == let_happen(twin, event), (
                f"{seed}, {event}"
            )
            other += blind.apply(event).added != change.added
    assert other


def test_prices_are_part_of_a_state(tmp_path: Path) -> None:
    overlay, _ = constrained_fleet(random.Random(1))
    prices = Prices({("*", "*"): 3, ("b00", "b01"): 1})
    with open_state(overlay, Settings(), tmp_path / "state", prices=prices) as state:
        state.checkpoint()
    with open_state(overlay, Settings(), tmp_path / "state", prices=prices) as state:
        assert not list(state.begin())
    with (
        pytest.raises(InputError, match="was begun with other prices; give the same, or another folder"),
        open_state(overlay, Settings(), tmp_path / "state"),
    ):
        pass
