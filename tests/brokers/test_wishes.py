"""Roles, filters and trees under control: who publishes matters, filters merge and split topics, NATS has one tree."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from following import Decided
from hypothesis import given
from hypothesis import strategies as st

from topicloom import InputError
from topicloom.brokers import make_plan
from topicloom.brokers.decisions import Decisions, TreeLinks
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.churn.maintainer import broken_topics
from topicloom.churn.tree import carried_topics
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.demand import Demand, wishes_for
from topicloom.model.events import Event

NODES = "abcdef"
wish = st.tuples(st.sampled_from(["s/#", "s/+", "s/1", "u"]), st.sampled_from(["sub", "pub"]))
wishes = st.dictionaries(st.sampled_from(NODES), st.frozensets(wish, min_size=1, max_size=5), max_size=4)


@given(old=wishes, new=wishes)
def test_events_lead_from_wishes_to_others(old: dict[str, frozenset], new: dict[str, frozenset]) -> None:
    demand = begun = Demand.of(old)
    events = demand.events_to(Demand.of(new), 5)
    for number, event in enumerate(events):
        assert event.id == 5 + number
        assert Event.from_json(event.to_json(), "line") == event
        if len(demand.by_node) > 1 or event.kind != "leave":
            assert demand.refusal(event, demand.by_node) is None
        demand = demand.after(event)
        assert all(demand.by_node.values()), "every node has a wish on the way"
    assert demand.by_node == new
    assert demand == begun.after(*events)
    assert demand.published == begun.published | Demand.of(new).published
    assert begun == Demand.of(old)


def begun(folder: Path, rows: list[tuple[str, str, str]], **more: object) -> Decided:
    wanted: dict[str, frozenset] = {}
    for node, topic, role in rows:
        wanted[node] = wanted.get(node, frozenset()) | wishes_for([topic], role)
    folder.mkdir(exist_ok=True)
    return Decided(folder, Constraints(), Demand.of(wanted), **more)


def test_a_filter_whose_publisher_is_gone_is_no_topic(tmp_path: Path) -> None:
    rows = [("a", "s/#", "sub"), ("b", "s/1", "pub"), ("a", "x", "sub"), ("b", "x", "pub"), ("c", "x", "sub")]
    decisions = begun(tmp_path, rows, filters="mqtt")
    assert decisions.take(Event(1, "change", "b", (), ("s/1",), role="pub")) is None
    assert decisions.interest.topic_names == ("x",)


def roles_in(decisions: Decisions) -> dict[str, tuple[str, ...]]:
    """By topic who wants it, and who publishes it."""
    interest, found = decisions.interest, {}
    for number, topic in enumerate(interest.topic_names):
        sides = interest.patterns_of(number)
        found[topic] = tuple("".join(sorted(interest.node_names[node] for node in side)) for side in sides)
    return found


def test_what_its_only_publisher_leaves_is_silent_and_not_published_by_others(tmp_path: Path) -> None:
    rows = [("a", "t", "sub"), ("b", "t", "sub"), ("c", "t", "pub"), ("a", "x", "sub"), ("b", "x", "sub")]
    decisions = begun(tmp_path, rows)
    assert roles_in(decisions) == {"t": ("ab", "c"), "x": ("ab", "ab")}, "x was never published"
    assert len(decisions.overlay()) == 2
    decisions.lose("c")
    assert roles_in(decisions) == {"x": ("ab", "ab")}
    decisions.regain("c")
    assert roles_in(decisions)["t"] == ("ab", "c")
    assert decisions.take(Event(1, "change", "c", ("x",), ("t",), role="pub")) is None
    assert roles_in(decisions) == {"x": ("ab", "c")}
    assert decisions.take(Event(2, "leave", "c")) is None
    assert roles_in(decisions) == {}
    assert len(decisions.overlay()) == 0
    assert decisions.interest.node_names == ("a", "b"), "brokers without topics stay in the fleet"
    assert decisions.take(Event(3, "change", "a", ("t",), role="pub")) is None
    assert roles_in(decisions) == {"t": ("ab", "a")}
    decisions.close()
    again = Decided(tmp_path, Constraints(), None)
    assert roles_in(again) == {"t": ("ab", "a")}
    assert again.overlay().to_arrow() == decisions.overlay().to_arrow()


@pytest.mark.slow
@pytest.mark.parametrize("tree", [False, True])
def test_filters_come_and_go(tmp_path: Path, tree: bool) -> None:
    """After every decision every topic is connected, and a controller that was killed then knows the same."""
    protocol, rest = ("nats", ">") if tree else ("mqtt", "#")
    separator = "." if tree else "/"
    dice = random.Random(4)
    patterns = [f"s{separator}{rest}", f"s{separator}1", f"s{separator}2", f"t{separator}1", "u", rest]
    rows = [(node, dice.choice(patterns[1:5]), role) for node in NODES for role in ("sub", "pub")]
    decisions = begun(tmp_path / "one", rows, filters=protocol, tree=tree)
    joint = 0
    for number in range(40):
        before = decisions.interest
        away, there = sorted(decisions.away), sorted(decisions.demand.by_node.keys() - decisions.away)
        kind = dice.choice(["change", "change", "lose", "back"])
        if kind == "lose" and len(there) > 3:
            decisions.lose(dice.choice(there))
        elif kind == "back" and away:
            decisions.regain(away[0])
        else:
            node, pattern, role = dice.choice(there), dice.choice(patterns), dice.choice(["sub", "pub"])
            add, remove = ((), (pattern,)) if (pattern, role) in decisions.demand.by_node[node] else ((pattern,), ())
            decisions.take(Event(number, "change", node, add, remove, role=role))
        joint += before.topic_names != decisions.interest.topic_names
        overlay = decisions.overlay()
        if tree:
            assert not overlay or nx.is_forest(nx.Graph(list(zip(overlay.source, overlay.target, strict=True))))
        else:
            assert not broken_topics(overlay)
        fleet = fleet_from_tables({"brokers": {name: {"host": name} for name in NODES}})
        if not tree:
            make_plan(overlay.interest, overlay, fleet)
        if number % 10 == 9:
            shutil.copytree(tmp_path / "one", tmp_path / f"at{number}")
            again = Decided(tmp_path / f"at{number}", Constraints(), None)
            assert again.overlay().to_arrow() == overlay.to_arrow()
    assert joint > 5, "topics were merged and split"
    decisions.close()
    assert Decided(tmp_path / "one", Constraints(), None).overlay().to_arrow() == overlay.to_arrow()


@pytest.mark.slow
def test_a_tree_is_mended_by_few_links_and_tidied(tmp_path: Path) -> None:
    dice = random.Random(3)
    rows = [(f"n{node}", f"t{topic}", "both") for node in range(14) for topic in dice.sample(range(12), 3)]
    decisions = begun(tmp_path, rows, tree=True)
    for number in range(60):
        before = set(zip(*decisions.overlay().to_arrow().to_pydict().values(), strict=True))
        there, out = (
            sorted(decisions.demand.by_node),
            sorted({f"n{node}" for node in range(14)} - decisions.demand.by_node.keys()),
        )
        if out and (len(out) > 4 or dice.random() < 0.6):
            topics = tuple(f"t{topic}" for topic in dice.sample(range(12), 3))
            assert decisions.take(Event(number, "join", out[0], topics)) is None
        else:
            node = dice.choice(there)
            degree = sum(node in link for link in before)
            assert decisions.take(Event(number, "leave", node)) is None
            after = set(zip(*decisions.overlay().to_arrow().to_pydict().values(), strict=True))
            assert len(after - before) <= degree
        overlay, fleet = (
            decisions.overlay(),
            fleet_from_tables({"brokers": {f"n{node}": {"host": f"n{node}"} for node in range(14)}}),
        )
        make_plan(overlay.interest, overlay, fleet, target="nats")
    turns = 0
    while decisions.tidy(4):
        turns += 1
        make_plan(decisions.interest, decisions.overlay(), fleet, target="nats")
    fresh = TreeLinks(Constraints()).fresh(decisions.interest).overlay()
    assert turns > 0
    assert carried_topics(decisions.overlay()) <= 1.1 * carried_topics(fresh)


def test_a_tree_keeps_to_the_fleet_file(tmp_path: Path) -> None:
    limits = Constraints(others=NodeRule(max_links=2), forbid=(("a", "b"),))
    decisions = Decided(tmp_path, limits, Demand.of_topics({name: {"t"} for name in NODES}), tree=True)
    for event in (Event(1, "leave", "c"), Event(2, "join", "c", ("t",))):
        assert decisions.take(event) is None
        links = list(
            zip(*decisions.overlay().to_arrow().select(["source", "target"]).to_pydict().values(), strict=True)
        )
        assert limits.broken_by(links) == []
        assert len(links) == len(decisions.demand.by_node) - 1


def test_what_cannot_be(tmp_path: Path) -> None:
    rows = [("a", "s/#", "sub"), ("b", "s/1", "pub")]
    decisions = begun(tmp_path / "state", rows, filters="mqtt")
    for event, problem in (
        (Event(1, "change", "a", ("s/#",), role="sub"), "change of 'a': it wants 's/#' already"),
        (
            Event(1, "change", "a", (), ("s/1",), role="pub"),
            "change of 'a': it does not want 's/1', which it is to give up",
        ),
        (Event(1, "change", "a", (), ("s/#",)), "change of 'a': it would want no topic; let it leave instead"),
        (Event(1, "change", "a", ("x/#/y",)), "change of 'a': filter 'x/#/y': has '#' before its end"),
    ):
        assert str(decisions.take(event)).startswith(problem)
    decisions.close()
    with pytest.raises(InputError, match=r"state: began with other topics, so it cannot go on with these$"):
        Decided(tmp_path / "state", Constraints(), None, filters="nats")
    with pytest.raises(InputError, match=r"state: began with other links, so it cannot go on with these$"):
        Decided(tmp_path / "state", Constraints(), None, tree=True)
    with pytest.raises(InputError, match=r'"role" must be sub, pub, both, not "all"$'):
        Event.from_json('{"id": 1, "event": "join", "node": "a", "topics": ["t"], "role": "all"}', "x")


def test_files_of_subscriptions_keep_what_nobody_wants_yet(tmp_path: Path) -> None:
    file = tmp_path / "subs.csv"
    file.write_text("node,topic,role\na,s/#,sub\nb,s/1,pub\nb,new,pub\n")
    read = Demand.read(file, "mqtt")
    assert read.by_node["b"] == {("s/1", "pub"), ("new", "pub")}
    assert read.published == {"s/1", "new"}
    assert read.among(read.by_node).topic_names == ("s/#",)
    with pytest.raises(InputError, match=r"'s/#' has a wildcard of mqtt; give filters mqtt, or filters none"):
        Demand.read(file)
    assert Demand.read(file, "none") == replace(read, filters=None)
    file.write_text(f"# filters=mqtt\n{file.read_text()}")
    assert Demand.read(file) == read
    with pytest.raises(InputError, match=r"has '#' before its end"):
        Demand.read(_wrong(file), "mqtt")


def _wrong(file: Path) -> Path:
    file.write_text("node,topic\na,s/#/x\n")
    return file
