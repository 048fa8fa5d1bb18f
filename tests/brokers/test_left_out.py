"""What plans cannot have is left out of them and told, and the rest of the fleet is followed as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from following import Decided
from test_watching import CHANGE, JOIN, Watched, lines

from topicloom import InputError, Interest
from topicloom.brokers.decisions import Plannable
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.watch import StatusBoard
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand, wishes_for
from topicloom.model.events import Event

NO_BROKER = Event(3, "join", "z", ("t",))
NO_NAME = Event(4, "change", "a", ("#", "a b"))


def test_a_node_without_a_broker_and_topics_that_cannot_be_carried(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.events.write_text(lines(NO_BROKER, NO_NAME))
    made = watched.turns(2)
    assert made.waiting is None
    assert made.decisions.demand.by_node["z"] == wishes_for("t"), "what happened is taken"
    watched.assert_applied(made)
    with watched.events.open("a") as file:
        file.write(lines(Event(5, "join", "g", ("t", "v"))))
    made = watched.turns(3)
    assert "g" in made.plan().broker
    watched.assert_applied(made)
    told = [text for text in watched.said if text.startswith("left out of plans: ")]
    no_wildcard = "which no message can have in its topic; give the names it stands for"
    no_space = "at which Mosquitto splits the lines of its configuration; names without spaces are right"
    once = [
        "left out of plans: node 'z': fleet has no broker of this name",
        f"left out of plans: topic '#' of a: has the wildcard '#', {no_wildcard}",
        f"left out of plans: topic 'a b' of a: has a space, {no_space}",
    ]
    assert told == [*once, *once], "once in each run"
    board = StatusBoard()
    board.update(made, 1.0)
    assert "topicloom_left_out 3\n" in board.as_metrics()
    listed = json.loads(board.as_json())["left_out"]
    assert listed[0] == {"topic": None, "nodes": ["z"], "why": "fleet has no broker of this name"}
    assert [each["topic"] for each in listed[1:]] == ["#", "a b"]
    assert "topic &#39;a b&#39; of a: has a space" in board.as_page()


def test_what_is_left_out_ends(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.events.write_text(lines(NO_BROKER, NO_NAME))
    watched.turns(2)
    with watched.events.open("a") as file:
        file.write(lines(Event(5, "change", "a", (), ("#", "a b"))))
    watched.fleet.tables["brokers"]["z"] = {"host": "host-z"}
    made = watched.turns(2)
    assert made.decisions.left_out == ()
    assert "z" in made.plan().broker, "the fleet file names it now"
    watched.assert_applied(made)
    del watched.fleet.tables["brokers"]["b"]
    made = watched.turns(2)
    assert [each.nodes for each in made.decisions.left_out] == [("b",)]
    assert "b" not in made.plan().broker
    assert made.waiting is None


def test_dead_brokers_are_mended_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, silent = Watched.looked_at(tmp_path, monkeypatch)
    watched.events.write_text(lines(NO_BROKER, NO_NAME))
    watched.turns(2)
    silent.add("b")
    made = watched.turns(5)
    assert made.decisions.away == {"b"}
    assert "b" not in made.plan().broker
    watched.assert_applied(made)


def test_topics_that_are_tidied_or_snapshotted_with_another_fleet_file(tmp_path: Path) -> None:
    """A fleet file that changes between two runs does not end the second."""
    watched = Watched(tmp_path)
    watched.events.write_text(lines(JOIN, CHANGE))
    watched.turns(6)
    for names in ("abc", "", "abcdefg"):
        watched.fleet.tables["brokers"] = {name: {"host": f"host-{name}"} for name in names} or {"y": {"host": "y"}}
        made = watched.turns(2)
        assert set(made.plan().broker) == set(names) & set("abcdefg")
        assert set(watched.turns(2).plan().broker) == set(names)


def test_first_subscriptions_need_a_broker_for_every_node(tmp_path: Path) -> None:
    fleet = fleet_from_tables({"brokers": {"a": {"host": "a"}}}, "fleet.toml")
    begin = Demand.from_interest(Interest.from_pairs([("a", "t"), ("b", "t")]))
    with pytest.raises(
        InputError, match=r"^fleet\.toml: has no broker 'b'; every node of the subscriptions needs one$"
    ):
        Decided(tmp_path, Constraints(), begin, plannable=Plannable(fleet, "mosquitto"))


@pytest.mark.parametrize(
    ("target", "filters", "carried", "left_out"),
    [
        ("mosquitto", None, ["x"], ["x/#", "$SYS/y"]),
        ("mosquitto", "mqtt", ["x/#", "+/y", "$SYS/z", "$share/g/x"], ["a b/#"]),
        ("nats", None, ["x.y"], ["x.>", "x y", ".x"]),
        ("rabbitmq", None, ["x y"], ["amq.x", "x" * 81]),
        ("rabbitmq", "amqp", ["x.#", f"x.{'y' * 80}"], [f"z.{'y' * 80}", "x" * 256]),
    ],
)
def test_kinds_carry_different_topics(
    tmp_path: Path, target: str, filters: str | None, carried: list[str], left_out: list[str]
) -> None:
    fleet = fleet_from_tables({"brokers": {name: {"host": name} for name in "ab"}})
    wanted = {name: wishes_for([*carried, *left_out]) for name in "ab"}
    kept, found = Plannable(fleet, target).among(Demand.of(wanted, filters))
    assert kept.by_node == {name: wishes_for(carried) for name in "ab"}
    assert sorted(str(each.topic) for each in found) == sorted(left_out)
    assert {each.nodes for each in found} == {("a", "b")}
