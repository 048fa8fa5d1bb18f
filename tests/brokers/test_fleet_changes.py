"""Following a fleet: events tell every change once, whatever ends a run."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from effort import times
from topicloom import InputError
from topicloom.brokers import Collected, fleet_changes
from topicloom.brokers.collect import EventsLog
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.model.demand import Demand
from topicloom.model.events import read_events

FLEET = fleet_from_tables({"brokers": {name: {"host": name, "collect": {"log": f"{name}.log"}} for name in "ab"}})


@pytest.fixture(autouse=True)
def _logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        Path(f"{name}.log").touch()
    Path("raw").mkdir()


def said(broker: str, text: str) -> None:
    with Path(f"{broker}.log").open("a") as log:
        log.write(f"1790000000: {text}\n")


def look(events: str = "events.jsonl") -> list[str]:
    changes = fleet_changes(FLEET, Path("raw"), Path(events), every_seconds=0)
    return [event.to_json() for event in next(changes).events]


def test_events_since_what_was_collected() -> None:
    said("a", "x 1 news")
    assert look() == [], "what is there at first is no event"
    said("a", "y 1 news")
    assert look() == [], "a second client of a broker changes nothing"
    said("a", "y 1 sport")
    said("b", "z 1 news")
    assert look() == [
        '{"id": 0, "event": "join", "node": "b", "topics": ["news"]}',
        '{"id": 1, "event": "change", "node": "a", "add": ["sport"], "remove": []}',
    ]
    said("b", "Client z disconnected.")
    assert look() == ['{"id": 2, "event": "leave", "node": "b"}']
    assert [event.id for event in read_events("events.jsonl")] == [0, 1, 2]


def test_a_run_that_was_killed_between_keeping_and_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    said("a", "x 1 news")
    look()
    said("b", "z 1 news")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(EventsLog, "tell", killed)
        with pytest.raises(KeyboardInterrupt):
            look()
    assert "z" in Collected.read(Path("raw")).to_arrow()["client"].to_pylist(), "the row was kept"
    assert look() == ['{"id": 0, "event": "join", "node": "b", "topics": ["news"]}'], "and is told now"
    assert look() == []


def test_half_a_line_that_was_written_is_written_again() -> None:
    said("a", "x 1 news")
    look()
    said("b", "z 1 news")
    look()
    with Path("events.jsonl").open("a") as file:
        file.write('{"id": 1, "event": "lea')
    said("b", "z news")
    assert look() == ['{"id": 1, "event": "leave", "node": "b"}']
    assert len(read_events("events.jsonl")) == 2


def test_a_folder_gets_a_file_for_each_telling() -> None:
    Path("incoming").mkdir()
    said("a", "x 1 news")
    look("incoming")
    said("b", "z 1 news")
    look("incoming")
    said("b", "z news")
    look("incoming")
    assert look("incoming") == []
    assert sorted(file.name for file in Path("incoming").glob("*")) == [
        "events-000000000000.jsonl",
        "events-000000000001.jsonl",
    ]


def test_events_of_somebody_else_stay() -> None:
    Path("events.jsonl").write_text('{"id": 1, "event": "leave", "node": "b"}\n')
    with pytest.raises(InputError, match="has events that were not told from here"):
        look()


@pytest.mark.parametrize("seed", range(times(20)))
def test_events_lead_from_one_to_the_other(seed: int) -> None:
    rng = random.Random(seed)

    def draw() -> dict[str, frozenset[str]]:
        topics = {node: frozenset(rng.sample("abcdef", rng.randrange(4))) for node in "uvwxyz"}
        return {node: wanted for node, wanted in topics.items() if wanted}

    old, new = Demand.of_topics(draw()), Demand.of_topics(draw())
    events = old.events_to(new, 7)
    assert old.after(*events).by_node == new.by_node
    assert [event.id for event in events] == list(range(7, 7 + len(events)))
    assert len(events) == len({event.node for event in events})
    assert json.loads(events[0].to_json())["id"] == 7 if events else old == new
