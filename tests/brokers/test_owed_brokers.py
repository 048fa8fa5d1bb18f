"""Brokers that leave while they cannot be reached: tried again with growing waits, and not counted as changes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from test_watching import Watched, lines

from topicloom.brokers import watch as controlling
from topicloom.brokers.watch import Allowance
from topicloom.model.events import Event
from topicloom.model.fleet import Broker

A_LEAVES = Event(1, "leave", "a")


def reloads(watched: Watched, of: str) -> int:
    return watched.fleet.reloaded().count(of)


def test_it_is_asked_less_and_less_and_told_when_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, silent = Watched.looked_at(tmp_path, monkeypatch)
    watched.turns()
    asked: list[float] = []

    def ask(broker: Broker, *_: object) -> bool:
        if broker.name == "a":
            asked.append(watched.now)
        return broker.name not in silent

    monkeypatch.setattr(controlling, "answers", ask)
    silent.add("a")
    watched.events.write_text(lines(A_LEAVES))
    before = reloads(watched, "a")
    watched.allowance = Allowance(8)
    watched.now += 3600

    def happen(turn: int) -> None:
        if turn == 300:
            with watched.events.open("a") as file:
                file.write(lines(Event(2, "join", "g", ("t", "v")), Event(3, "leave", "f")))
        if turn == 400:
            silent.clear()

    made = watched.turns(1000, happening=happen)
    assert "a left, and could not be reached: it does not answer" in watched.said
    assert made.waiting is None, "what is owed takes nothing from the allowance"
    assert made.decisions.last_event == 3
    assert "a" not in made.state.owed
    assert reloads(watched, "a") == before + 1
    assert "connection" not in watched.fleet.written()["a"]
    waits = [after - earlier for earlier, after in pairwise(asked)]
    assert len(asked) < 20
    assert 50 < max(waits) < 65
    watched.assert_applied(made)


def test_it_answers_and_cannot_be_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, _ = Watched.looked_at(tmp_path, monkeypatch)
    watched.turns()
    log = tmp_path / "tried"
    watched.fleet.tables["brokers"]["a"]["apply"] = {"reload": f"sh -c 'echo a >> {log}; exit 1'"}
    watched.events.write_text(lines(A_LEAVES))
    watched.allowance = Allowance(6)
    watched.now += 3600
    made = watched.turns(200)
    assert made.waiting is None
    assert "a" in made.state.owed
    assert 4 < len(log.read_text().split()) < 12
    with watched.events.open("a") as file:
        file.write(lines(Event(3, "leave", "c")))
    made = watched.turns(3)
    assert made.decisions.last_event == 3
    assert made.waiting is None


def test_a_broker_that_the_fleet_file_names_no_more(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.turns()
    del watched.fleet.tables["brokers"]["a"]
    watched.turns(100)
    told = [text for text in watched.said if text.startswith("a left, and could not be reached")]
    assert 1 < len(told) < 12
