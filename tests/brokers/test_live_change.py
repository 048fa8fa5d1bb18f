"""Changing a running fleet while messages flow: what is kept, lost, doubled, and how long a topic is silent."""

from __future__ import annotations

import pytest
from plans import fleet_of, plan_of, plan_over

from effort import times
from reference.interests import random_interest
from topicloom import InputError, Interest, Overlay
from topicloom.brokers import make_plan
from topicloom.brokers.bridge_sessions import first_needed, new_sessions
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.live_change import ChangeTally, prove_change

WANTED = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("d", "u")]
FIRST = [("a", "b"), ("a", "c"), ("b", "d")]
SECOND = [("a", "b"), ("b", "c"), ("a", "d")]


@pytest.mark.broker("mosquitto")
def test_hardly_anything_is_lost_while_brokers_wait_for_each_other() -> None:
    old, new = plan_over(WANTED, FIRST), plan_over(WANTED, SECOND)
    kept = prove_change(old, new)
    assert (kept.brokers, kept.steps, kept.interrupted) == (4, 3, ("t", "u"))
    assert kept.counts.unwanted == 0
    assert kept.counts.lost <= kept.counts.expected // 100
    assert kept.counts.doubled < kept.counts.expected // 2, "some, but nothing goes round"
    assert kept.counts.silence.keys() == {"t", "u"}
    assert all(0 < seconds < 20 for seconds in kept.counts.silence.values())


@pytest.mark.broker("nats")
def test_servers_of_nats_change_and_lose_what_is_published_meanwhile() -> None:
    interest = Interest.from_pairs(WANTED)
    old, new = (
        make_plan(interest, Overlay.from_links(interest, links), fleet_of("abcd"), target="nats")
        for links in (FIRST, SECOND)
    )
    proof = prove_change(old, new)
    assert (proof.brokers, proof.steps, proof.interrupted) == (4, 5, ("t", "u"))
    assert (proof.counts.doubled, proof.counts.unwanted) == (0, 0)
    assert proof.counts.delivered > proof.counts.expected // 2, "before and after everything comes"
    assert all(0 < seconds < 20 for seconds in proof.counts.silence.values())


def test_sessions_are_ready_before_their_topics_lose_links() -> None:
    for seed in range(times(40)):
        interest = random_interest(seed, "dense")
        old, new = plan_of(interest), plan_of(interest, "minmax-oda")
        steps = compare_plans(old, new).steps
        needed = first_needed(old, new, [(step.broker, not step.clear) for step in steps])
        assert sorted(link for links in needed.values() for link in links) == sorted(new_sessions(old, new))
        ready: set[tuple[str, str]] = set()
        for number, step in enumerate(steps):
            ready |= set(needed.get(number, []))
            for change in compare_plans(old, new).topics:
                gone = [link for link in old.links_of[step.broker] if link[0] == step.broker]
                removed = {frozenset(link) for link in change.links_removed}
                if any(frozenset(link) in removed for link in gone):
                    added = {frozenset(link) for link in change.links_added}
                    assert {link for link in new.links if frozenset(link) in added} <= ready


def test_the_tally_counts_over_both_plans() -> None:
    old = plan_over([("a", "t"), ("b", "t"), ("c", "t")], [("a", "b"), ("b", "c")])
    new = plan_over([("a", "t"), ("b", "t"), ("d", "t")], [("a", "b"), ("b", "d")])
    tally = ChangeTally(old, new)
    assert tally.next_message() == ("a", "t", 1, b"0")
    for broker, now in (("a", 1.0), ("b", 2.0), ("b", 3.5), ("c", 2.0), ("d", 2.0), ("e", 2.0)):
        tally.arrive(broker, b"0", now)
    assert tally.next_message() == ("b", "t", 1, b"1")
    counts = tally.counts()
    assert (counts.published, counts.expected, counts.delivered, counts.lost) == (2, 4, 2, 2)
    assert (counts.doubled, counts.unwanted, counts.lost_by_topic) == (1, 1, {"t": 2})
    assert counts.silence == {"t": 1.5}


def test_plans_that_cannot_be_changed_live() -> None:
    plan = plan_over(WANTED, FIRST)
    with pytest.raises(InputError, match=r"^the plans have no topic in common, so nothing can flow during the change$"):
        prove_change(plan, plan_over([("a", "x"), ("b", "x")], [("a", "b")]))
    with pytest.raises(
        InputError, match=r"^one plan is for mosquitto and the other for rabbitmq; a fleet is of one kind$"
    ):
        prove_change(plan, plan_of(random_interest(1, "dense"), target="rabbitmq"))
