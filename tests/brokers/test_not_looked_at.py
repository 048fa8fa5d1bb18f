"""Brokers that nobody can connect to: `apply` and `watch` do not try, and they never count as gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from folder_fleets import FIRST, FolderFleet, assert_has
from test_watching import JOIN, Watched, lines

from topicloom.brokers import watch as controlling
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.watch import StatusBoard
from topicloom.model.fleet import Broker


def test_what_is_checked_unless_said() -> None:
    apply = {"via": "command", "put": "cp {file} there"}
    fleet = fleet_from_tables(
        {
            "defaults": {"apply": apply},
            "brokers": {
                "open": {"host": "x"},
                "firewalled": {"host": "y", "accepts": False},
                "said": {"host": "z", "accepts": False, "apply": {"check": "port"}},
            },
        }
    )
    assert {name: delivery.check for name, delivery in fleet.deliveries.items()} == {
        "open": "links",
        "firewalled": "nothing",
        "said": "port",
    }
    assert [name for name in fleet.brokers if fleet.looks_at(name)] == ["open", "said"]
    without = fleet_from_tables({"defaults": {"accepts": False}, "brokers": {"a": {"host": "x"}}})
    assert not without.looks_at("a")


def test_apply_does_not_wait_for_a_broker_that_accepts_nothing(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path, check=None, seconds=0.5)
    for name in "acd":
        fleet.tables["brokers"][name]["apply"] = {"check": "nothing"}
    fleet.tables["brokers"]["b"] |= {"accepts": False, "host": "192.0.2.1"}
    plan = fleet.plan(FIRST)
    fleet.apply(plan)
    assert_has(fleet, plan)


def test_watch_does_not_ask_it_and_does_not_take_it_for_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, silent = Watched.looked_at(tmp_path, monkeypatch)
    silent.update("bc")
    gone = watched.turns(4)
    assert gone.decisions.away == {"b", "c"}
    # Now the fleet file says that b cannot be connected to.
    watched.fleet.tables["brokers"]["b"] |= {"accepts": False, "apply": {"check": "nothing"}}
    asked: set[str] = set()

    def ask(broker: Broker, *_: object) -> bool:
        asked.add(broker.name)
        return broker.name not in silent

    monkeypatch.setattr(controlling, "answers", ask)
    back = watched.turns(6)
    assert back.decisions.away == {"c"}
    watched.events.write_text(lines(JOIN))
    made = watched.turns(6)
    assert made.waiting is None
    assert made.decisions.away == {"c"}
    assert "b" in made.plan().broker
    assert asked == set("acdefg")
    watched.assert_applied(made)
    board = StatusBoard()
    board.update(made, 1.0)
    assert board.as_table()["not_looked_at"] == ("b",)
    assert "topicloom_brokers_not_looked_at 1\n" in board.as_metrics()
    assert "<tr><td>not looked at</td><td>b</td></tr>" in board.as_page()
