"""Following a fleet: events, losses and returns, limits, what survives a kill; and long runs."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from campaign.simulated_fleet import AtOnce
from folder_fleets import FolderFleet
from following import Decided
from hypothesis import given
from hypothesis import strategies as st

from killed_writes import commits_of
from topicloom import InputError, Interest, Overlay, design, synthetic
from topicloom.brokers import deliver
from topicloom.brokers import watch as controlling
from topicloom.brokers.decisions import Decisions, MeshLinks, Plannable
from topicloom.brokers.feed import CollectedFeed, LineFeed
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.health import HoldDown
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Allowance, Controller, WatchSettings, read_window, watch
from topicloom.churn.maintainer import broken_topics
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.demand import Demand, wishes_for
from topicloom.model.events import Event
from topicloom.workloads import churn_trace

NAMES = "abcdefg"
WANTED = [(name, topic) for name in "abcdef" for topic in ("t", "u" if name < "d" else "v")]
JOIN = Event(1, "join", "g", ("t", "v"))
CHANGE = Event(2, "change", "a", ("v",), ("u",))
LEAVE = Event(3, "leave", "b")


def lines(*events: Event) -> str:
    return "".join(event.to_json() + "\n" for event in events)


class Watched:
    """A fleet of folders under control, in turns that the test takes."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.fleet = FolderFleet(folder, names=NAMES)
        self.events = folder / "events.jsonl"
        self.events.touch()
        self.said: list[str] = []
        self.settings = WatchSettings(apply=True, **{"health": False, **settings})
        self.allowance = Allowance(1000)
        self.now = 1_000_000.0

    @classmethod
    def looked_at(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Watched, set[str]]:
        """A fleet whose brokers are looked at, and those of them that are silent, which the test may change."""
        watched = cls(folder, health=True, down_seconds=2, up_seconds=3)
        watched.fleet.tables["defaults"]["apply"]["check"] = "port"
        silent: set[str] = set()
        monkeypatch.setattr(controlling, "answers", lambda broker, *_: broker.name not in silent)
        monkeypatch.setattr(deliver, "wait_until_taken", lambda *_: None)
        return watched, silent

    def turns(
        self, number: int = 1, seconds: float = 1.0, happening: Callable[[int], object] = lambda turn: None
    ) -> Controller:
        with opened(self.fleet.state, lambda: self.now) as state:
            fleet = self.fleet.fleet
            decisions = Decisions(
                state,
                fleet.constraints,
                Demand.from_interest(Interest.from_pairs(WANTED)),
                plannable=Plannable(fleet, self.settings.target),
            )
            feed = LineFeed(str(self.events), decisions.last_event, state.store.meta)
            said = self.said.append
            made = Controller(
                fleet, decisions, state, feed, self.allowance, self.settings, said, feed.kept, pool=AtOnce()
            )
            for turn in range(number):
                happening(turn)
                self.now += seconds
                made.turn(self.now)
            decisions.close()
            return made

    def assert_applied(self, made: Controller) -> None:
        files, texts = self.fleet.written(), configurations(made.plan())
        for name in files.keys() | texts.keys():
            assert ("connection" in files.get(name, "")) == ("connection" in texts.get(name, ""))
            assert "connection" not in texts.get(name, "") or files[name] == texts[name]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_events_are_taken_mended_and_applied(watched: Watched) -> None:
    watched.assert_applied(watched.turns())
    with watched.events.open("a") as file:
        file.write(lines(JOIN, CHANGE) + "nonsense\n" + lines(Event(1, "leave", "c"))[:-5])
    made = watched.turns(2)
    assert made.decisions.last_event == 2
    assert made.decisions.demand.by_node["g"] == wishes_for("tv")
    assert made.decisions.demand.by_node["a"] == wishes_for("tv")
    assert not broken_topics(made.decisions.maintainer.overlay())
    watched.assert_applied(made)
    assert any("is not a JSON object" in text for text in watched.said)
    watched.events.write_text(lines(JOIN, CHANGE, LEAVE, Event(4, "leave", "z")))
    made = watched.turns(2)
    assert "b" not in made.decisions.demand.by_node
    assert "refused event 4: leave of 'z', which is not there" in watched.said
    watched.assert_applied(made)


def test_only_shown_unless_it_may(watched: Watched, tmp_path: Path) -> None:
    watched.settings = WatchSettings(health=False)
    made = watched.turns(3)
    assert watched.fleet.written() == {}
    assert len([text for text in watched.said if text.startswith("would put new files on")]) == 1
    assert made.waiting == "it only shows what it would do"


def test_a_killed_controller_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Its store may have decisions after the snapshot."""
    interest = synthetic(20, 12, popularity="uniform", sizes="uniform", min_topics=2, max_topics=4, seed=5)
    events = churn_trace(interest, 12, seed=4)
    whole = Decided(made(tmp_path / "whole"), Constraints(), Demand.from_interest(interest))
    for event in events[:6]:
        whole.take(event)
    whole.lose("n01")
    for event in events[6:]:
        whole.take(event)
    whole.regain("n01")
    whole.tidy(100)
    shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    again = Decided(tmp_path / "killed", Constraints(), None)
    assert again.demand == whole.demand
    assert again.maintainer.overlay().to_arrow() == whole.maintainer.overlay().to_arrow()
    again.close()
    from_snapshot = Decided(tmp_path / "killed", Constraints(), None)
    assert from_snapshot.maintainer.overlay().to_arrow() == whole.maintainer.overlay().to_arrow()
    assert from_snapshot.last_event == events[-1].id


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_lost_broker_is_left_out_and_taken_in_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, silent = Watched.looked_at(tmp_path, monkeypatch)
    watched.assert_applied(watched.turns())
    silent.add("b")
    state = watched.turns(2)
    assert state.decisions.away == set(), "two seconds of silence are not over"
    with_health = watched.turns(4)
    assert with_health.decisions.away == {"b"}
    assert "b" not in with_health.plan().broker
    assert not broken_topics(with_health.decisions.maintainer.overlay())
    watched.assert_applied(with_health)
    silent.clear()
    back = watched.turns(6)
    assert back.decisions.away == set()
    assert "b" in back.plan().broker
    watched.assert_applied(back)
    assert watched.said.count("b is gone") == watched.said.count("b is back") == 1
    silent.add("c")
    text = lines(Event(1, "leave", "c"), Event(2, "join", "c", ("t",)))
    again = watched.turns(12, happening=lambda turn: watched.events.write_text(text if turn > 5 else ""))
    assert again.decisions.last_event == 2
    assert again.decisions.away == {"c"}, "gone, left and joined again, and still gone"
    silent.update(NAMES)
    assert watched.turns(9).decisions.away == {"c"}, "all at once is rather our own network"


def test_a_move_that_stopped_is_given_up_for_a_better_plan(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.assert_applied(watched.turns())
    reload = watched.fleet.tables["defaults"]["apply"]["reload"]
    watched.events.write_text(lines(JOIN, CHANGE))
    count = tmp_path / "count"
    watched.fleet.tables["defaults"]["apply"]["reload"] = f"sh -c 'echo >> {count}; test $(wc -l < {count}) != 2'"
    stopped = watched.turns()
    assert str(stopped.waiting).startswith("step 2 of ")
    watched.fleet.tables["defaults"]["apply"]["reload"] = reload
    watched.events.write_text(lines(JOIN, CHANGE, LEAVE))
    done = watched.turns(2)
    assert done.waiting is None
    watched.assert_applied(done)


def test_limits(watched: Watched) -> None:
    watched.allowance = Allowance(3)
    made = watched.turns()
    assert made.applied == 1, "a first change may be larger than the limit"
    watched.events.write_text(lines(JOIN))
    made = watched.turns()
    assert "were changed within the hour, and 3 may be" in str(made.waiting)
    watched.now += 3600
    assert watched.turns().waiting is None


def test_windows() -> None:
    assert read_window("22:00-05:30") == (1320, 330)
    for wrong in ("22-5", "25:00-26:00", "05:00-05:00", "10:61-11:00"):
        with pytest.raises(InputError, match=r"^a window is two times of the day, such as 22:00-05:30, not '"):
            read_window(wrong)
    for window, hour, open_ in (((1320, 330), 23, True), ((1320, 330), 12, False), ((60, 120), 1, True)):
        now = datetime(2026, 3, 1, hour, 30).timestamp()
        assert (Allowance(9, window).refusal(1, 0, now) is None) == open_


@given(st.lists(st.booleans(), max_size=300))
def test_flapping_brokers_do_not_make_a_fleet_flap(answers: list[bool]) -> None:
    hold = HoldDown(3, 5)
    hold.begin("b", there=True)
    decided = [hold.see("b", answers=answer, now=float(second)) for second, answer in enumerate(answers)]
    changes = [second for second, one in enumerate(decided) if one is not None]
    assert [decided[second] for second in changes] == [bool(i % 2) for i in range(len(changes))]
    for before, after in pairwise(changes):
        assert after - before >= 3


def test_each_loss_makes_it_harder_to_come_back() -> None:
    hold, needed, now = HoldDown(1, 2), [], 0.0
    for _ in range(14):
        while hold.see("b", answers=False, now=now) is None:
            now += 0.5
        needed.append(hold.needed_seconds("b"))
        while hold.see("b", answers=True, now=now) is None:
            now += 0.5
    assert needed[:4] == [2, 4, 8, 16]
    assert needed[-1] == 3600


@pytest.mark.slow
@pytest.mark.parametrize(("popularity", "seed"), [("zipf", 2), ("uniform", 3)])
def test_a_long_run_stays_near_a_fresh_design(tmp_path: Path, popularity: str, seed: int) -> None:
    interest = synthetic(30, 20, popularity=popularity, sizes="uniform", min_topics=3, max_topics=8, seed=seed)
    limits = Constraints(others=NodeRule(max_links=12))
    decisions = Decided(made(tmp_path / "state"), limits, Demand.from_interest(interest))
    for number, event in enumerate(churn_trace(interest, 120, seed=seed)):
        assert decisions.take(event) is None
        if number % 25 == 0:
            decisions.tidy(20)
    while decisions.tidy(20):
        pass
    overlay = decisions.maintainer.overlay()
    fresh = design(overlay.interest, "low-oda", constraints=limits)
    assert not broken_topics(overlay)
    assert overlay.degrees.max() <= 12
    assert len(overlay) <= 1.2 * len(fresh)
    assert overlay.degrees.max() <= 1.2 * fresh.degrees.max()


def test_no_more_links_are_tidied_than_needed() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "abcdefghij"])
    links = MeshLinks(Constraints())
    chain = Overlay.from_links(interest, pairwise("abcdefghij"))
    assert links.tidying(links.over(chain), 20) == []
    forked = Overlay.from_links(interest, [*pairwise("abcdefghi"), ("b", "j")])
    steps = links.tidying(links.over(forked), 20)
    assert 2 <= len(steps) <= 4
    after = {("b", "j"), *pairwise("abcdefghi")}
    for action, link in steps:
        (after.add if action == "add" else after.discard)(link)
    assert Overlay.from_links(interest, after).degrees.max() == 2


def test_what_cannot_begin(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is new; give the subscriptions that there are, or let brokers be asked"):
        Decided(made(tmp_path / "state"), Constraints(), None)
    with pytest.raises(InputError, match=r"^nowhere: no such file or folder$"):
        LineFeed("nowhere")


def test_a_folder_of_events(tmp_path: Path) -> None:
    feed = LineFeed(str(tmp_path))
    assert feed() == ([], [])
    (tmp_path / "1.jsonl").write_text(lines(JOIN))
    assert feed() == ([JOIN], [])
    (tmp_path / "2.jsonl").write_text(lines(CHANGE) + json.dumps({"id": 9})[:4])
    assert feed() == ([CHANGE], [])
    assert feed() == ([], [])


def test_what_brokers_no_longer_tell_counts_for_a_while(tmp_path: Path) -> None:
    log, clock = tmp_path / "a.log", [0.0]
    fleet = fleet_from_tables({"brokers": {"a": {"host": "a", "collect": {"log": str(log)}}}})
    said = "1793491200: New client connected from 10.1.0.7:51812 as app (p2, c1, k60).\n1793491201: app 1 t\n"
    log.write_text(said)
    feed = CollectedFeed(fleet, made(tmp_path / "kept"), Demand({}), 7, 30, lambda: clock[0])
    assert feed() == ([Event(7, "join", "a", ("t",), role="sub")], [])
    log.write_text(said + "1793491300: Client app disconnected.\n")
    clock[0] = 20.0
    assert feed() == ([], []), "it may come back"
    clock[0] = 31.0
    assert feed() == ([Event(8, "leave", "a")], [])
    log.unlink()
    events, (problem,) = feed()
    assert events == []
    assert problem.startswith("a cannot be asked: ")


def test_once_ends_when_there_is_no_news(watched: Watched) -> None:
    with opened(watched.fleet.state) as state:
        decisions = Decisions(state, watched.fleet.fleet.constraints, Demand.from_interest(Interest.from_pairs(WANTED)))
        feed = LineFeed(str(watched.events))
        watched.events.write_text(lines(JOIN))
        one = Controller(
            watched.fleet.fleet, decisions, state, feed, Allowance(99), watched.settings, watched.said.append
        )
        watch(one, once=True)
        assert decisions.last_event == 1
        watched.assert_applied(one)


def test_a_foreign_bridge_that_would_repeat_messages(watched: Watched) -> None:
    """The move waits, with the reason in the status, and is made when the bridge is gone."""
    folder = watched.fleet.folder
    watched.fleet.tables["defaults"]["apply"]["path"] = f"{folder}/files/{{broker}}/topicloom.conf"
    for name in NAMES:
        (folder / "files" / name).mkdir()
    hand = folder / "files" / "a" / "hand.conf"
    hand.write_text("connection hand\naddress host-b\ntopic # both\n")
    made = watched.turns(15)
    assert made.waiting is not None
    assert made.waiting.startswith(f"broker 'a': {hand}:1: with this bridge and the plan ")
    assert watched.said == [f"not applied: {made.waiting}"]
    assert not list((folder / "files").rglob("topicloom.conf"))
    hand.unlink()
    assert watched.turns(12).waiting is None
    assert list((folder / "files").rglob("topicloom.conf"))


def test_an_idle_second_plans_and_writes_nothing(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def settled(turn: int) -> None:
        if turn == 10:
            for module, name in ((controlling, "make_plan"), (controlling, "propose"), (MeshLinks, "tidying")):
                monkeypatch.setattr(module, name, None)
        if turn > 10:
            assert written() == before[0]
        before[:] = [written()]

    def written() -> list[tuple[str, int]]:
        return sorted((path.name, path.stat().st_mtime_ns) for path in watched.fleet.state.iterdir())

    before: list[list[tuple[str, int]]] = []
    made = watched.turns(200, happening=settled)
    assert made.waiting is None


def test_events_of_a_turn_are_one_commit(watched: Watched) -> None:
    watched.turns(2)
    watched.events.write_text(lines(JOIN, CHANGE, LEAVE))
    controller: list[Controller] = []
    count = commits_of(lambda: controller.append(watched.turns()))
    none = commits_of(lambda: watched.turns())
    assert controller[0].decisions.last_event == 3
    # For each step two more, for the move two, and one that notes what was applied.
    steps = len(watched.fleet.reloaded())
    assert count <= none + 1 + 2 + 1 + 2 * steps


def test_a_file_of_events_is_read_on_after_a_restart(watched: Watched) -> None:
    watched.events.write_text(lines(JOIN, CHANGE))
    watched.turns(2)
    with watched.events.open("a") as file:
        file.write(lines(LEAVE, Event(2, "leave", "c")))
    assert watched.turns(2).decisions.last_event == 3
    (said,) = [text for text in watched.said if "is skipped, as its id" in text]
    assert said == f"{watched.events}: event 2 is skipped, as its id is not higher than 3"


def test_what_drifts_is_told_and_mended_within_the_allowance(watched: Watched) -> None:
    first = watched.turns()
    file = watched.fleet.files / "a.conf"
    good = file.read_text()

    def edit(turn: int) -> None:
        look(turn)
        if turn == 5:
            file.write_text(good + "\nconnection more\naddress host-d\ntopic t both\n")

    def look(_: int) -> None:
        time.sleep(0.01)  # what brokers have is read in a thread of its own

    watched.allowance = Allowance(1)
    made = watched.turns(100, happening=edit)
    assert "were changed within the hour" in str(made.waiting)
    assert watched.said.count("a has other links") == 1
    watched.allowance = Allowance(100)
    watched.turns(100, happening=look)
    watched.assert_applied(first)
    watched.settings = replace(watched.settings, apply=False)
    file.write_text("")
    shown = watched.turns(100, happening=look)
    assert shown.waiting == "it only shows what it would do"
    assert "a has none of its links" in watched.said
    assert file.read_text() == ""
