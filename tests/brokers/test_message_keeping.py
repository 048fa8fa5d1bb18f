"""Sessions of links that are gone are forgotten wherever somebody answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, FolderFleet

from topicloom import InputError
from topicloom.brokers import bridge_sessions
from topicloom.brokers.bridge_sessions import Keeping, first_needed
from topicloom.brokers.diff import compare_plans
from topicloom.model.fleet import Broker


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Which sessions were ended, by broker and name; broker c refuses."""
    found: list[tuple[str, str]] = []

    def session(broker: Broker, name: str, wanted: list[tuple[str, int]]) -> None:
        if not wanted:
            found.append((broker.name, "-".join(name.removeprefix("topicloom-").split("-")[:-1])))
            if broker.name == "c":
                raise InputError("c refuses")

    monkeypatch.setattr(bridge_sessions, "make_session", session)
    return found


def test_each_end_of_a_link_that_is_gone_is_asked(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    # From the first plan to the second the links a - c and b - d go.
    fleet = FolderFleet(tmp_path, check="links")
    keeping = Keeping(fleet.fleet, fleet.plan(FIRST), fleet.plan(SECOND), [])
    keeping.end()
    assert {("c", "a-c"), ("b", "local-b-d"), ("d", "b-d")} < set(asked)
    assert ("a", "local-a-c") in asked
    assert keeping.refused == ("c refuses",)


def test_silent_brokers_are_not_asked(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    fleet = FolderFleet(tmp_path, check="links")
    keeping = Keeping(fleet.fleet, fleet.plan(FIRST), fleet.plan(SECOND), [], silent=["a", "c"])
    keeping.end()
    assert ("d", "b-d") in asked
    assert {broker for broker, _ in asked} == {"b", "d"}
    assert keeping.refused == ()


def test_a_fleet_that_only_loses_links_forgets_them_too(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    fleet = FolderFleet(tmp_path, check="links")
    wanted = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u")]
    Keeping(fleet.fleet, fleet.plan(FIRST), fleet.plan([("a", "b"), ("a", "c")], wanted), []).end()
    assert ("d", "b-d") in asked


def test_sessions_of_links_that_are_up_are_not_made_again(tmp_path: Path) -> None:
    """Who takes over the session of a bridge that runs cuts it: a change that goes on makes those to come alone."""
    fleet = FolderFleet(tmp_path, check="links")
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    steps = [(step.broker, not step.clear) for step in compare_plans(first, second).steps]
    assert steps == [("a", False), ("b", True), ("a", True)]
    assert first_needed(first, second, steps) == {0: [("a", "d"), ("b", "c")]}
    assert first_needed(first, second, steps[1:]) == {0: [("a", "d"), ("b", "c")]}
    assert first_needed(first, second, steps[2:]) == {0: [("a", "d")]}, "b has its new file"
