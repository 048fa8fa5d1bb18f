"""State that survives: whenever a run ends, the next one goes on as if nothing had happened."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from topicloom import InputError, Overlay, design, synthetic
from topicloom.churn import Settings
from topicloom.churn.state import BATCH, STORE, MaintainedState, open_state
from topicloom.model.events import Event
from topicloom.workloads import churn_trace

INTEREST = synthetic(24, 12, popularity="zipf", alpha=1.0, sizes="uniform", min_topics=2, max_topics=6, seed=5)
EVENTS = churn_trace(INTEREST, 40, change_share=0.3, seed=3)


@cache
def overlay() -> Overlay:
    return design(INTEREST, "low-oda")


ALL = [
    Settings(),
    Settings(backups="greedy", prune=True, coverage=2, seed=9),
    Settings(method="naive", prune=True),
    Settings(method="rebuild"),
]


def go_on(state: MaintainedState, events: list[Event]) -> None:
    list(state.begin())
    for event in events:
        if state.is_due(event):
            state.take(event)


def written(overlay: Overlay, folder: Path) -> bytes:
    overlay.write(folder / "written.parquet")
    return (folder / "written.parquet").read_bytes()


def undisturbed(settings: Settings, folder: Path, events: list[Event] = EVENTS) -> bytes:
    with open_state(overlay(), settings) as state:
        go_on(state, events)
        return written(state.maintainer.overlay(), folder)


def half_way(folder: Path, settings: Settings = ALL[0]) -> None:
    """A run that ended after 20 events, without a word."""
    with open_state(overlay(), settings, folder) as state:
        go_on(state, EVENTS[:20])


def finished(folder: Path, settings: Settings = ALL[0]) -> bytes:
    with open_state(overlay(), settings, folder) as state:
        go_on(state, EVENTS)
        return written(state.maintainer.overlay(), folder.parent)


def sql(path: Path, statement: str, *values: str) -> list[tuple[int, str]]:
    """Run a statement as any other program could."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def bodies(folder: Path) -> list[tuple[int, str]]:
    """Batch and text of what is in the store."""
    return sql(folder / STORE, "SELECT batch, body FROM entries ORDER BY number")


def refusal(folder: Path, settings: Settings = ALL[0]) -> str:
    with pytest.raises(InputError) as refused:
        finished(folder, settings)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("settings", ALL, ids=lambda settings: settings.method + settings.backups)
def test_runs_that_end_at_any_event_go_on_alike(tmp_path: Path, settings: Settings) -> None:
    expected = undisturbed(settings, tmp_path)
    for step in (1, 7, 19):
        folder = tmp_path / f"state-{step}"
        for end in range(step, len(EVENTS) + step, step):
            with open_state(overlay(), settings, folder) as state:
                go_on(state, EVENTS[:end])
                if end % 2 == 0:
                    state.checkpoint()
        assert finished(folder, settings) == expected


@pytest.mark.parametrize("done", [0, 1, 7, 39])
def test_a_run_that_ends_within_a_batch(tmp_path: Path, done: int) -> None:
    """The whole batch was committed, so the next run does the rest of it, without being given the events."""
    folder = tmp_path / "state"
    with open_state(overlay(), Settings(), folder) as state:
        outcomes = state.take_all(EVENTS)
        first = [next(outcomes) for _ in range(done)]
    with open_state(overlay(), Settings(), folder) as state:
        again = list(state.begin())
        assert len(again) == (len(EVENTS) if done else 0)
        assert [outcome.change for outcome in again[:done]] == [outcome.change for outcome in first]
        assert state.last_event == (EVENTS[-1].id if done else None)
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def test_a_snapshot_within_a_batch_keeps_the_rest_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with open_state(overlay(), Settings(), folder) as state:
        outcomes = state.take_all(EVENTS)
        for _ in range(10):
            next(outcomes)
        state.checkpoint()
        with pytest.raises(RuntimeError, match="exhaust begin"):
            state.take(Event(99, "leave", "n01"))
    assert len(bodies(folder)) == 30
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def test_batches_have_a_limit(tmp_path: Path) -> None:
    many = churn_trace(INTEREST, 2 * BATCH + 50, seed=4)
    folder = tmp_path / "state"
    with open_state(overlay(), Settings(), folder) as state:
        outcomes = state.take_all(many)
        next(outcomes)
    assert len(bodies(folder)) <= BATCH
    with open_state(overlay(), Settings(), folder) as state:
        list(state.begin())
        list(state.take_all(event for event in many if state.is_due(event)))
        assert written(state.maintainer.overlay(), tmp_path) == undisturbed(Settings(), tmp_path, many)


def test_refused_events_are_seen_once_and_stored_as_refused(tmp_path: Path) -> None:
    """What is refused is decided before it is committed; a later batch is judged by what came before it."""
    odd = [Event(1, "leave", "nobody"), *[Event(e.id + 1, e.kind, e.node, e.add, e.remove) for e in EVENTS[:5]]]
    odd += [Event(8, "join", "new", ("t",)), Event(9, "join", "new", ("t",)), Event(10, "leave", "new")]
    folder = tmp_path / "state"
    with open_state(overlay(), Settings(), folder) as state:
        told = [outcome.error for outcome in state.take_all(odd)]
        assert [event.id for event, error in zip(odd, told, strict=True) if error] == [1, 9]
        expected = written(state.maintainer.overlay(), tmp_path)
    assert [json.loads(body)["refused"] for _, body in bodies(folder) if "refused" in body] == [told[0], told[-2]]
    with open_state(overlay(), Settings(), folder) as state:
        assert [outcome.error for outcome in state.begin()] == told
        assert not state.is_due(odd[-1])
        assert written(state.maintainer.overlay(), tmp_path) == expected


def test_jointly_refused_events(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    odd = [Event(1, "leave", "nobody"), *EVENTS[1:4]]
    with open_state(overlay(), Settings(), folder) as state:
        told = [(outcome.error, outcome.change) for outcome in state.take_jointly(odd)]
    assert {batch for batch, _ in bodies(folder)} == {1}
    with open_state(overlay(), Settings(), folder) as state:
        assert [(outcome.error, outcome.change) for outcome in state.begin()] == told


def test_an_event_that_cannot_be_followed_is_one_line(tmp_path: Path) -> None:
    """Nothing that was committed can be refused; if somebody changed the store, nothing is guessed over."""
    folder = tmp_path / "state"
    half_way(folder)
    sql(folder / STORE, "UPDATE entries SET body = ? WHERE number = 3", Event(3, "leave", "x").to_json())
    before = bodies(folder)
    told = refusal(folder)
    assert told.startswith(f"{folder / STORE}: event 3 cannot be followed (leave of 'x', which is not there)")
    assert bodies(folder) == before


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(random.Random(1).randbytes(2000))


def lose_the_snapshot(path: Path) -> None:
    sql(path, "UPDATE snapshots SET body = substr(body, 5)")


@pytest.mark.parametrize("damage", [cut, overwrite, lose_the_snapshot])
def test_damage_is_refused_and_never_written_over(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    shutil.copytree(folder, tmp_path / "copy")
    damage(folder / STORE)
    before = (folder / STORE).read_bytes()
    assert "damaged; put" in refusal(folder)
    assert (folder / STORE).read_bytes() == before
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder)
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def test_another_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    told = refusal(folder, Settings(coverage=2))
    assert told == f"{folder}: was begun with coverage 3, not 2; give the same, or another folder"
    other = design(INTEREST, "gm")
    with (
        pytest.raises(InputError, match="was begun with other subscriptions or links"),
        open_state(other, Settings(), folder),
    ):
        pass


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        open_state(overlay(), Settings(), tmp_path / "state"),
        pytest.raises(InputError, match=r"state\.sqlite: is in use by another process$"),
        open_state(overlay(), Settings(), tmp_path / "state"),
    ):
        pass


def test_folders_that_are_none_of_ours(tmp_path: Path) -> None:
    for name, file in (("photos", "cat.jpg"), ("old", "snapshot.json"), ("text", STORE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("something else, of some length" * 100)
    for folder, message in (
        (tmp_path / "photos", r"holds 'cat\.jpg' and is no state of maintain; give a new or empty folder"),
        (tmp_path / "no" / "such", r"such: the folder .*no does not exist"),
        (tmp_path / "photos" / "cat.jpg", r"cat\.jpg: cannot be written \(File exists\)"),
        (tmp_path / "old", "old: is a state of an earlier version of Topicloom; begin with a new folder"),
        (tmp_path / "text", r"state\.sqlite: is not a store of Topicloom"),
    ):
        with pytest.raises(InputError, match=message), open_state(overlay(), Settings(), folder):
            pass


def test_a_run_that_ended_before_its_first_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    sql(folder / STORE, "DELETE FROM entries")
    sql(folder / STORE, "DELETE FROM snapshots")
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def test_the_snapshot_is_plain_json(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with open_state(overlay(), Settings(), folder) as state:
        go_on(state, EVENTS)
        state.checkpoint()
        wanted = {node: state.maintainer.topics_of(node) for node in state.maintainer.interest().node_names}
        links = state.maintainer.link_count
    ((upto, body),) = sql(folder / STORE, "SELECT * FROM snapshots")
    content = json.loads(body)
    assert (upto, content["last_event"], len(content["links"])) == (40, 40, links)
    assert content["nodes"] == wanted
    assert bodies(folder) == [], "they are in the snapshot"
