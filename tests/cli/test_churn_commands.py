"""Commands about living overlays, on ordinary and on wrong input, and killed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet
import pytest
from command_line import Cli

from topicloom import Interest, Overlay, measure, synthetic
from topicloom.churn import Settings
from topicloom.churn.state import open_state
from topicloom.model.events import read_events

COMMAND = [sys.executable, "-c", "import sys; from topicloom.cli.main import run; sys.exit(run())"]


@pytest.fixture
def fleet(cli: Cli, tmp_path: Path) -> Path:
    """A folder with subscriptions, an overlay and events."""
    synthetic(40, 15, sizes="uniform", min_topics=2, max_topics=6, seed=1).write(tmp_path / "subs.parquet")
    subs = tmp_path / "subs.parquet"
    assert cli("design", subs, "-a", "low-oda", "-o", tmp_path / "overlay.parquet").status == 0
    out = tmp_path / "events.jsonl"
    ended = cli("churn", subs, "--rounds", 60, "--change-share", 0.3, "--seed", 2, "--out", out)
    assert ended.status == 0
    counts = [sum(event.kind == kind for event in read_events(out)) for kind in ("join", "leave", "change")]
    assert ended.out == f"60 events ({counts[0]} joins, {counts[1]} leaves, {counts[2]} changes), written to {out}\n"
    return tmp_path


def given(fleet: Path) -> list[object]:
    return ["maintain", fleet / "subs.parquet", fleet / "overlay.parquet", fleet / "events.jsonl"]


def test_maintain_keeps_every_topic_connected(cli: Cli, fleet: Path) -> None:
    out, subs, trace = fleet / "mended.parquet", fleet / "now.parquet", fleet / "trace.parquet"
    for method in ("shadow", "naive", "rebuild"):
        options = ["--method", method, "--out", out, "--out-subs", subs, "--trace", trace, "--check", "--json"]
        facts = cli(*given(fleet), *options).json
        interest = Interest.read(subs)
        measures = measure(interest, Overlay.read(out, interest))
        assert measures.topic_connected
        assert (facts["links"], facts["nodes"], facts["max_degree"]) == (
            measures.links,
            measures.nodes,
            measures.max_degree,
        )
        rows = pyarrow.parquet.read_table(trace).to_pylist()
        assert [row["event"] for row in rows] == list(range(1, 61))
        links = facts["links"] - sum(row["links_added"] - row["links_removed"] for row in rows)
        assert links == len(Overlay.read(fleet / "overlay.parquet", Interest.read(fleet / "subs.parquet")))
        assert rows[-1]["links"] == facts["links"]
        assert sum(facts[kind]["events"] for kind in ("join", "leave", "change")) == facts["events"] == 60


def test_maintain_mends_several_events_jointly(cli: Cli, fleet: Path) -> None:
    out, subs, trace = fleet / "mended.parquet", fleet / "now.parquet", fleet / "trace.parquet"
    options = ["--jointly", 7, "--out", out, "--out-subs", subs, "--trace", trace, "--check", "--json"]
    facts = cli(*given(fleet), *options).json
    interest = Interest.read(subs)
    assert measure(interest, Overlay.read(out, interest)).topic_connected
    changed = [row["event"] for row in pyarrow.parquet.read_table(trace).to_pylist() if row["links_added"]]
    assert set(changed) <= {7, 14, 21, 28, 35, 42, 49, 56, 60}
    alone = cli(*given(fleet), "--out", out, "--out-subs", fleet / "other.parquet", "--json").json
    assert (facts["nodes"], facts["topics"]) == (alone["nodes"], alone["topics"])
    assert Interest.read(fleet / "other.parquet") == interest


@pytest.mark.slow
def test_maintain_looks_at_the_assumptions(cli: Cli, fleet: Path) -> None:
    found = fleet / "assumptions.parquet"
    assert cli(*given(fleet), "--out", fleet / "mended.parquet", "--assumptions", found).status == 0
    rows = pyarrow.parquet.read_table(found).to_pylist()
    assert [row["event"] for row in rows] == list(range(1, 61))
    assert all(row["average_change"] > 0 for row in rows)
    subs, events = Interest.read(fleet / "subs.parquet"), read_events(fleet / "events.jsonl")
    with open_state(Overlay.read(fleet / "overlay.parquet", subs), Settings(), fleet / "state") as killed:
        for event in events[:30]:
            killed.take(event)
    after, state = fleet / "after.parquet", fleet / "state"
    ended = cli(*given(fleet), "--out", fleet / "mended.parquet", "--assumptions", after, "--state", state)
    assert (ended.status, pyarrow.parquet.read_table(after).to_pylist()) == (0, rows)
    ended = cli(*given(fleet), "--out", fleet / "mended.parquet", "--assumptions", found, "--jointly", 2)
    assert ended.err == "topicloom: --assumptions are about single events; leave out --jointly\n"
    assert ended.status == 2


def test_maintain_says_it_in_a_table(cli: Cli, fleet: Path) -> None:
    ended = cli(*given(fleet), "--out", fleet / "mended.parquet")
    assert ended.err == ""
    lines = ended.out.splitlines()
    assert lines[1].split() == ["events", "number", "added", "removed", "ratio", "set", "ms", "ms"]
    assert [line.split()[0] for line in lines[3:6]] == ["join", "leave", "change"]
    assert lines[-1] == f"written to {fleet / 'mended.parquet'}"


def test_states_go_on_with_more_events(cli: Cli, fleet: Path) -> None:
    cli(*given(fleet), "--out", fleet / "at-once.parquet")
    lines = (fleet / "events.jsonl").read_text().splitlines(keepends=True)
    for end in (20, 60, 60):
        (fleet / "events.jsonl").write_text("".join(lines[:end]))
        facts = cli(*given(fleet), "--state", fleet / "state", "--out", fleet / "bit-by-bit.parquet", "--json").json
    assert (facts["events"], facts["done_before"]) == (0, 60)
    assert (fleet / "bit-by-bit.parquet").read_bytes() == (fleet / "at-once.parquet").read_bytes()


def test_a_run_that_was_killed_before_its_last_snapshot_tells_all_again(
    cli: Cli, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, state = fleet / "trace.parquet", fleet / "state"
    options = ["--state", state, "--out", fleet / "mended.parquet", "--trace", trace]

    class Killed(BaseException):
        pass

    def killed(_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("topicloom.churn.state.MaintainedState.checkpoint", killed)
        with pytest.raises(Killed):
            cli(*given(fleet), *options)
    told = pyarrow.parquet.read_table(trace, columns=["event", "links"])
    trace.unlink()
    assert cli(*given(fleet), *options).status == 0
    assert pyarrow.parquet.read_table(trace, columns=["event", "links"]) == told
    assert told.num_rows == 60


def test_events_that_cannot_have_happened(cli: Cli, fleet: Path) -> None:
    events = fleet / "events.jsonl"
    events.write_text(
        '{"id": 5, "event": "leave", "node": "nobody"}\n'
        '{"id": 6, "event": "join", "node": "n01", "topics": ["t01"]}\n'
        '{"id": 9, "event": "leave", "node": "n01"}\n'
    )
    ended = cli(*given(fleet), "--out", fleet / "mended.parquet", "--json")
    assert ended.status == 0
    assert ended.json["refused"] == 2
    assert ended.err == "topicloom: refused event 5: leave of 'nobody', which is not there (and 1 more)\n"
    ended = cli(*given(fleet), "--strict", "--out", fleet / "strict.parquet")
    assert (ended.status, ended.err) == (2, "topicloom: event 5: leave of 'nobody', which is not there\n")
    assert not (fleet / "strict.parquet").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 2: is not a JSON object, such as"),
        ('{"id": 1, "event": "leave", "node": "n02"}', "line 2: id 1 comes after 1; ids must rise"),
        (
            '{"id": 2, "event": "explode", "node": "n02"}',
            'line 2: "event" must be join, leave or change, not "explode"',
        ),
        ('{"id": 2, "event": "join", "node": "x", "topics": "t"}', 'line 2: "topics" must be a list of topics'),
    ],
)
def test_events_that_are_none(cli: Cli, fleet: Path, line: str, message: str) -> None:
    (fleet / "events.jsonl").write_text(f'{{"id": 1, "event": "leave", "node": "n01"}}\n{line}\n')
    ended = cli(*given(fleet), "--state", fleet / "state", "--out", fleet / "mended.parquet")
    assert ended.status == 2
    assert ended.err.startswith(f"topicloom: {fleet / 'events.jsonl'}: {message}")
    assert not (fleet / "mended.parquet").exists()
    assert not (fleet / "state").exists()


def test_refusals(cli: Cli, fleet: Path) -> None:
    out = ["--out", fleet / "mended.parquet"]
    assert cli("design", fleet / "subs.parquet", "-a", "gpa", "--max-edges", 3, "-o", fleet / "few.parquet").status == 0
    for arguments, message in (
        ([*given(fleet), *out, "--coverage", -1], "--coverage must be a whole number from 0 to 1000, not -1"),
        ([*given(fleet), *out, "--rho", 0.5], "--rho must be a number, 1 or more, not 0.5"),
        (
            ["maintain", fleet / "subs.parquet", fleet / "few.parquet", fleet / "events.jsonl", *out],
            "the overlay does ",
        ),
        (
            ["maintain", fleet / "subs.parquet", fleet / "overlay.parquet", fleet / "none.jsonl", *out],
            f"{fleet / 'none.jsonl'}: no such file",
        ),
        (
            ["churn", fleet / "subs.parquet", "--rounds", 5, "--join-share", 2, "--out", fleet / "e"],
            "--join-share is 2",
        ),
        (["churn", fleet / "subs.parquet", "--rounds", 5, "--seed", -1, "--out", fleet / "e"], "--seed is -1"),
    ):
        ended = cli(*arguments)
        assert (ended.status, ended.err.count("\n")) == (2, 1)
        assert ended.err.startswith(f"topicloom: {message}"), ended.err
    assert not (fleet / "mended.parquet").exists()


@pytest.mark.slow
def test_killed_at_random_moments(cli: Cli, fleet: Path) -> None:
    subs = fleet / "subs.parquet"
    cli("churn", subs, "--rounds", 1500, "--change-share", 0.2, "--seed", 3, "--out", fleet / "events.jsonl")
    cli(*given(fleet), "--out", fleet / "undisturbed.parquet")
    rng = random.Random(4)
    again = [*COMMAND, *map(str, given(fleet)), "--state", str(fleet / "state"), "--out", str(fleet / "mended.parquet")]
    log = fleet / "state" / "state.sqlite-wal"
    kills = 0
    for _ in range(2):
        # Starting takes longer than the events; so wait until they are being applied.
        size = log.stat().st_size if log.exists() else 0
        process = subprocess.Popen(again, stdout=subprocess.DEVNULL)
        while process.poll() is None and (not log.exists() or log.stat().st_size <= size):
            time.sleep(0.001)
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills, "it was killed at work"
    ended = cli(*given(fleet), "--state", fleet / "state", "--out", fleet / "mended.parquet", "--json")
    assert ended.status == 0
    assert json.loads(ended.out)["last_event"] == 1500
    assert (fleet / "mended.parquet").read_bytes() == (fleet / "undisturbed.parquet").read_bytes()
