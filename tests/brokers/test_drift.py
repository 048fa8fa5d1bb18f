"""What brokers have and what they should have: `apply` reads it first, puts again what drifted, leaves out the dead."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, THIRD, WANTED, FolderFleet, assert_has
from following import wait_until_all_answer
from local_brokers import LocalBrokers
from test_known_defects import bring, plan_over

from topicloom.brokers import Plan, deliver, present
from topicloom.brokers.apply import ApplyStopped, adjusted, carry_out, propose, unanswering
from topicloom.brokers.deliver import probe
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.present import brokers_of, read_present
from topicloom.brokers.store import opened


@pytest.fixture
def fleet(tmp_path: Path) -> FolderFleet:
    return FolderFleet(tmp_path)


def steps(fleet: FolderFleet, plan: Plan) -> list[tuple[str, bool]]:
    """Apply a plan; the brokers in order, and whether their links were taken away."""
    return [(one.step.broker, one.step.file is None) for one in fleet.apply(plan)]


def test_a_file_that_somebody_edited_is_cleared_and_put_again(fleet: FolderFleet) -> None:
    first = fleet.plan(FIRST)
    fleet.apply(first)
    file = fleet.files / "a.conf"
    file.write_text(file.read_text() + "\nconnection more\naddress host-d\ntopic t both\n")
    assert steps(fleet, first) == [("a", True), ("a", False)]
    assert_has(fleet, first)
    file.write_text(f"# a comment\n\n{file.read_text()}")
    assert steps(fleet, first) == []


def test_a_file_of_a_backup_and_another_plan(fleet: FolderFleet) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    backup = fleet.written()
    fleet.apply(second)
    for name, text in backup.items():
        (fleet.files / f"{name}.conf").write_text(text)
    third = fleet.plan(THIRD)
    done = steps(fleet, third)
    assert done[:2] == [("a", True), ("b", True)]
    assert_has(fleet, third)


def test_a_new_state_and_files_of_an_old_one(fleet: FolderFleet, tmp_path: Path) -> None:
    fleet.apply(fleet.plan(FIRST))
    fleet.state = tmp_path / "another"
    second = fleet.plan(SECOND)
    done = steps(fleet, second)
    assert done[:2] == [("a", True), ("b", True)], "their old links would close cycles with the new ones"
    assert_has(fleet, second)


def test_links_of_a_broker_that_left_are_taken_away(fleet: FolderFleet) -> None:
    first = fleet.plan(FIRST)
    fleet.apply(first)
    old = fleet.written()["a"]
    rest = fleet.plan([("b", "c"), ("b", "d")], [pair for pair in WANTED if pair[0] != "a"])
    fleet.apply(rest)
    (fleet.files / "a.conf").write_text(old)
    assert steps(fleet, rest) == [("a", True)]
    assert_has(fleet, rest)


def test_a_command_that_prints_the_file(tmp_path: Path) -> None:
    files = tmp_path / "files"
    commands = {"put": f"cp {{file}} {files}/{{broker}}.conf", "get": f"sh -c 'cat {files}/{{broker}}.conf || true'"}
    fleet = FolderFleet(tmp_path, via="command", path=None, **commands)
    plan = fleet.plan(FIRST)
    fleet.apply(plan)
    assert fleet.apply(plan) == []
    (files / "b.conf").unlink()
    assert steps(fleet, plan) == [("b", False)]
    assert_has(fleet, plan)


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Brokers that do not answer, which the test may change."""
    found: set[str] = set()
    monkeypatch.setattr(present, "answers", lambda broker, *_: broker.name not in found)
    monkeypatch.setattr(deliver, "wait_until_taken", lambda *_: None)
    return found


def bring_what_can_be(fleet: FolderFleet, plan: Plan) -> list[str]:
    """Apply a plan as the command does; the brokers that got a file."""
    done: list[str] = []
    with opened(fleet.state) as state:
        proposal = propose(state, plan)
        silent = unanswering(fleet.fleet, proposal)
        brokers: Iterable = brokers_of(fleet.fleet, plan).values()
        present = read_present(fleet.fleet, brokers, fleet.state, silent)
        proposal = adjusted(state, fleet.fleet, proposal, present, silent, silent)
        carry_out(
            state, fleet.fleet, proposal, lambda one: done.append(one.step.broker), silent=silent, present=present
        )
        assert {name for name in state.owed if name in plan.broker} == silent & {*proposal.left_out, *state.owed}
    return done


def test_dead_brokers_are_left_out_and_get_their_files_when_they_are_back(tmp_path: Path, dead: set[str]) -> None:
    fleet = FolderFleet(tmp_path, check="port")
    dead.add("b")
    first = fleet.plan(FIRST)
    assert bring_what_can_be(fleet, first) == ["a"]
    assert bring_what_can_be(fleet, first) == [], "it is still away"
    with opened(fleet.state) as state:
        assert state.owed == {"b": None}
    dead.clear()
    assert bring_what_can_be(fleet, first) == ["b"]
    assert_has(fleet, first)
    with opened(fleet.state) as state:
        assert state.owed == {}


def test_a_dead_broker_with_links_that_go_is_in_the_way(tmp_path: Path, dead: set[str]) -> None:
    fleet = FolderFleet(tmp_path, check="port")
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    bring_what_can_be(fleet, first)
    dead.add("b")
    with pytest.raises(
        ApplyStopped, match=r"^broker 'b' does not answer, and has links that go before others come; no"
    ):
        bring_what_can_be(fleet, second)
    assert_has(fleet, first)
    dead.update("abcd")
    bring_what_can_be(fleet, second)
    assert_has(fleet, second)


def test_a_file_that_somebody_else_put_is_owed_no_more(tmp_path: Path, dead: set[str]) -> None:
    fleet = FolderFleet(tmp_path, check="port")
    first = fleet.plan(FIRST)
    dead.add("b")
    bring_what_can_be(fleet, first)
    dead.clear()
    (fleet.files / "b.conf").write_text(configurations(first)["b"])
    assert bring_what_can_be(fleet, first) == []
    with opened(fleet.state) as state:
        assert state.owed == {}


@pytest.mark.broker("mosquitto")
def test_a_real_broker_that_is_dead_is_left_out(tmp_path: Path) -> None:
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers:
        first, second = plan_over(brokers, FIRST), plan_over(brokers, SECOND)
        bring(brokers, tmp_path / "state", first)
        brokers.kill("d")
        with opened(tmp_path / "state") as state:
            proposal = propose(state, second)
            silent = unanswering(brokers.fleet, proposal)
            assert silent == {"d"}
            present = read_present(brokers.fleet, second.brokers, tmp_path / "state", silent)
            proposal = adjusted(state, brokers.fleet, proposal, present, silent, silent)
            carry_out(state, brokers.fleet, proposal, lambda _: None, silent=silent, present=present)
        brokers.restart("d")
        wait_until_all_answer(brokers.fleet)
        assert bring(brokers, tmp_path / "state", second) == []
        assert probe(second, ["t", "u"], 20) == len(WANTED)
