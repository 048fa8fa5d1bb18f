"""Help: there, complete, and quick."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from subprocess import run as run_process

import pytest
from command_line import Cli

from topicloom import DESIGNERS, __version__
from topicloom.cli.main import ON_TYPER
from topicloom.spark.profile import MAX_PAIRS, profile
from topicloom.workloads import POPULARITIES, SIZES

COMMANDS = [
    *("generate", "designers", "design", "measure", "bound", "compare", "churn", "maintain", "report"),
    *("plan", "render", "diff", "explain", "lint", "test", "apply", "status", "watch"),
    "reproduce",
    *("completion", "prepare"),
]
SPARK = ("sample", "ingest", "profile", "design", "measure", "sweep", "stream", "rates")
CONTENT = ("generate", "assign", "cost", "compare")
GROUPED = [*(["content", name] for name in CONTENT), *(["spark", name] for name in SPARK)]


def test_alone_shows_help(cli: Cli) -> None:
    ended = cli()
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == cli("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", ended.out, re.MULTILINE)
    assert "..." not in ended.out.split("Fleet:")[1].split("Example:")[0], "summaries fit into 80 columns"


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"topicloom {__version__}\n"


def test_commands_are_grouped(cli: Cli) -> None:
    headings = re.findall(r"^(\S.*):$", cli("--help").out, re.MULTILINE)
    assert headings[:6] == ["Options", "Fleet", "Research", "Spark", "Look", "Other"]
    assert headings[-1] == "Exit status"


@pytest.mark.parametrize("command", sorted(ON_TYPER))
def test_the_list_says_what_the_help_of_a_command_says(cli: Cli, command: str) -> None:
    assert cli(command, "--help").out.split("\n\n")[1].strip().replace("\n ", "") == ON_TYPER[command][1]


def test_options_are_grouped_own_ones_first(cli: Cli) -> None:
    text = cli("spark", "stream", "--help").out
    headings = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert headings[:6] == ["Arguments", "Options", "Reading SUBS", "Spark", "Parameters of repair", "Printing"]
    assert text.startswith("Usage: topicloom spark stream [OPTIONS] SUBS OVERLAY\n")
    assert text.index("--events PLACE") < text.index("--node-column") < text.index("--master") < text.index("--json")


@pytest.mark.parametrize(
    "command",
    [
        [],
        *([name] for name in COMMANDS),
        *(["content", name] for name in CONTENT),
        *(["spark", name] for name in SPARK),
    ],
)
def test_help_shows_no_types_of_python(cli: Cli, command: list[str]) -> None:
    text = cli(*command, "--help").out
    assert not re.search(r"\{[A-Z]|<(path|str|int|float|list\[)", text)


def test_the_default_of_max_pairs_is_that_of_the_library(cli: Cli) -> None:
    assert f"{MAX_PAIRS}]" in cli("spark", "profile", "--help").out
    assert inspect.signature(profile).parameters["max_pairs"].default == MAX_PAIRS


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("topicloom des", {"design", "designers"}),
        ("topicloom design --max-", {"--max-edges", "--max-degree"}),
        ("topicloom measure subs.csv --no", {"--node-column", "--no-diameters"}),
        ("topicloom plan --target r", {"rabbitmq"}),
        ("topicloom watch --target n", {"nats"}),
        ("topicloom apply --ro", {"--rollback"}),
        ("topicloom content as", {"assign"}),
    ],
)
def test_shells_complete_commands_and_options(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: str, completed: set[str]
) -> None:
    monkeypatch.setenv("_TOPICLOOM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    ended = cli()
    assert (ended.status, set(ended.out.replace("plain,", "").split()), ended.err) == (0, completed, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_a_shell(cli: Cli, shell: str) -> None:
    ended = cli("completion", shell)
    assert (ended.status, ended.err) == (0, "")
    assert f"_TOPICLOOM_COMPLETE={shell}_complete" in ended.out
    assert cli("completion", "tcsh").status == 2


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_has_an_example_and_fits(cli: Cli, command: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arguments = [command] if command else []
    ended = cli(*arguments, "--help")
    assert (ended.status, ended.err) == (0, "")
    assert re.search("\n *Example:\n +topicloom ", ended.out)
    assert max(map(len, ended.out.splitlines())) <= 80
    assert cli(*arguments, "-h") == ended


@pytest.mark.parametrize("command", ["design", "compare"])
def test_help_names_the_designers_that_take_an_option(cli: Cli, command: str) -> None:
    text = " ".join(cli(command, "--help").out.split())
    for name in ("max_edges", "max_degree", "k", "folds", "greedy", "random"):
        takers = [d.name for d in DESIGNERS.values() if any(p.name == name for p in d.parameters)]
        (default,) = {p.default for d in DESIGNERS.values() for p in d.parameters if p.name == name}
        ending = f" ({default})." if default is not None else "."
        (help_text,) = re.findall(rf"--{name.replace('_', '-')} [NX] (.*?)(?= --\w)", text)
        assert help_text.replace("- ", "-").endswith(f"for {', '.join(takers)}{ending}")


def test_help_offers_the_known_choices(cli: Cli) -> None:
    text = cli("generate", "--help").out
    assert f"<{'|'.join(POPULARITIES)}>" in text
    assert f"<{'|'.join(SIZES)}>" in text


@pytest.mark.slow
def test_the_command_is_installed(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("topicloom")
    ended = run_process([script, "--version"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"topicloom {__version__}\n", "")
    ended = run_process([script, "design", "none.csv"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert not list(tmp_path.iterdir())


LOADING = """
import sys
from topicloom.cli.main import run
for arguments in {without_numba!r}:
    assert run(arguments) == 0 and 'numba' not in sys.modules, arguments
    assert arguments[0] == 'content' or not {{'typer', 'rich', 'numpy'}} & set(sys.modules), arguments
for arguments in {without_spark!r}:
    assert run(arguments) == 0 and 'pyspark' not in sys.modules, arguments
"""


@pytest.mark.slow
def test_commands_load_only_what_they_need() -> None:
    without_numba = [["--help"], ["measure", "--help"], ["content", "--help"]]
    without_spark = [["spark", "ingest", "--help"], ["spark", "sweep", "--help"], ["designers"]]
    code = LOADING.format(without_numba=without_numba, without_spark=without_spark)
    ended = run_process([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
