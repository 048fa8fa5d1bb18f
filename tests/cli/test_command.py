"""The decorator of commands, and what a run does with the view that a command returns."""

from __future__ import annotations

import json

import click
import pytest
from command_line import Cli, Ended

from topicloom.cli import main, options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import Fact, View

EXAMPLES = """
  topicloom paint wall.csv \\
      --shade 3
"""


def late() -> list[click.Option]:
    return [options.Option(["--gloss"], type=options.NUMBER, help="How much it shines.", section="Late")]


@command("bound", examples=EXAMPLES, late=late)
@options.subscriptions
@options.option("--shade", metavar="N", type=options.WHOLE, required=True, help="How dark it is.")
@options.prices
def paint(run: Run, shade: int, gloss: float | None = None) -> View:
    """Paint a wall.

    Slowly.
    """
    if gloss == 0:
        line = "'gloss' gloss of 0 and node_column cannot be; leave subscriptions alone"
        raise InputError(line, "gloss", "node_column", "subscriptions")
    if gloss is not None:
        run.finding(f"gloss is {gloss}")
    return View(
        "paint", "Paint", (Fact("shade", run.step("painting", abs, shade)), Fact("wall", str(run.subscriptions)))
    )


@pytest.fixture
def painting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command above, in place of `bound`."""
    monkeypatch.setattr("topicloom.cli.bound.bound", paint)
    monkeypatch.setitem(main.topicloom.commands, "bound", paint)
    return lambda *arguments: cli("bound", *arguments)


def test_the_view_is_printed(painting: Cli) -> None:
    assert painting("wall.csv", "--shade", 3) == Ended(0, "shade          3\nwall    wall.csv\n", "")


def test_formats(painting: Cli) -> None:
    data = {"shade": 3, "wall": "wall.csv"}
    asked = ("wall.csv", "--shade", "3")
    assert painting(*asked, "--json").json == painting(*asked, "-q", "--format", "json").json == data
    assert painting(*asked, "--format", "csv").out == "shade,wall\n3,wall.csv\n"
    assert "| shade | 3 |" in painting(*asked, "--format", "markdown").out
    assert painting(*asked, "-q") == Ended(0, "", "")
    assert painting(*asked, "--format", "xml").err == (
        "topicloom: --format: 'xml' is not one of 'text', 'json', 'csv', 'markdown'; see 'topicloom bound --help'\n"
    )


def test_findings_are_on_stderr_and_give_status_1(painting: Cli) -> None:
    ended = painting("wall.csv", "--shade", 3, "--gloss", 1, "--json")
    assert (ended.status, json.loads(ended.out)["shade"], ended.err) == (1, 3, "gloss is 1.0\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--shade", "3"], "SUBS is missing: subscriptions, one a row: .parquet, .csv, .tsv, .csv.gz or .tsv.gz; or "),
        (["w"], "--shade is missing: how dark it is; see 'topicloom bound --help'"),
        (["w", "--shade", "dark"], "--shade: 'dark' is not a whole number; see"),
        (["w", "--shade", "1", "--gloss", "x"], "--gloss: 'x' is not a number; see"),
        (["w", "--shade"], "option '--shade' requires an argument; see"),
        (["w", "x", "--shade", "1"], "got unexpected extra argument (x); see"),
        (["w", "--shape", "1"], "no such option '--shape'"),
        (
            ["w", "--shade", "1", "--gloss", "0"],
            "'gloss' --gloss of 0 and --node-column cannot be; leave SUBS alone",
        ),
    ],
)
def test_refusals_name_what_a_person_gives(painting: Cli, arguments: list[str], line: str) -> None:
    ended = painting(*arguments)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"topicloom: {line}")


def test_help_has_sections_and_examples(painting: Cli) -> None:
    text = painting("--help").out
    assert text.startswith(
        "Usage: topicloom bound [OPTIONS] SUBS\n\n  Paint a wall.\n\n  Slowly.\n\nArguments:\n  SUBS "
    )
    headings = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Arguments:", "Options:", "Reading SUBS:", "Late:", "Printing:", "Example:"]
    assert text.endswith("Example:\n  topicloom paint wall.csv \\\n      --shade 3\n")
    assert painting("-h").out == text


PORTED = [name for names in main.SECTIONS.values() for name in names if name not in main.ON_TYPER]


def commands(group: click.Group, names: list[str]) -> list[click.Command]:
    """Commands by name, those of groups within included."""
    found = []
    for name in names:
        each = group.get_command(click.Context(group), name)
        assert each is not None
        found += commands(each, each.list_commands(click.Context(each))) if isinstance(each, click.Group) else [each]
    return found


@pytest.mark.parametrize("name", PORTED)
def test_help_of_options_is_short(name: str) -> None:
    """At most 12 words, defaults and parameters of algorithms aside."""
    for each in (parameter for found in commands(main.topicloom, [name]) for parameter in found.params):
        if getattr(each, "section", "") in (options.OF_DESIGNERS, options.OF_MAINTAINERS):
            continue
        text = getattr(each, "help", None) or ""
        assert len(text.split("  [")[0].split()) <= (12 if isinstance(each, click.Option) else 18), (
            f"{name} {each.opts}: {text}"
        )
