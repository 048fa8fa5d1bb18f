"""What README and docs show is what comes out: every page is followed from top to bottom in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import Reader, without_measurements
from shown import LANGUAGES, PAGES, ROOT, Command, blocks, commands

from topicloom.cli.main import run

ON_SPARK = {
    *("reproduce", "spark ingest", "spark profile", "spark sample"),
    *("spark rates", "spark design", "spark measure", "spark sweep", "spark stream"),
}


def shown_commands(page: Path, *, run: bool = False) -> list[Command]:
    """The commands of a page; with `run` only those that are run."""
    console = [block for block in blocks(page) if block.language == "console" and not (run and block.not_run)]
    return [command for block in console for command in commands(block)]


def needs_spark(page: Path) -> bool:
    return any(command.of_ours in ON_SPARK for command in shown_commands(page, run=True))


def shows_something(page: Path) -> bool:
    return any(block.language in ("console", "python", "pycon") and not block.not_run for block in blocks(page))


def marks(page: Path) -> list[pytest.MarkDecorator]:
    shown = shown_commands(page, run=True)
    live = any(command.of_ours == "test" or "local-fleet" in command.line for command in shown)
    return [pytest.mark.broker("mosquitto")] if live else []


def name(page: Path) -> str:
    return page.stem


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=marks(page), id=page.stem)
        for page in PAGES
        if shows_something(page) and not needs_spark(page)
    ],
)
def test_a_page_shows_what_comes_out(page: Path, reader: Reader) -> None:
    reader.follow(page)
    if reader.left_out:
        pytest.skip(f"all but {'; '.join(reader.left_out)}")


@pytest.mark.spark
@pytest.mark.parametrize("page", list(filter(needs_spark, PAGES)), ids=name)
def test_a_page_on_spark_shows_what_comes_out(page: Path, reader_on_spark: Reader) -> None:
    reader_on_spark.follow(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_say_what_they_are(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, (
            f"{block.where}: fence it, with a language of {sorted(LANGUAGES)}, not {block.language!r}"
        )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_have_the_options_shown(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A page may show how to make a parameter of one's own.
    made = {f"--{name}" for name in re.findall(r'Parameter\("(\w+)"', page.read_text(encoding="utf-8"))}
    for command in shown_commands(page):
        given = set(re.findall(r"(?<= )--[a-z][a-z-]*", command.line)) - made
        if command.of_ours is not None and given:
            run([*command.of_ours.split(), "--help"])
            known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
            assert given <= known, f"{command.where}: {command.of_ours} does not take {sorted(given - known)}"


@pytest.mark.slow
def test_the_site_has_no_broken_links(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs needs Python 3.11 or newer")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "python.html").read_text(encoding="utf-8").count("<h3") > 40


def test_measured_numbers_are_set_aside_and_no_others() -> None:
    table = "\n".join(
        (
            "algorithm  links  seconds",
            "─────────────────────────",
            "gm             7    0.123",
            "",
            "seconds  3.2",
            "links    5",
        )
    )
    hidden = without_measurements(table)
    assert "gm             7    #" in hidden
    assert "seconds  #" in hidden
    assert "links    5" in hidden
