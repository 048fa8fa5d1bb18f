"""Streams of events: each batch applied once, whatever happens in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from effort import THOROUGH
from topicloom import InputError, Interest, Overlay, design, synthetic
from topicloom.churn import Settings
from topicloom.churn.state import open_state
from topicloom.cli.main import run
from topicloom.model.events import Event, write_events
from topicloom.spark import current, event_lines, follow
from topicloom.spark.stream import Batch
from topicloom.workloads import churn_trace

INTEREST = synthetic(24, 12, popularity="zipf", alpha=1.0, sizes="uniform", min_topics=2, max_topics=6, seed=5)
OVERLAY = design(INTEREST, "low-oda")
EVENTS = churn_trace(INTEREST, 60, change_share=0.3, seed=3)
EXAMPLE = '{"id": 17, "event": "join", "node": "b7", "topics": ["a", "b"]}'


def put(events: list[Event], folder: Path, name: str) -> None:
    """Move a file of events into a folder, whole."""
    folder.mkdir(exist_ok=True)
    write_events(events, folder.parent / "staged.jsonl")
    (folder.parent / "staged.jsonl").rename(folder / name)


def follow_once(spark: SparkSession, folder: Path, settings: Settings | None = None) -> list[Batch]:
    """Follow what is there; then the store is closed, as `current` asked for it."""
    told: list[Batch] = []
    query = follow(
        event_lines(spark, str(folder / "events")),
        OVERLAY,
        folder / "state",
        out=str(folder / "out"),
        settings=settings,
        once=True,
        told=told.append,
    )
    try:
        query.awaitTermination()
    finally:
        current(OVERLAY, folder / "state", settings).write(folder / "now.parquet")
    return told


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    if not (folder / table).exists():
        return []
    found = []
    for part in sorted((folder / table).glob("batch=*")):
        number = int(part.name.removeprefix("batch="))
        for file in part.glob("*.parquet"):
            found += [{"batch": number, **row} for row in pq.ParquetFile(file).read().to_pylist()]
    return found


def undisturbed(folder: Path, events: list[Event]) -> tuple[bytes, list[tuple[int, str, str, str]]]:
    """The overlay as bytes, and every change of a link."""
    changes = []
    with open_state(OVERLAY, Settings()) as state:
        for event in events:
            change = state.take(event).change
            assert change is not None
            changes += [(event.id, "remove", *link) for link in change.removed]
            changes += [(event.id, "add", *link) for link in change.added]
        state.maintainer.overlay().write(folder / "expected.parquet")
    return (folder / "expected.parquet").read_bytes(), changes


def emitted(folder: Path) -> list[tuple[int, str, str, str]]:
    return [(row["event"], row["action"], row["source"], row["target"]) for row in rows(folder / "out", "changes")]


def test_batches_do_what_maintain_does(spark: SparkSession, tmp_path: Path) -> None:
    put(EVENTS[20:40], tmp_path / "events", "b.jsonl")
    put(EVENTS[:20], tmp_path / "events", "a.jsonl")
    assert [(batch.number, batch.events, batch.last_event) for batch in follow_once(spark, tmp_path)] == [(0, 40, 40)]
    put(EVENTS[40:], tmp_path / "events", "c.jsonl")
    assert [(batch.number, batch.events, batch.last_event) for batch in follow_once(spark, tmp_path)] == [(1, 20, 60)]
    assert follow_once(spark, tmp_path) == []
    overlay, changes = undisturbed(tmp_path, EVENTS)
    assert (tmp_path / "now.parquet").read_bytes() == overlay
    assert emitted(tmp_path) == changes
    assert rows(tmp_path / "out", "refused") == []
    interest = current(OVERLAY, tmp_path / "state").interest
    links = {(row[2], row[3]) for row in changes if row[1] == "add"}
    now = Overlay.read(tmp_path / "now.parquet", interest)
    assert {(row["source"], row["target"]) for row in now.to_arrow().to_pylist()} <= links | {
        (row["source"], row["target"]) for row in OVERLAY.to_arrow().to_pylist()
    }


def test_what_is_late_repeated_impossible_or_nonsense_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    put([event for event in EVENTS[:20] if event.id != 4], tmp_path / "events", "a.jsonl")
    follow_once(spark, tmp_path)
    put([EVENTS[3], EVENTS[15], Event(70, "leave", "nobody"), EVENTS[25]], tmp_path / "events", "b.jsonl")
    with (tmp_path / "events" / "c.jsonl").open("w") as file:
        file.write(EVENTS[25].to_json() + "\n\nnonsense\n")
    follow_once(spark, tmp_path)
    told = [row for row in rows(tmp_path / "out", "refused") if row["batch"] == 1]
    refused = {(row["event"], row["reason"], Path(row["file"]).name) for row in told}
    late = "late or repeated: event {} has happened already"
    again = {(EVENTS[25].id, late.format(26), name) for name in ("b.jsonl", "c.jsonl")}
    assert len(refused & again) == 1, "the second one, whichever that was"
    assert refused - again == {
        (4, late.format(20), "b.jsonl"),
        (16, late.format(20), "b.jsonl"),
        (70, "leave of 'nobody', which is not there", "b.jsonl"),
        (None, f"line: is not a JSON object, such as {EXAMPLE}", "c.jsonl"),
    }


# Follows once, and kills itself when a call of a function has come so often: before it, or after it.
KILLED = """
import os, signal, sys
from pathlib import Path
from test_stream import OVERLAY
from topicloom.churn import state
from topicloom.spark import SparkOptions, spark_session, stream

folder, place, turn = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def dying(call):
    def instead(*arguments, **named):
        global turn
        turn -= 1
        given = call(*arguments, **named)
        if turn == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return given
    return instead

if place == "happen":
    state.MaintainedState._happen = dying(state.MaintainedState._happen)
elif place == "write":
    stream.Follower._write = dying(stream.Follower._write)
elif place == "done":
    stream.Follower._apply = dying(stream.Follower._apply)
with spark_session(SparkOptions("local[1]", {"spark.driver.memory": "512m"}), "killed") as spark:
    lines = stream.event_lines(spark, str(folder / "events"))
    query = stream.follow(lines, OVERLAY, folder / "state", out=str(folder / "out"), once=True)
    query.awaitTermination()
"""


# In the middle of the second batch; thoroughly, again before its changes are written and once more when all is written.
KILLS = (("happen", 7), *((("write", 1), ("done", 1)) if THOROUGH else ()))


def test_a_killed_stream_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    put(EVENTS[:30], tmp_path / "events", "a.jsonl")
    follow_once(spark, tmp_path)
    put(EVENTS[30:], tmp_path / "events", "b.jsonl")
    # The process finds what this file imports where pytest finds it.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    for place, turn in KILLS:
        command = [sys.executable, "-c", KILLED, str(tmp_path), place, str(turn)]
        ended = subprocess.run(command, cwd=Path(__file__).parent, env=environment, check=False)
        assert ended.returncode == -signal.SIGKILL
    follow_once(spark, tmp_path)
    overlay, changes = undisturbed(tmp_path, EVENTS)
    assert (tmp_path / "now.parquet").read_bytes() == overlay
    assert emitted(tmp_path) == changes
    assert rows(tmp_path / "out", "refused") == []


def test_state_and_checkpoint_that_do_not_agree(spark: SparkSession, tmp_path: Path) -> None:
    state, checkpoint = tmp_path / "state", tmp_path / "state" / "checkpoint"
    put(EVENTS[:10], tmp_path / "events", "a.jsonl")
    follow_once(spark, tmp_path)
    shutil.copytree(state, tmp_path / "old")
    put(EVENTS[10:20], tmp_path / "events", "b.jsonl")
    follow_once(spark, tmp_path)
    put(EVENTS[20:30], tmp_path / "events", "c.jsonl")
    shutil.copytree(state, tmp_path / "new")
    # The state of a backup with the checkpoint of today would lose events.
    shutil.rmtree(state)
    shutil.copytree(tmp_path / "old", state)
    shutil.rmtree(checkpoint)
    shutil.copytree(tmp_path / "new" / "checkpoint", checkpoint)
    with pytest.raises(
        StreamingQueryException, match="do not go together: it goes on with batch 2, and the state has seen 1;"
    ):
        follow_once(spark, tmp_path)
    # Without a checkpoint all files would be batch 0, which is done.
    shutil.rmtree(checkpoint)
    with pytest.raises(
        StreamingQueryException, match="do not go together: it goes on with batch 0, and the state has seen 1;"
    ):
        follow_once(spark, tmp_path)
    shutil.rmtree(state)
    shutil.copytree(tmp_path / "new", state)
    follow_once(spark, tmp_path)
    assert (tmp_path / "now.parquet").read_bytes() == undisturbed(tmp_path, EVENTS[:30])[0]


def test_folders(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="events: is no folder; give one that event files are moved into"):
        event_lines(spark, str(tmp_path / "events"))
    put(EVENTS[:1], tmp_path / "events", "a.jsonl")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "photo.jpg").touch()
    with pytest.raises(StreamingQueryException, match=r"out: is not empty, and .*state has written nothing to it"):
        follow_once(spark, tmp_path)


def test_any_source_and_the_overlay_now_and_then(spark: SparkSession, tmp_path: Path) -> None:
    """The source makes rows that are no events."""
    lines = event_lines(spark, None, "rate-micro-batch", {"rowsPerBatch": "2"})
    query = follow(lines, OVERLAY, tmp_path / "state", out=str(tmp_path / "out"), every=1)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "overlay.parquet").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    query.stop()
    assert current(OVERLAY, tmp_path / "state") == OVERLAY
    interest = Interest.read(tmp_path / "out" / "subscriptions.parquet")
    assert Overlay.read(tmp_path / "out" / "overlay.parquet", interest) == OVERLAY
    assert rows(tmp_path / "out", "refused")[0]["reason"].startswith("line: is not a JSON object")


def test_the_command_waits_for_events_until_it_is_stopped(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    INTEREST.write(tmp_path / "subs.parquet")
    OVERLAY.write(tmp_path / "overlay.parquet")
    put(EVENTS[:5], tmp_path / "events", "a.jsonl")
    printed: list[str] = []
    source, sink = os.pipe()

    def press_ctrl_c() -> None:
        """When a second file came and was applied; lines of a pipe must come at once, or this waits for ever."""
        with open(source) as lines:
            printed.append(lines.readline())
            put(EVENTS[5:9], tmp_path / "events", "b.jsonl")
            printed.append(lines.readline())
            os.kill(os.getpid(), signal.SIGINT)
            printed.extend(lines)

    person = threading.Thread(target=press_ctrl_c, daemon=True)
    person.start()
    files = [tmp_path / "subs.parquet", tmp_path / "overlay.parquet"]
    folders = [text for name in ("events", "state", "out") for text in (f"--{name}", tmp_path / name)]
    with open(sink, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", pipe)
        assert run([str(argument) for argument in ("spark", "stream", *files, *folders, "--json")]) == 130
    person.join(60)
    assert capsys.readouterr().err == "topicloom: stopped after batch 1; the same command goes on from there\n"
    first, second = map(json.loads, printed)
    assert first["last_event"] == 5
    assert second == {
        "number": 1,
        "events": 4,
        "refused": 0,
        **{
            f"links_{what}": sum(row["action"] == action for row in rows(tmp_path / "out", "changes") if row["batch"])
            for what, action in (("added", "add"), ("removed", "remove"))
        },
        "last_event": 9,
    }
    overlay, _ = undisturbed(tmp_path, EVENTS[:9])
    assert (tmp_path / "out" / "overlay.parquet").read_bytes() == overlay


def test_current_waits_for_a_process_that_is_about_to_end(tmp_path: Path) -> None:
    current(OVERLAY, tmp_path / "other")  # compiles
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with open_state(OVERLAY, Settings(), tmp_path / "state", beside=("checkpoint",)):
            held.set()
            over.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    threading.Timer(0.5, over.set).start()
    assert current(OVERLAY, tmp_path / "state") == OVERLAY
    holder.join()
