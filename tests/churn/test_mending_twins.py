"""`shadow` and `naive` against their slow twins: after every event the same links in the same order, and backups."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from effort import times
from reference.fleets import STARTS, links_of, random_event, random_join, random_overlay, topics_of
from reference.maintainers import Change, MaintainerTwin, broken_topics
from topicloom.churn import BACKUPS, Settings, live_overlay, maintainer
from topicloom.churn.settings import RULES
from topicloom.churn.shadow import MendingMaintainer
from topicloom.kernels import bit_planes
from topicloom.model import Overlay
from topicloom.model.events import JOIN, LEAVE, Event

KINDS = (*BACKUPS, "naive")


@pytest.fixture(autouse=True)
def no_spare_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays have the reserved capacity and no more: then a check of bounds finds what was not reserved."""
    monkeypatch.setattr(live_overlay, "_AT_ONCE", 0)


def settings_of(kind: str, coverage: int, rho: float, prune: bool, seed: int) -> Settings:
    if kind == "naive":
        return Settings("naive", rule=RULES[seed % 3], rho=rho, prune=prune, seed=seed)
    return Settings("shadow", kind, coverage, rho, prune, seed, RULES[seed % 3])


def both(overlay: Overlay, kind: str, settings: Settings) -> tuple[MendingMaintainer, MaintainerTwin]:
    found = maintainer(overlay, settings)
    assert isinstance(found, MendingMaintainer)
    twin = MaintainerTwin(
        topics_of(overlay.interest),
        links_of(found.overlay()),
        kind,
        coverage=settings.coverage,
        rho=settings.rho,
        rule=settings.rule,
        prune=settings.prune,
        seed=settings.seed,
    )
    return found, twin


def let_happen(twin: MaintainerTwin, event: Event) -> Change:
    if event.kind == JOIN:
        return twin.join(event.node, set(event.add))
    if event.kind == LEAVE:
        return twin.leave(event.node)
    return twin.change(event.node, set(event.add), set(event.remove))


def assert_alike(found: MendingMaintainer, twin: MaintainerTwin, where: str) -> None:
    overlay = found.overlay()
    assert list(links_of(overlay).items()) == list(twin.links.items()), where
    assert topics_of(overlay.interest) == twin.topics, where
    assert found.backups() == {node: sorted(backups) for node, backups in sorted(twin.backups.items())}, where
    assert found.primaries() == dict(sorted(twin.primaries().items())), where
    assert (found.node_count, found.link_count) == (len(twin.topics), len(twin.links)), where
    assert found.max_degree == overlay.degrees.max(initial=0), where
    fleet, numbers = found.live.population, found.live.numbers
    ranks = {numbers[node]: rank for rank, node in enumerate(sorted(twin.topics))}
    assert fleet.rank.tolist() == [ranks.get(number, -1) for number in range(len(fleet.rank))], where
    counts = Counter(overlay.degrees.tolist())
    assert fleet.degrees[:-1].tolist() == [counts[degree] for degree in range(len(fleet.degrees) - 1)], where


def follow(found: MendingMaintainer, twin: MaintainerTwin, dice: random.Random, events: int, where: str) -> None:
    assert_alike(found, twin, f"{where}, at the start")
    for number in range(events):
        event = random_event(dice, number, twin.topics)
        at = f"{where}, {event}"
        added, removed, shadow = let_happen(twin, event)
        change = found.apply(event)
        assert (list(change.added), list(change.removed), change.shadow) == (added, removed, shadow), at
        assert_alike(found, twin, at)
        assert broken_topics(twin.topics, twin.links) == [], at


pruning = pytest.mark.parametrize("prune", [False, True], ids=["keeping", "pruning"])


@pruning
@pytest.mark.parametrize("kind", KINDS)
def test_equals_its_twin(kind: str, prune: bool) -> None:
    for seed, (coverage, rho) in list(enumerate(product([0, 1, 2, 3], [1, 3, 100])))[:: 12 // times(12)]:
        dice = random.Random(f"{kind} {prune} {seed}")
        overlay = random_overlay(dice, STARTS[seed % len(STARTS)])
        follow(*both(overlay, kind, settings_of(kind, coverage, rho, prune, seed)), dice, 30, f"{seed=}")


@pytest.mark.slow
@pruning
@pytest.mark.parametrize("kind", KINDS)
def test_equals_its_twin_on_many_tiny_fleets(kind: str, prune: bool) -> None:
    for seed in range(times(20)):
        dice = random.Random(f"tiny {kind} {prune} {seed}")
        overlay = random_overlay(dice, dice.choice(STARTS), most_nodes=8, most_topics=5)
        settings = settings_of(kind, dice.randint(1, 4), dice.choice([1, 1.5, 2, 3]), prune, 2**64 - 1 - seed)
        follow(*both(overlay, kind, settings), dice, 20, f"{seed=}")


@pytest.mark.parametrize("nodes_a_member", [0, 3])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("primal-dual")])
def test_equals_its_twin_where_topics_are_too_small_for_rows_of_bits(
    kind: str, nodes_a_member: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the start, or from when the fleet has grown."""
    monkeypatch.setattr(bit_planes, "NODES_A_MEMBER", nodes_a_member)
    for seed in range(times(8)):
        dice = random.Random(f"small topics {kind} {nodes_a_member} {seed}")
        overlay = random_overlay(dice, STARTS[seed % len(STARTS)])
        follow(*both(overlay, kind, settings_of(kind, dice.randint(1, 4), 3, False, seed)), dice, 30, f"{seed=}")


@pruning
@pytest.mark.parametrize("kind", KINDS)
def test_equals_its_twin_where_nobody_looks_between_events(kind: str, prune: bool) -> None:
    """Backups are built between events; whoever looks at them makes that happen earlier, to no effect."""
    for seed in range(times(8)):
        dice = random.Random(f"unseen {kind} {prune} {seed}")
        overlay = random_overlay(dice, dice.choice(STARTS))
        found, twin = both(overlay, kind, settings_of(kind, dice.randint(1, 4), 3, prune, seed))
        for number in range(25):
            event = random_event(dice, number, twin.topics)
            expected = let_happen(twin, event)
            change = found.apply(event)
            assert (list(change.added), list(change.removed), change.shadow) == expected, f"{seed=} {event}"
        assert_alike(found, twin, f"{seed=}")


@pytest.mark.slow
@pruning
@pytest.mark.parametrize("kind", KINDS)
def test_equals_its_twin_while_a_fleet_grows_from_few_and_shrinks_to_none(kind: str, prune: bool) -> None:
    """Numbers of nodes and topics run out and are made more, then are given back and taken again."""
    dice = random.Random(f"growing {kind} {prune}")
    overlay = random_overlay(dice, "low-oda", most_nodes=5, most_topics=3)
    found, twin = both(overlay, kind, settings_of(kind, 3, 3, prune, 1))
    for most in (45, 10, 20, 0, 3):
        while len(twin.topics) != most:
            if len(twin.topics) < most:
                event = random_join(dice, len(twin.links), twin.topics)
            else:
                event = Event(0, LEAVE, dice.choice(sorted(twin.topics)))
            expected = let_happen(twin, event)
            change = found.apply(event)
            assert (list(change.added), list(change.removed), change.shadow) == expected, event
            assert found.max_degree == max(Counter(u for link in twin.links for u in link).values(), default=0)
        assert_alike(found, twin, f"at {most}")
    assert len(found.live.names) == 45


def wanted_after(topics: dict[str, set[str]], events: list[Event]) -> dict[str, set[str]]:
    after = {node: set(wanted) for node, wanted in topics.items()}
    for event in events:
        if event.kind == LEAVE:
            del after[event.node]
        else:
            after[event.node] = after.get(event.node, set()).difference(event.remove).union(event.add)
    return after


@pytest.mark.slow
@pruning
@pytest.mark.parametrize("kind", KINDS)
def test_events_that_are_mended_jointly_equal_their_twin(kind: str, prune: bool) -> None:
    for seed in range(times(10)):
        dice = random.Random(f"jointly {kind} {prune} {seed}")
        overlay = random_overlay(dice, dice.choice(STARTS))
        found, twin = both(overlay, kind, settings_of(kind, seed % 4, 3, prune, seed))
        number = 0
        for _ in range(12):
            events: list[Event] = []
            after = wanted_after(twin.topics, [])
            for _ in range(dice.randint(0, 9)):
                events.append(random_event(dice, number, after))
                after = wanted_after(after, events[-1:])
                number += 1
            before = dict(twin.topics)
            concerned = (before.keys() | after.keys()) - {node for node in before if after.get(node) == before[node]}
            wanted = {node: after.get(node) for node in concerned}
            expected = twin.jointly(dict(sorted(wanted.items())))
            change, refused = found.apply_jointly(events)
            where = f"{seed=} {events}"
            assert refused == {}, where
            assert (list(change.added), list(change.removed), change.shadow) == expected, where
            assert_alike(found, twin, where)
            assert broken_topics(twin.topics, twin.links) == [], where
