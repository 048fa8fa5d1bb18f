"""Applying plans to fleets that are folders: the order, the way on after a failure, the way back, and refusals."""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, THIRD, WANTED, FolderFleet, assert_has
from hypothesis import given
from hypothesis import strategies as st

from topicloom import InputError, Interest, Overlay
from topicloom.brokers import Plan, make_plan
from topicloom.brokers.apply import ApplyStopped, carry_out, propose, propose_back
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.local import LOOPBACK, free_ports
from topicloom.brokers.moves import FleetMove, MoveStep
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.store import FleetState, opened


@pytest.fixture
def fleet(tmp_path: Path) -> FolderFleet:
    return FolderFleet(tmp_path)


def test_from_nothing_to_a_plan_and_to_another_one(fleet: FolderFleet) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    assert [done.step.broker for done in fleet.apply(first)] == ["a", "b"], "others open no links"
    assert_has(fleet, first)
    assert fleet.reloaded() == ["a", "b"]
    steps = compare_plans(first, second).steps
    done = fleet.apply(second)
    assert [(one.step.broker, one.step.file is None) for one in done] == [(step.broker, step.clear) for step in steps]
    assert any(one.step.file is None for one in done), "some wait for each other"
    assert_has(fleet, second)
    assert fleet.apply(second) == [], "it has it already"


def test_files_can_be_read_by_their_owner_alone(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path / "one")
    fleet.apply(fleet.plan(FIRST))
    assert stat.S_IMODE((fleet.files / "a.conf").stat().st_mode) == 0o600
    other = FolderFleet(tmp_path / "two", mode="640")
    other.apply(other.plan(FIRST))
    assert stat.S_IMODE((other.files / "a.conf").stat().st_mode) == 0o640


def test_a_step_has_one_deadline_for_all_that_it_does(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path, reload="sleep 1.5", seconds=2, check="port")
    for broker in fleet.tables["brokers"].values():
        broker |= {"host": LOOPBACK, "port": free_ports(["x"])["x"]}
    began = time.monotonic()
    with pytest.raises(ApplyStopped, match=r"does not answer \(Connection refused\), after 2 s; 0 of 2 steps"):
        fleet.apply(fleet.plan(FIRST))
    assert time.monotonic() - began < 3.2


def test_a_step_that_fails_stops_and_the_next_run_goes_on_or_back(fleet: FolderFleet, tmp_path: Path) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    steps = compare_plans(first, second).steps
    broken = FolderFleet(
        tmp_path, reload=f"sh -c 'test {{broker}} != {steps[1].broker} || {{ echo no luck; exit 3; }}'"
    )
    with pytest.raises(ApplyStopped) as stopped:
        broken.apply(second)
    assert str(stopped.value) == (
        f"step 2 of 3, broker '{steps[1].broker}': sh ended with status 3: no luck; 1 of 3 steps are done. "
        "Apply again to go on, or roll back"
    )
    with pytest.raises(
        InputError, match=r"^the fleet is on its way to another plan, 1 of 3 steps are done; apply that"
    ):
        fleet.apply(fleet.plan(THIRD))
    undone = fleet.roll_back()
    # The step that failed may have been done in part, so it is undone too.
    assert [one.step.broker for one in undone] == [steps[1].broker, steps[0].broker]
    assert_has(fleet, first)
    with pytest.raises(ApplyStopped):
        broken.apply(second)
    assert [one.step.broker for one in fleet.apply(second)] == [step.broker for step in steps[1:]]
    assert_has(fleet, second)


def test_the_plan_before(fleet: FolderFleet) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    fleet.apply(second)
    fleet.roll_back()
    assert_has(fleet, first)
    fleet.roll_back()
    assert_has(fleet, second)


def test_back_to_nothing(fleet: FolderFleet) -> None:
    with opened(fleet.state) as state, pytest.raises(InputError, match="nothing was applied, so there is nothing"):
        propose_back(state)
    fleet.apply(fleet.plan(FIRST))
    fleet.roll_back()
    assert all("connection" not in text for text in fleet.written().values())


def test_a_plan_that_others_replaced_is_refused(fleet: FolderFleet) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    fleet.apply(second)
    with pytest.raises(InputError, match=r"^the plan is behind the state: it was applied before, and others since; "):
        fleet.apply(first)
    fleet.apply(first, older=True)
    assert_has(fleet, first)


def test_the_state_of_another_fleet_is_refused(fleet: FolderFleet, tmp_path: Path) -> None:
    fleet.apply(fleet.plan(FIRST))
    other = FolderFleet(tmp_path, names=["x", "y"])
    plan = other.plan([("x", "y")], [("x", "t"), ("y", "t")])
    with pytest.raises(InputError, match=r"is the state of another fleet; it has no broker of this plan, but 'a'$"):
        other.apply(plan)


def test_a_broker_that_leaves_while_it_cannot_be_reached_is_told_when_it_is_back(
    fleet: FolderFleet, tmp_path: Path
) -> None:
    fleet.apply(fleet.plan(FIRST))
    rest = [pair for pair in WANTED if pair[0] != "a"]
    smaller = fleet.plan([("b", "c"), ("b", "d")], rest)
    away = FolderFleet(tmp_path, reload="sh -c 'test {broker} != a'")
    done = away.apply(smaller)
    assert [(one.step.broker, one.unreached) for one in done if one.unreached] == [
        ("a", "sh ended with status 1: it said nothing")
    ]
    # It is still away, which stops nothing.
    other = fleet.plan([("b", "c"), ("b", "d")], [*rest, ("c", "v"), ("b", "v")])
    assert [one.step.broker for one in away.apply(other) if one.unreached] == ["a"]
    # It is back: what it has goes before anything else happens.
    again = fleet.plan(SECOND)
    done = fleet.apply(again)
    assert (done[0].step.broker, done[0].step.file) == ("a", None)
    assert_has(fleet, again)
    with opened(fleet.state) as state:
        assert state.owed == {}


def test_what_a_fleet_file_does_not_say(fleet: FolderFleet, tmp_path: Path) -> None:
    plan = fleet.plan(FIRST)
    unknown = FolderFleet(tmp_path, names="bcd")
    with pytest.raises(InputError, match=r"^fleet: has no broker 'a', which the plan has$"):
        unknown.apply(plan)
    fleet.tables["defaults"] = {}
    with pytest.raises(InputError, match=r"^fleet: broker 'a': has no apply, which says how its file gets there$"):
        fleet.apply(plan)
    assert fleet.written() == {}


@pytest.mark.parametrize("target", ["nats", "rabbitmq"])
def test_probes_are_for_mosquitto(fleet: FolderFleet, target: str) -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet.fleet, target=target)
    with opened(fleet.state) as state:
        with pytest.raises(
            InputError, match=rf"^probe sends its messages by MQTT, which {target} does not speak; leave"
        ):
            carry_out(state, fleet.fleet, propose(state, plan), lambda done: None, probing=True)
        assert state.new
    assert fleet.written() == {}


@pytest.mark.parametrize(("check", "probing"), [("links", False), ("port", True)])
def test_without_the_mqtt_client_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str, probing: bool
) -> None:
    fleet = FolderFleet(tmp_path, check=check)
    monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    with opened(fleet.state) as state:
        with pytest.raises(InputError, match=r"the MQTT client is not installed: pip install 'topicloom\[live\]'"):
            carry_out(state, fleet.fleet, propose(state, fleet.plan(FIRST)), lambda done: None, probing=probing)
        assert state.new
    assert fleet.written() == {}


def test_a_password_that_is_gone_within_a_step_stops_it(fleet: FolderFleet, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    for table in fleet.tables["brokers"].values():
        table["credentials"] = {"username": "bridge", "password_file": str(secret)}
    fleet.tables["defaults"]["apply"]["reload"] = f"rm -f {secret}"
    with pytest.raises(
        ApplyStopped, match=r"^step 2 of 2, broker 'b': broker '.': the password should be in the file "
    ):
        fleet.apply(fleet.plan(FIRST))


def test_two_at_a_time_are_refused(fleet: FolderFleet) -> None:
    with opened(fleet.state), pytest.raises(InputError, match=r"is in use by another process$"):
        fleet.apply(fleet.plan(FIRST))


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    fleet.state.mkdir()
    (fleet.state / "letters").touch()
    with pytest.raises(InputError, match=r"holds 'letters' and is no state of a fleet; give a new or empty folder$"):
        fleet.apply(fleet.plan(FIRST))


def test_a_full_disk_is_one_line_and_nothing_is_half(fleet: FolderFleet) -> None:
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    with opened(fleet.state) as state:
        ((pages,),) = state.store.execute("PRAGMA page_count")
        state.store.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match=r"fleet\.db: cannot be written \(No space left on device\)$"):
            go_to_and_fro(state, fleet, second)
    with opened(fleet.state) as state:
        under_way = state.move is not None
    fleet.apply(second, older=True) if not under_way else fleet.roll_back()
    with opened(fleet.state) as state:
        has = state.plan(state.has, "mosquitto")
    assert has in (first, second)
    assert_has(fleet, has)


def go_to_and_fro(state: FleetState, fleet: FolderFleet, plan: Plan) -> None:
    """Apply a plan and go back, a hundred times."""
    proposal = propose(state, plan)
    for _ in range(100):
        carry_out(state, fleet.fleet, proposal, lambda done: None)
        proposal = propose_back(state)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path, path=f"{tmp_path}/missing/{{broker}}.conf")
    with pytest.raises(ApplyStopped, match=r"missing does not exist; 0 of 2 steps are done"):
        fleet.apply(fleet.plan(FIRST))


def test_a_damaged_store_is_refused_and_left_as_it_is(fleet: FolderFleet) -> None:
    fleet.apply(fleet.plan(FIRST))
    path = fleet.state / "fleet.db"
    good = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def refused(content: bytes, problem: str) -> None:
        path.write_bytes(content)
        with pytest.raises(InputError, match=problem):
            fleet.apply(fleet.plan(SECOND))
        assert path.read_bytes() == content

    refused(b"", r"fleet\.db: is damaged; put it back from a copy$")
    refused(b"a letter" * 1000, r"fleet\.db: is not a store of Topicloom$")
    refused(good[: len(good) // 2 - 100], r"fleet\.db: is damaged; put it back from a copy$")
    path.write_bytes(good)
    with opened(fleet.state) as state:
        state.store.execute("UPDATE plans SET text = CAST(substr(text, 1, 90) || x'00' || substr(text, 92) AS BLOB)")
    with pytest.raises(
        InputError, match=r"fleet\.db: its plan [0-9a-f]{16} is damaged; put the store back from a copy$"
    ):
        fleet.apply(fleet.plan(SECOND))
    with opened(fleet.state) as state:
        state.store.set_meta({"kind": "maintain"})
    with pytest.raises(InputError, match=r"fleet\.db: is a store of maintain, not of fleet$"):
        fleet.apply(fleet.plan(SECOND))


@pytest.mark.parametrize("name", ["fleet.log", "decisions.log"])
def test_a_state_of_an_earlier_version_is_refused(fleet: FolderFleet, name: str) -> None:
    fleet.state.mkdir()
    (fleet.state / name).write_text("0123abcd {}\n")
    with pytest.raises(
        InputError, match=r"state: is a state of an earlier version of Topicloom; begin with a new folder$"
    ):
        fleet.apply(fleet.plan(FIRST))
    assert [path.name for path in fleet.state.iterdir()] == [name]


def test_passwords_are_in_no_file_but_the_brokers(fleet: FolderFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGE_PASSWORD", "hunter2")
    for table in fleet.tables["brokers"].values():
        table["credentials"] = {"username": "bridge", "password_env": "BRIDGE_PASSWORD"}
    plan = fleet.plan(FIRST)
    fleet.apply(plan)
    assert "hunter2" in fleet.written()["a"]
    for path in fleet.state.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes()
    monkeypatch.delenv("BRIDGE_PASSWORD")
    with pytest.raises(InputError, match=r"BRIDGE_PASSWORD, which is not set$"):
        fleet.apply(fleet.plan(SECOND))
    monkeypatch.setenv("BRIDGE_PASSWORD", "hunter2")
    assert_has(fleet, plan)


def test_plans_that_are_given_up_one_after_the_other(fleet: FolderFleet) -> None:
    """What the first of them touched is remembered, though the second came to nothing."""
    first, second, third = fleet.plan(FIRST), fleet.plan(SECOND), fleet.plan(THIRD)
    fourth = fleet.plan([("a", "b"), ("c", "b"), ("b", "d")])

    def fails_at(plan: Plan, name: str) -> None:
        broken = FolderFleet(fleet.folder, reload=f"sh -c 'test {{broker}} != {name}'")
        with opened(fleet.state) as state, pytest.raises(ApplyStopped):
            carry_out(state, broken.fleet, propose(state, plan, instead=True), lambda done: None)

    fleet.apply(first)
    order = [step.broker for step in compare_plans(first, second).steps]
    fails_at(second, order[1])
    fails_at(third, min(order))
    with opened(fleet.state) as state:
        steps = propose(state, fourth, instead=True).steps
        assert [(step.broker, step.file) for step in steps[: len(set(order))]] == [
            (name, None) for name in sorted({*order})
        ]
    fleet.roll_back()
    assert_has(fleet, first)
    assert fleet.written() == {name: text for name, text in configurations(first).items() if name in fleet.written()}
    fails_at(second, order[1])
    fails_at(third, min(order))
    with opened(fleet.state) as state:
        carry_out(state, fleet.fleet, propose(state, fourth, instead=True), lambda done: None)
    assert_has(fleet, fourth)


@given(
    brokers=st.lists(st.sampled_from("abcd"), min_size=1, max_size=6),
    events=st.lists(st.sampled_from(["done", "killed before", "killed after", "forth", "back"]), max_size=40),
    back=st.booleans(),
)
def test_whatever_happens_on_the_way_brokers_end_with_their_files(
    brokers: list[str], events: list[str], back: bool
) -> None:
    first: dict[str, str | None] = {}
    last: dict[str, str | None] = {}
    steps = []
    for number, name in enumerate(brokers):
        first.setdefault(name, f"{name} before")
        steps.append(MoveStep(name, f"{name}{number}", last.get(name, first[name])))
        last[name] = f"{name}{number}"
    move, files = FleetMove("old", "new", tuple(steps)), dict(first)
    for event in [*events, "back" if back else "forth", *["done"] * len(steps)]:
        if event in ("forth", "back"):
            move = move.turned(event == "back")
        elif not move.finished:
            step, move = move.next_step(), move.after("begun")
            if event != "killed before":
                files[step.broker] = step.file
            if event == "done":
                move = move.after("done")
    assert move.finished
    assert files == (first if back else last)
    assert move.reached == ("old" if back else "new")


def test_a_proposal_says_what_is_left(fleet: FolderFleet) -> None:
    first = fleet.plan(FIRST)
    with opened(fleet.state) as state:
        proposal = propose(state, first)
        assert [step.broker for step in proposal.steps] == ["a", "b"]
        assert configurations(proposal.wants) == configurations(first)
        assert state.new
