"""Pruning: links that no topic needs go, oldest first, and no topic is ever broken."""

from __future__ import annotations

import random

import numpy as np
import pytest

from effort import times
from reference.fleets import STARTS, links_of, random_event, random_overlay, topics_of
from reference.maintainers import broken_topics, needed_for
from topicloom.churn import Change, Maintainer, Settings, maintainer
from topicloom.churn.live_overlay import LiveOverlay
from topicloom.kernels import needed_links
from topicloom.model import Interest, Overlay

WAYS = {
    "primal-dual": Settings(prune=True),
    "greedy": Settings(backups="greedy", prune=True),
    "naive": Settings("naive", prune=True),
}
every = pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)


def pruning(links: list[str], settings: Settings, **topics: str) -> Maintainer:
    """Nodes and topics of one letter each: links as pairs of letters, topics by node."""
    interest = Interest.from_pairs([(node, topic) for node, wanted in topics.items() for topic in wanted])
    return maintainer(Overlay.from_links(interest, [(link[0], link[1]) for link in links]), settings)


def links(found: Maintainer) -> list[str]:
    return ["".join(link) for link in links_of(found.overlay())]


def removed(change: Change) -> list[str]:
    return ["".join(link) for link in change.removed]


@every
def test_no_topic_is_broken_and_every_link_is_needed(settings: Settings) -> None:
    for seed in range(times(12)):
        dice = random.Random(f"{settings} {seed}")
        found = maintainer(random_overlay(dice, STARTS[seed % len(STARTS)], most_nodes=20), settings)
        for number in range(25):
            event = random_event(dice, number, topics_of(found.interest()))
            found.apply(event)
            topics, kept = topics_of(found.interest()), links_of(found.overlay())
            where = f"{seed=} {event}"
            assert broken_topics(topics, kept) == [], where
            assert [link for link in kept if not needed_for(topics, kept, link)] == [], where


@every
def test_nothing_goes_before_the_first_event(settings: Settings) -> None:
    found = pruning(["ab", "ac", "bc"], settings, a="x", b="x", c="x")
    found.settle()
    assert links(found) == ["ab", "ac", "bc"]


@every
@pytest.mark.parametrize("order", [["ab", "ac", "bc"], ["bc", "ab", "ac"], ["ac", "bc", "ab"]])
def test_the_oldest_goes_first(order: list[str], settings: Settings) -> None:
    found = pruning(order, settings, a="x", b="x", c="x")
    assert removed(found.join("d", ["z"])) == order[:1]
    assert links(found) == order[1:]


@every
def test_links_between_nodes_with_nothing_in_common_go(settings: Settings) -> None:
    found = pruning(["ac", "ab", "cd"], settings, a="x", b="x", c="z", d="z")
    assert removed(found.join("e", ["w"])) == ["ac"]


@every
def test_a_link_goes_with_the_last_topic_that_needs_it(settings: Settings) -> None:
    found = pruning(["ab"], settings, a="xyz", b="xyw")
    assert removed(found.change("a", [], ["x"])) == []
    assert removed(found.change("b", [], ["y"])) == ["ab"]
    assert found.change("a", ["w"]).added == (("a", "b"),)


@every
def test_a_link_stays_while_one_topic_needs_it(settings: Settings) -> None:
    """All three share x, but y needs the link of a and b."""
    found = pruning(["ab", "ac", "bc"], settings, a="xy", b="xy", c="x")
    assert removed(found.join("d", ["z"])) == ["ac"]
    assert links(found) == ["ab", "bc"]


@every
def test_a_new_link_may_make_an_old_one_needless(settings: Settings) -> None:
    """The way from a to b by way of c is enough once c wants y too: its links were needed for x all along."""
    found = pruning(["ab", "ac", "bc"], settings, a="xyp", b="xyq", c="xpq")
    assert removed(found.join("d", ["z"])) == []
    assert removed(found.change("c", ["y"])) == ["ab"]
    assert links(found) == ["ac", "bc"]


@every
def test_a_link_that_is_added_and_dropped_in_one_event_is_not_told_of(settings: Settings) -> None:
    """Once a has left, bc joins two topics, then de one, w, as nobody's degree is lower; then x needs bd, and y ce.

    With these w does not need de any more, and it is gone before anybody heard of it.
    """
    found = pruning(["ab", "ac", "ad", "ae"], settings, a="wxy", b="wx", c="wxy", d="wx", e="wy")
    change = found.leave("a")
    assert ["".join(link) for link in change.added] == links(found) == ["bc", "bd", "ce"]
    assert removed(change) == ["ab", "ac", "ad", "ae"]


def test_one_search_finds_all_links_that_a_topic_needs() -> None:
    for seed in range(times(40)):
        overlay = random_overlay(random.Random(seed), STARTS[seed % len(STARTS)], most_nodes=15, most_topics=8)
        live = LiveOverlay(overlay, 0)
        topics, kept = topics_of(overlay.interest), list(links_of(overlay))
        asked = [(number, link) for number in range(overlay.interest.topic_count) for link in kept]
        reasons = np.array([number for number, _ in asked], np.int64)
        ends = np.array([(live.numbers[u], live.numbers[v]) for _, (u, v) in asked], np.int64).reshape(-1, 2)
        for order in (ends, ends[:, ::-1].copy()):
            found = needed_links.still_needed(live.population, live.scratch, reasons, order).tolist()
            needs = {link: needed_for(topics, kept, link) for link in kept}
            assert found == [live.topic_names[number] in needs[link] for number, link in asked], f"{seed=}"


@every
def test_links_do_not_pile_up(settings: Settings) -> None:
    """Fleets whose nodes leave and come back have fewer links in the end than without pruning."""
    counts = {False: 0, True: 0}
    for seed in range(5):
        overlay = random_overlay(random.Random(seed), "low-oda")
        for prune in counts:
            found = maintainer(overlay, Settings(settings.method, settings.backups, prune=prune))
            for node, wanted in topics_of(overlay.interest).items():
                found.leave(node)
                found.join(node, wanted)
            counts[prune] += found.link_count
    assert counts[True] < counts[False]
