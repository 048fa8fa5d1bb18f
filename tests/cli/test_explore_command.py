"""`topicloom explore`, as far as it does not serve."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Cli

from topicloom import Interest, design
from topicloom.cli.explore import commands
from topicloom.views.drawing import SeenOverlay
from topicloom.views.explorer import NamedOverlay, Wanted
from topicloom.views.what_if import LEAVE_IT, MEND, Question

INTEREST = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("c", "y"), ("a", "y")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    INTEREST.write(tmp_path / "subs.parquet")
    design(INTEREST, "gm").write(tmp_path / "gm.parquet")
    return tmp_path


@pytest.mark.slow
def test_writes_one_file(cli: Cli, folder: Path) -> None:
    (folder / "places.csv").write_text("node,latitude,longitude\na,52.5,13.4\nb,59.9,10.7\nc,41.9,12.5\n")
    given = ("--static", folder / "page.html", "--places", folder / "places.csv")
    ended = cli("explore", folder / "subs.parquet", folder / "gm.parquet", *given)
    assert (ended.status, ended.out) == (0, f"written to {folder / 'page.html'}\n")
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_wrong_is_one_line(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "places.csv").write_text("node,latitude,longitude\na,152.5,13.4\n")
    ended = cli("explore", folder / "subs.parquet", "--places", folder / "places.csv")
    assert (ended.status, ended.out) == (2, "")
    assert "row 1: latitude must be a number from -90 to 90, not '152.5'" in ended.err
    ended = cli("explore", folder / "subs.parquet", "--watch", "127.0.0.1:9500")
    assert ended.status == 2
    assert "--watch is an address such as http://127.0.0.1:9500" in ended.err
    assert cli("explore").err == "topicloom: give files or folders to look at, or a fleet that is watched\n"
    ended = cli("explore", "--watch", "http://127.0.0.1:9500", "--static", folder / "page.html")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "--static keeps what files hold" in ended.err
    monkeypatch.setitem(sys.modules, "bokeh", None)
    ended = cli("explore", folder / "subs.parquet")
    assert ended.status == 2
    assert "pip install 'topicloom[explore]'" in ended.err


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            Question(algorithm="gpm", parameters={"max_degree": 3}),
            "topicloom design 'my subs.csv' --algorithm gpm --max-degree 3 --out overlay.parquet",
        ),
        (Question(killed=("a",)), "topicloom design subscriptions.parquet --algorithm gm --out overlay.parquet"),
        (
            Question(forbidden=(("a", "b"),)),
            "topicloom design 'my subs.csv' --algorithm gm --fleet fleet.toml --out overlay.parquet",
        ),
        (
            Question(reaction=MEND, killed=("a",), added={"d": ("x",)}),
            "topicloom maintain 'my subs.csv' gm.parquet events.jsonl --jointly 2 --out overlay.parquet",
        ),
        (
            Question(reaction=MEND, forbidden=(("c", "a"),)),
            "topicloom design 'my subs.csv' --algorithm low-oda --fleet fleet.toml --out overlay.parquet",
        ),
        (Question(reaction=LEAVE_IT, killed=("a",)), "topicloom measure subscriptions.parquet overlay.parquet"),
    ],
)
def test_questions_are_told_as_commands(question: Question, told: str) -> None:
    wanted = Wanted("my subs.csv", INTEREST, "my subs.csv")
    named = NamedOverlay("gm", SeenOverlay(design(INTEREST, "gm")), wanted, "gm.parquet")
    assert commands(question, named, None, None) == [told]
