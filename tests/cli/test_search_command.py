"""`design --algorithm search`: where it begins, how it ends, and what it refuses."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest
from command_line import Cli

from topicloom import Interest, Overlay, design, measure, synthetic
from topicloom.cli.progress import Working
from topicloom.designers import Watch
from topicloom.designers.local_search import AIMS


@pytest.fixture
def subs(tmp_path: Path) -> Path:
    synthetic(60, 30, popularity="zipf", min_topics=4, seed=5).write(tmp_path / "subs.parquet")
    return tmp_path / "subs.parquet"


def test_search_is_no_worse_than_gm_and_tells_the_gap(cli: Cli, subs: Path, tmp_path: Path) -> None:
    gm = cli("design", subs, "-a", "gm", "-o", tmp_path / "gm.parquet", "--json").json
    command = ("design", subs, "-a", "search", "--rounds", 3000, "-o", tmp_path / "found.parquet")
    found = cli(*command, "--json").json
    assert found["topic_connected"]
    assert found["lower_bound"] <= found["links"] <= gm["links"]
    assert found["max_degree"] <= gm["max_degree"]
    assert found["gap"] == pytest.approx(found["links"] / found["lower_bound"] - 1)
    first = (tmp_path / "found.parquet").read_bytes()
    assert "above the lower bound" in cli(*command).out
    assert (tmp_path / "found.parquet").read_bytes() == first


def test_search_begins_with_an_overlay(cli: Cli, subs: Path, tmp_path: Path) -> None:
    cli("design", subs, "-a", "ring-per-topic", "-o", tmp_path / "ring.parquet")
    command = ("design", subs, "-a", "search", "--from", tmp_path / "ring.parquet", "-o", tmp_path / "found.parquet")
    found = cli(*command, "--rounds", 2000, "--json").json
    interest = Interest.read(subs)
    ring = Overlay.read(tmp_path / "ring.parquet", interest)
    assert found["start_links"] == len(ring) > found["links"]
    assert measure(interest, tmp_path / "found.parquet").topic_connected


def test_topics_that_stay_apart_are_named(cli: Cli, subs: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.parquet"
    ended = cli("design", subs, "-a", "search", "--max-degree", 2, "--rounds", 500, "-o", out)
    assert ended.status == 1
    assert " not connected: '" in ended.err
    assert ended.err.endswith("; search found no way within --max-degree 2\n")
    interest = Interest.read(subs)
    assert int(Overlay.read(out, interest).degrees.max()) <= 2
    half = design(interest, "gpa", max_edges=20)
    half.write(tmp_path / "half.parquet")
    ended = cli("design", subs, "-a", "search", "--from", tmp_path / "half.parquet", "--rounds", 500, "-o", out)
    assert ended.status == 1
    assert ended.err.endswith("; as in the overlay to begin with\n")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("--seconds", 0), "--seconds of search must be a number above 0, not 0.0"),
        (("--rounds", 0), "--rounds of search must be a whole number from 1 to 1000000000000, not 0"),
        (("--rounds", 10**30), f"--rounds of search must be a whole number from 1 to 1000000000000, not {10**30}"),
        (("--aim", "price"), "--aim price needs --prices"),
        (("--start", "gpa"), "--start must be a designer without a budget of links or seconds, not gpa"),
        (("--start", "search"), "--start must be a designer without a budget of links or seconds, not search"),
        (("--start", "exact"), "--start must be a designer without a budget of links or seconds, not exact"),
    ],
)
def test_what_search_refuses(cli: Cli, subs: Path, tmp_path: Path, given: tuple[object, ...], line: str) -> None:
    ended = cli("design", subs, "-a", "search", *given, "-o", tmp_path / "found.parquet")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == f"topicloom: {line}\n"
    assert not (tmp_path / "found.parquet").exists()


def test_aims_have_the_same_words_in_all_commands(cli: Cli, subs: Path, tmp_path: Path) -> None:
    cli("design", subs, "-a", "gm", "-o", tmp_path / "gm.parquet")
    design_them = ("design", subs, "-a", "search", "-o", tmp_path / "found.parquet")
    improve_them = ("improve", subs, tmp_path / "gm.parquet", "--changes", 4)
    words = []
    for command in (design_them, improve_them):
        ended = cli(*command, "--aim", "x")
        assert ended.status == 2
        words.append(re.findall("'(links|price|[a-z]+-[a-z]+)'", ended.err))
    assert words[0] == words[1] == list(AIMS)
    for aim in ("links", "degree-links", "links-degree"):
        assert cli(*improve_them, "--aim", aim, "--rounds", 50).status == 0


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("--rounds", -1), "--rounds must be from 0 to 1,000,000,000,000, not -1"),
        (("--rounds", 10**30), f"--rounds must be from 0 to 1,000,000,000,000, not {10**30}"),
        (("--seconds", 0), "--seconds must be above 0, not 0.0"),
        (("--seconds", "inf"), "--seconds must be above 0, not inf"),
    ],
)
def test_what_improve_refuses(cli: Cli, subs: Path, tmp_path: Path, given: tuple[object, ...], line: str) -> None:
    cli("design", subs, "-a", "gm", "-o", tmp_path / "gm.parquet")
    ended = cli("improve", subs, tmp_path / "gm.parquet", "--changes", 1, *given)
    assert (ended.status, ended.out, ended.err) == (2, "", f"topicloom: {line}\n")


def test_limits_above_all_that_there_is_change_nothing(cli: Cli, subs: Path, tmp_path: Path) -> None:
    command = ("design", subs, "-a", "search", "--rounds", 500, "-o", tmp_path / "found.parquet", "--json")
    found = cli(*command).json
    limited = cli(*command, "--max-degree", 10**20).json
    assert limited["links"] == found["links"]
    improve_it = ("improve", subs, tmp_path / "found.parquet", "--aim", "degree-links", "--rounds", 50)
    assert cli(*improve_it, "--changes", 10**20).status == 0


def test_an_overlay_to_begin_with_is_for_search(cli: Cli, subs: Path, tmp_path: Path) -> None:
    cli("design", subs, "-a", "gm", "-o", tmp_path / "gm.parquet")
    ended = cli("design", subs, "-a", "gm", "--from", tmp_path / "gm.parquet", "-o", tmp_path / "other.parquet")
    assert (ended.status, ended.err) == (2, "topicloom: gm does not take an overlay to begin with; these do: search\n")
    other = tmp_path / "other.csv"
    other.write_text("node,topic\nx,y\nz,y\n")
    ended = cli("design", other, "-a", "search", "--from", tmp_path / "gm.parquet", "-o", tmp_path / "found.parquet")
    assert ended.status == 2
    assert ended.err.count("\n") == 1


def test_a_stopped_search_returns_its_best_links() -> None:
    interest = synthetic(300, 60, popularity="zipf", min_topics=6, seed=2)
    watch = Watch()

    def stop() -> None:
        while not watch.note:
            time.sleep(0.01)
        watch.stop()

    threading.Thread(target=stop).start()
    found = design(interest, "search", start="gm", rounds=10**9, watch=watch)
    assert len(found) < len(design(interest, "gm"))
    assert measure(interest, found).topic_connected


def test_work_that_can_be_kept_is_kept_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, interrupted = Watch(), iter([True])

    def work() -> str:
        while not watch.stopped:
            time.sleep(0.01)
        return "best so far"

    waited = threading.Event.wait

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        if next(interrupted, False):
            raise KeyboardInterrupt
        return waited(event, timeout)

    with Working(quiet=True) as working:
        # Starting a thread waits for an event of its own.
        began = threading.Thread.start
        monkeypatch.setattr(
            threading.Thread, "start", lambda self: (began(self), monkeypatch.setattr(threading.Event, "wait", wait))[0]
        )
        assert working.do("search", work, watch=watch, keep=True) == "best so far"
