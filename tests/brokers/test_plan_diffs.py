"""Differences of plans: what changes, and an order in which nothing goes in circles."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import plan_of, plan_over

from reference.interests import SHAPES, random_interest
from topicloom import InputError, Interest
from topicloom.brokers import Plan
from topicloom.brokers.diff import Step, compare_plans
from topicloom.brokers.explain import explain_broker, explain_link, explain_topic
from topicloom.brokers.moves import move_along
from topicloom.brokers.plan_file import configurations

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)

ALL = [(name, "t") for name in "abc"]


def without(interest: Interest, node: str) -> Interest:
    rows = interest.to_arrow().to_pydict()
    return Interest.from_pairs([pair for pair in zip(rows["node"], rows["topic"], strict=True) if pair[0] != node])


def carried(plan: Plan, topic: str) -> set[tuple[str, str]]:
    """The links of a topic, as (who opens it, who accepts it)."""
    return {link for link, routes in plan.routes_of_link.items() if topic in {route.topic for route in routes}}


def simulated(old: Plan, new: Plan, steps: tuple[Step, ...]) -> tuple[set[str], set[str]]:
    """Which topics are cut, and which have a circle, when files are put on brokers one after the other."""
    cut, circles = set(), set()
    files: dict[str, Plan | None] = dict.fromkeys(old.broker, old)
    for step in steps:
        files[step.broker] = None if step.clear else new
        for topic in old.route.keys() | new.route.keys():
            links = [link for plan in (old, new) for link in carried(plan, topic) if files.get(link[0]) is plan]
            graph = nx.MultiGraph(links)
            if links and not nx.is_forest(graph):
                circles.add(topic)
            if topic in old.route and topic in new.route:
                stay = set(old.route[topic].subscribers) & set(new.route[topic].subscribers)
                graph.add_nodes_from(stay)
                if stay and not stay <= nx.node_connected_component(graph, min(stay)):
                    cut.add(topic)
    return cut, circles


@given(
    seed=seeds,
    shape=shapes,
    algorithms=st.sampled_from(list(product(["gm", "minmax-oda", "ring-per-topic"], repeat=2))),
)
def test_no_topic_ever_has_a_circle_and_the_cut_ones_are_named(
    seed: int, shape: str, algorithms: tuple[str, str]
) -> None:
    interest = random_interest(seed, shape)
    old, new = (plan_of(interest, algorithm) for algorithm in algorithms)
    difference = compare_plans(old, new)
    cut, circles = simulated(old, new, difference.steps)
    assert not circles
    assert set(difference.interrupted) == cut


@given(seed=seeds, shape=shapes)
def test_circles_of_both_plans_together_are_named(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    old, new = plan_of(interest), plan_of(interest, "minmax-oda")
    both = {topic: nx.Graph([*old.route[topic].links, *new.route[topic].links]) for topic in old.route}
    circles = {topic for topic, graph in both.items() if graph and not nx.is_forest(graph)}
    assert set(compare_plans(old, new).doubled) == circles


@given(seed=seeds, shape=shapes)
def test_a_broker_that_leaves(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    if interest.node_count < 2:
        return
    gone = interest.node_names[seed % interest.node_count]
    old, new = plan_of(interest), plan_of(without(interest, gone))
    difference = compare_plans(old, new)
    cut, circles = simulated(old, new, difference.steps)
    assert not circles
    assert set(difference.interrupted) == cut
    assert difference.brokers_removed == (gone,)
    assert compare_plans(new, old).brokers_added == (gone,)


@given(seed=seeds, shape=shapes)
def test_changes_lead_from_one_plan_to_the_other(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    old, new = plan_of(interest), plan_of(interest, "minmax-oda")
    difference = compare_plans(old, new)
    links = {frozenset(link) for link in old.links}
    for change in difference.links:
        links ^= {frozenset(change.link)} if change.kind != "change" else set()
    assert links == {frozenset(link) for link in new.links}
    for topic in difference.topics:
        before = {frozenset(link) for link in old.route[topic.topic].links}
        after = (before - {frozenset(link) for link in topic.links_removed}) | {
            frozenset(link) for link in topic.links_added
        }
        assert after == {frozenset(link) for link in new.route[topic.topic].links}


def test_nothing_to_do() -> None:
    plan = plan_over(ALL, [("a", "b"), ("b", "c")])
    difference = compare_plans(plan, plan)
    assert (difference.links, difference.topics, difference.steps) == ((), (), ())


def test_one_broker_swaps_a_link_at_once() -> None:
    old, new = plan_over(ALL, [("a", "b"), ("b", "c")]), plan_over(ALL, [("a", "b"), ("a", "c")])
    difference = compare_plans(old, new)
    assert [(change.kind, change.link) for change in difference.links] == [("add", ("a", "c")), ("remove", ("b", "c"))]
    assert difference.steps == (Step("b"), Step("a"))
    assert difference.interrupted == ("t",)
    swapped = compare_plans(plan_over(ALL, [("a", "b"), ("b", "c")]), plan_over(ALL, [("a", "c"), ("b", "c")]))
    assert (swapped.steps, swapped.interrupted, swapped.doubled) == ((Step("a"),), (), ("t",))


def test_brokers_that_wait_for_each_other_go_without_links_first() -> None:
    # What a gives up for t, b takes over, and the other way round for u.
    subscriptions = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("d", "u")]
    old = plan_over(subscriptions, [("a", "b"), ("a", "c"), ("b", "d")])
    new = plan_over(subscriptions, [("a", "b"), ("b", "c"), ("a", "d")])
    difference = compare_plans(old, new)
    assert difference.steps == (Step("a", clear=True), Step("b"), Step("a"))
    assert difference.doubled == ("t", "u")
    assert set(difference.interrupted) == {"t", "u"}


def test_other_settings_are_a_change() -> None:
    old = plan_over(ALL, [("a", "b"), ("b", "c")])
    moved = [broker if broker.name != "b" else type(broker)("b", "elsewhere", 1883) for broker in old.brokers]
    new = replace(old, brokers=tuple(moved))
    difference = compare_plans(old, new)
    assert difference.steps == (Step("a"),)
    assert (difference.links, difference.topics) == ((), ())


def test_a_broker_of_another_kind_lets_go_by_its_old_kind_first() -> None:
    interest = random_interest(1, "dense")
    old, new = plan_of(interest), plan_of(interest, target="rabbitmq")
    difference = compare_plans(old, new)
    opening = {link[0] for link in old.links}
    assert difference.other_kind == old.interest.node_names
    assert {step.broker for step in difference.steps[: len(opening)]} == opening
    assert all(step.clear for step in difference.steps[: len(opening)])
    put = difference.steps[len(opening) :]
    assert not any(step.clear for step in put)
    assert sorted(step.broker for step in put) == sorted(configurations(new))
    move = move_along(difference, "old", "new", (), (), new.broker)
    assert [(step.file, step.before, step.may_fail) for step in move.steps if step.broker == min(opening)] == [
        (None, "old", True),
        ("new", None, False),
    ]


@given(seed=seeds, shape=shapes)
def test_federation_never_has_a_circle_either(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    old, new = plan_of(interest, target="rabbitmq"), plan_of(interest, "minmax-oda", target="rabbitmq")
    files: dict[str, Plan | None] = dict.fromkeys(old.broker, old)
    for step in compare_plans(old, new).steps:
        files[step.broker] = None if step.clear else new
        for topic in old.route:
            # Each end pulls from the other, whatever the other's file says.
            links = {
                frozenset(link) for plan in (old, new) for link in carried(plan, topic) if plan in map(files.get, link)
            }
            assert not links or nx.is_forest(nx.Graph([tuple(link) for link in links]))


@given(seed=seeds, shape=shapes)
def test_what_breaks_without_a_link_or_a_broker(seed: int, shape: str) -> None:
    plan = plan_of(random_interest(seed, shape))
    for link in plan.links[:3]:
        reasons = explain_link(plan, link[1], link[0])
        assert reasons.link == link
        assert {split.topic for split in reasons.splits} == {route.topic for route in plan.routes_of_link[link]}
        for split in reasons.splits:
            assert len(split.groups) == 2
            assert sorted(name for group in split.groups for name in group) == list(plan.route[split.topic].subscribers)
    for broker in list(plan.broker)[:3]:
        part = explain_broker(plan, broker)
        assert all(broker in plan.route[topic].subscribers for topic in part.wants)
        for split in part.splits:
            assert len(split.groups) == len(plan.route[split.topic].neighbours[broker])
    for topic in list(plan.route)[:3]:
        way = explain_topic(plan, topic)
        assert [link for link, _ in way.behind] == list(way.route.links)
        assert all(set(behind) < set(way.route.subscribers) for _, behind in way.behind)


def test_relays_are_explained() -> None:
    plan = plan_over([("a", "t"), ("c", "t"), ("b", "u")], [("a", "b"), ("b", "c")], relays=True)
    part = explain_broker(plan, "b")
    assert (part.wants, part.relays) == (("u",), ("t",))
    assert [(split.topic, split.groups) for split in part.splits] == [("t", (("a",), ("c",)))]


def test_what_is_not_there_cannot_be_explained() -> None:
    plan = plan_over(ALL, [("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match=r"^the plan has no link between 'a' and 'c'$"):
        explain_link(plan, "a", "c")
    with pytest.raises(InputError, match=r"^the plan has no broker 'z'$"):
        explain_link(plan, "a", "z")
    with pytest.raises(InputError, match=r"^the plan has no topic 'z'$"):
        explain_topic(plan, "z")
