"""State that survives: whenever a run ends, the next one goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest

from topicloom import InputError, Overlay, design, synthetic
from topicloom.churn import Settings
from topicloom.churn.state import LivingState, begin_journal, living
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


def go_on(state: LivingState, events: list[Event]) -> None:
    list(state.begin())
    for event in events:
        if state.is_due(event):
            state.take(event)


def written(overlay: Overlay, folder: Path) -> bytes:
    overlay.write(folder / "written.parquet")
    return (folder / "written.parquet").read_bytes()


def undisturbed(settings: Settings, folder: Path, events: list[Event] = EVENTS) -> bytes:
    with living(overlay(), settings) as state:
        go_on(state, events)
        return written(state.maintainer.overlay(), folder)


def half_way(folder: Path, settings: Settings = ALL[0]) -> None:
    """A run that ended after 20 events, without a word."""
    with living(overlay(), settings, folder) as state:
        go_on(state, EVENTS[:20])


def finished(folder: Path, settings: Settings = ALL[0], *, recover: bool = False) -> bytes:
    with living(overlay(), settings, folder, recover=recover) as state:
        go_on(state, EVENTS)
        return written(state.maintainer.overlay(), folder.parent)


@pytest.mark.slow
@pytest.mark.parametrize("settings", ALL, ids=lambda settings: settings.method + settings.backups)
def test_runs_that_end_at_any_event_go_on_alike(tmp_path: Path, settings: Settings) -> None:
    expected = undisturbed(settings, tmp_path)
    for step in (1, 7, 19):
        folder = tmp_path / f"state-{step}"
        for end in range(step, len(EVENTS) + step, step):
            with living(overlay(), settings, folder) as state:
                go_on(state, EVENTS[:end])
                if end % 2 == 0:
                    state.checkpoint()
        assert finished(folder, settings) == expected


def test_refused_events_are_seen_once(tmp_path: Path) -> None:
    odd = [Event(1, "leave", "nobody"), *[Event(e.id + 1, e.kind, e.node, e.add, e.remove) for e in EVENTS[:5]]]
    for _ in range(2):
        with living(overlay(), Settings(), tmp_path / "state") as state:
            go_on(state, odd)
            assert state.last_event == 6
            assert not state.is_due(odd[0])


def test_a_line_that_was_never_finished_is_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(b'12345678 {"id": 21, "event": "le')
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def test_an_event_that_was_written_and_not_counted_has_happened(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    (folder / "journal.count").write_text(f"{19:20}")
    assert finished(folder) == undisturbed(Settings(), tmp_path)


def lose_lines(folder: Path) -> None:
    lines = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(b"".join(lines[:11]))


def lose_bytes(folder: Path) -> None:
    os.truncate(folder / "journal.jsonl", (folder / "journal.jsonl").stat().st_size - 5)


def flip_a_byte(folder: Path) -> None:
    raw = bytearray((folder / "journal.jsonl").read_bytes())
    raw[raw.index(b'"id": 8') + 6] ^= 1
    (folder / "journal.jsonl").write_bytes(bytes(raw))


def empty(folder: Path) -> None:
    (folder / "journal.jsonl").write_bytes(b"")


DAMAGES = [
    (lose_lines, r"is cut short, 20 events were written and 10 are there; the last good event is 10\. Put"),
    (lose_bytes, r"is cut short, 20 events were written and 19 are there; the last good event is 19\. Put"),
    (flip_a_byte, r"line 9 is damaged; the last good event is 7\. Put"),
    (empty, r"is cut short, 20 events were written and 0 are there; no event before that is known to be good"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_damage_is_said_and_never_guessed_over(tmp_path: Path, damage, message: str) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    damage(folder)
    before = (folder / "journal.jsonl").read_bytes()
    with pytest.raises(InputError, match=message):
        finished(folder)
    assert (folder / "journal.jsonl").read_bytes() == before, "left as it was"
    assert finished(folder, recover=True) == undisturbed(Settings(), tmp_path)
    assert (folder / "journal.damaged").read_bytes() == before


def test_an_end_between_snapshot_and_journal(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    old = {name: (folder / name).read_bytes() for name in ("journal.jsonl", "journal.count")}
    with living(overlay(), Settings(), folder) as state:
        go_on(state, [])
        state.checkpoint()
    (folder / "journal.jsonl").write_bytes(old["journal.jsonl"])
    assert finished(folder) == undisturbed(Settings(), tmp_path), "the counter is new, the journal old"
    shutil.rmtree(folder)
    half_way(folder)
    with living(overlay(), Settings(), folder) as state:
        go_on(state, [])
        state.checkpoint()
    for name, content in old.items():
        (folder / name).write_bytes(content)
    assert finished(folder) == undisturbed(Settings(), tmp_path), "both are old"


def test_a_journal_ahead_of_its_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    begin_journal(folder / "journal.jsonl", 33)
    with pytest.raises(InputError, match=r"journal\.jsonl: follows event 33, but the snapshot beside it has seen None"):
        finished(folder)


def test_files_that_are_missing_or_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)

    def afresh() -> None:
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)

    for name, message in (
        ("snapshot.json", r"snapshot\.json: is missing; journal\.jsonl beside it is no use without it"),
        ("journal.jsonl", r"journal\.jsonl: is missing; the state is not whole without it"),
        ("journal.count", r"journal\.count: is missing or damaged; it says how many events journal\.jsonl has"),
    ):
        (folder / name).unlink()
        with pytest.raises(InputError, match=message):
            finished(folder)
        afresh()
    raw = bytearray((folder / "snapshot.json").read_bytes())
    raw[100] ^= 1
    (folder / "snapshot.json").write_bytes(bytes(raw))
    with pytest.raises(InputError, match=r"snapshot\.json: is damaged; its checksum is wrong"):
        finished(folder)


def test_another_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    half_way(folder)
    with pytest.raises(InputError, match="was begun with coverage 3, not 2; give the same, or another folder"):
        finished(folder, Settings(coverage=2))
    other = design(INTEREST, "gm")
    with (
        pytest.raises(InputError, match="was begun with other subscriptions or links"),
        living(other, Settings(), folder),
    ):
        pass


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        living(overlay(), Settings(), tmp_path / "state"),
        pytest.raises(InputError, match="is in use by another process"),
        living(overlay(), Settings(), tmp_path / "state"),
    ):
        pass


def test_folders_that_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    for folder, message in (
        (tmp_path / "photos", r"holds 'cat\.jpg' and is no state of maintain; give a new or empty folder"),
        (tmp_path / "no" / "such", r"such: the folder .*no does not exist"),
        (tmp_path / "photos" / "cat.jpg", r"cat\.jpg: cannot be written \(File exists\)"),
    ):
        with pytest.raises(InputError, match=message), living(overlay(), Settings(), folder):
            pass


def test_the_snapshot_is_plain_json(tmp_path: Path) -> None:
    with living(overlay(), Settings(), tmp_path / "state") as state:
        go_on(state, EVENTS)
        state.checkpoint()
        content = json.loads((tmp_path / "state" / "snapshot.json").read_text().split("\n")[0])
        assert content["last_event"] == 40
        assert content["nodes"] == {node: state.maintainer.topics_of(node) for node in content["nodes"]}
        assert len(content["links"]) == state.maintainer.link_count
