"""The store of a fleet: killed before and after each commit, killed at random, and what is left for later runs."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, FolderFleet, assert_has
from following import Decided

from killed_writes import commits_of, dies_at_commit
from topicloom import InputError, Interest, synthetic
from topicloom.brokers import Plan, bridge_sessions, deliver
from topicloom.brokers.apply import carry_out, propose
from topicloom.brokers.store import opened
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand
from topicloom.model.fleet import Broker
from topicloom.workloads import churn_trace

forks = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads, which do nothing here


@forks
@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("back", [False, True])
def test_a_change_killed_at_each_commit(tmp_path: Path, how: str, back: bool) -> None:
    def begun(name: str) -> FolderFleet:
        fleet = FolderFleet(tmp_path / name, reload=None)
        fleet.apply(fleet.plan(FIRST))
        return fleet

    undisturbed = begun("undisturbed")
    count = commits_of(partial(undisturbed.apply, undisturbed.plan(SECOND)))
    assert count >= 8, "the move, two for each of three steps, and its end"
    for turn in range(1, count + 1):
        fleet = begun(str(turn))
        first, second = fleet.plan(FIRST), fleet.plan(SECOND)
        assert dies_at_commit(turn, how, partial(fleet.apply, second))
        with opened(fleet.state) as state:
            nothing_begun = state.move is None and len(state.earlier) == 1
        if back and not nothing_begun:
            # The way back may be killed, too.
            dies_at_commit(turn, how, fleet.roll_back)
            fleet.apply(first, older=True)
            assert_has(fleet, first)
        else:
            fleet.apply(second)
            assert_has(fleet, second)
        with opened(fleet.state) as state:
            assert not state.unfinished


APPLYING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from folder_fleets import FIRST, SECOND, FolderFleet
fleet = FolderFleet(Path(sys.argv[1]), reload=None)
print("ready", flush=True)
while True:
    for links in (FIRST, SECOND):
        fleet.apply(fleet.plan(links), older=True)
"""


@pytest.mark.slow
def test_a_process_killed_at_random(tmp_path: Path) -> None:
    draw = random.Random(3)
    fleet = FolderFleet(tmp_path, reload=None)
    plans = fleet.plan(FIRST), fleet.plan(SECOND)
    for _ in range(6):
        command = [sys.executable, "-c", APPLYING, str(tmp_path), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(draw.random() * 0.2)
            process.kill()
        for part in fleet.files.glob(".*"):
            part.unlink()  # of a file that was being written
        with opened(fleet.state) as state:
            under_way = None if state.move is None else state.move.new
        if under_way is not None and draw.random() < 0.5:
            fleet.roll_back()
        else:
            for plan in plans:
                with opened(fleet.state) as state:
                    wanted = propose(state, plan, older=True).wants if under_way is None else state.plan(under_way, "")
                fleet.apply(wanted, older=True)
                under_way = None
        with opened(fleet.state) as state:
            assert state.move is None
            now = state.plan(state.has, "mosquitto")
        assert_has(fleet, now)


@forks
@pytest.mark.parametrize("how", ["before", "after"])
def test_decisions_killed_at_each_commit(tmp_path: Path, how: str) -> None:
    interest = synthetic(12, 8, popularity="uniform", sizes="uniform", min_topics=2, max_topics=4, seed=5)
    events, begin = churn_trace(interest, 6, seed=4), Demand.from_interest(interest)

    def follow(folder: Path) -> Decided:
        decisions = Decided(folder, Constraints(), begin)
        for event in events:
            if event.id > decisions.last_event:
                assert decisions.take(event) is None
        decisions.close()
        return decisions

    count = commits_of(lambda: follow(tmp_path / "undisturbed"))
    whole = follow(tmp_path / "undisturbed")
    assert count >= len(events) + 2
    for turn in range(1, count + 1):
        assert dies_at_commit(turn, how, lambda folder=tmp_path / str(turn): follow(folder))
        again = follow(tmp_path / str(turn))
        assert again.overlay().to_arrow() == whole.overlay().to_arrow()
        assert (again.demand, again.last_event) == (whole.demand, whole.last_event)


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> tuple[set[str], list[tuple[str, str]]]:
    """Brokers that refuse, which the test may change, and the sessions that were ended."""
    refusing: set[str] = set()
    ended: list[tuple[str, str]] = []

    def session(broker: Broker, name: str, wanted: list[tuple[str, int]]) -> None:
        if broker.name in refusing:
            raise InputError(f"{broker.name} does not answer")
        if not wanted:
            ended.append((broker.name, name))

    monkeypatch.setattr(bridge_sessions, "make_session", session)
    monkeypatch.setattr(bridge_sessions, "let_arrive", lambda: None)
    monkeypatch.setattr(deliver, "wait_until_taken", lambda *_: None)
    return refusing, ended


def refused(folder: Path, refusing: set[str]) -> tuple[FolderFleet, Plan, Plan]:
    """A fleet that went from one plan to another while a broker refused to end its sessions, and the plans."""
    fleet = FolderFleet(folder, check="links")
    first, second = fleet.plan(FIRST), fleet.plan(SECOND)
    fleet.apply(first)
    refusing.add("c")
    fleet.apply(second)
    return fleet, first, second


def test_sessions_that_could_not_be_ended_are_ended_later(
    tmp_path: Path, sessions: tuple[set[str], list[tuple[str, str]]]
) -> None:
    refusing, ended = sessions
    fleet, _, second = refused(tmp_path, refusing)
    with opened(fleet.state) as state:
        owed = set(state.owed_sessions)
        assert {broker for broker, _ in owed} == {"c"}
        carry_out(state, fleet.fleet, propose(state, second), lambda done: None, silent=["c"])
        assert set(state.owed_sessions) == owed
    refusing.clear()
    ended.clear()
    assert fleet.apply(second) == []
    assert set(ended) == owed
    with opened(fleet.state) as state:
        assert not state.owed_sessions


def test_a_session_that_is_needed_again_is_not_ended(
    tmp_path: Path, sessions: tuple[set[str], list[tuple[str, str]]]
) -> None:
    refusing, ended = sessions
    fleet, first, _ = refused(tmp_path, refusing)
    with opened(fleet.state) as state:
        owed = set(state.owed_sessions)
    fleet.apply(first, older=True)
    refusing.clear()
    ended.clear()
    with opened(fleet.state) as state:
        assert not owed & state.owed_sessions
    fleet.apply(first)
    assert not owed & set(ended)


def test_old_moves_and_plans_are_forgotten(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path, reload=None, names="ab")
    for number in range(60):
        fleet.apply(fleet.plan([("a", "b")], [("a", f"t{number}"), ("b", f"t{number}")]))
    with opened(fleet.state) as state:
        ((plans,),) = state.store.execute("SELECT count(*) FROM plans")
        assert 50 <= plans <= 52
        assert len(state.earlier) == 60
        assert state.had(str(state.earlier[0]))
        with pytest.raises(InputError, match=r"fleet\.db: keeps no plan [0-9a-f]{16} any more$"):
            state.plan(state.earlier[0], "mosquitto")


def test_others_read_beside_the_one_that_changes_it(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    fleet.apply(fleet.plan(FIRST))
    interest = Demand.from_interest(Interest.from_pairs([("a", "t")]))
    with opened(fleet.state), pytest.raises(InputError, match=r"is in use by another process$"):
        Decided(fleet.state, Constraints(), interest)
