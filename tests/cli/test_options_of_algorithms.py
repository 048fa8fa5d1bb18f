"""Options made from what algorithms declare, those of other packages too."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet
import pytest
from command_line import Cli

from other_package import install_example
from topicloom.cli import content_assign, content_compare, main, options
from topicloom.cli.command import Command
from topicloom.cli.typer_options import with_shared_options
from topicloom.registry import Algorithm, Registry
from topicloom.registry.registry import TAKEN

RUN = """
import sys
from topicloom.cli.main import run
for arguments in {commands!r}:
    print("#", *arguments, flush=True)
    status = run(arguments)
    if status:
        sys.exit(status)
"""
SPEC = """
[[workload]]
file = "subs.parquet"
[[designer]]
name = "chains"
reach = [1, 2]
"""


@pytest.mark.parametrize("name", ["design", "compare"])
def test_no_parameter_of_a_designer_can_hide_an_option(name: str) -> None:
    command = main.topicloom.get_command(click.Context(main.topicloom), name)
    assert isinstance(command, Command)
    own = [each for each in command.params if getattr(each, "section", "") != options.OF_DESIGNERS]
    assert {each.name for each in own} <= TAKEN


@pytest.mark.parametrize("command", [content_assign, content_compare])
def test_no_parameter_can_hide_an_option(command: object) -> None:
    function = command.command  # type: ignore[attr-defined]
    for shown in (function, with_shared_options(function)):
        assert set(inspect.signature(shown).parameters) - {"parameters"} <= TAKEN


def test_maintainers_declare_their_options(cli: Cli) -> None:
    text = " ".join(cli("maintain", "--help").out.split())
    assert "--method <shadow|naive|rebuild>" in text
    assert "--coverage N How often the backups of a node cover each of its topics, for shadow; with 0" in text
    assert "--rule <low-oda|gm|minmax-oda>" in text
    assert "--prune Drop links that no topic needs any more" in text


@pytest.mark.parametrize(
    ("options", "compilations"), [(["-a", "low-oda"], 1), (["-a", "gpa", "--budget-ratio", "0.5"], 2)]
)
def test_a_design_is_found_checked_and_compiled_once(
    cli: Cli,
    subscriptions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    compilations: int,
) -> None:
    """A budget ratio takes a second designer, minmax-oda."""
    calls: Counter[str] = Counter()
    for owner, name in ((Registry, "find"), (Algorithm, "checked")):
        original = getattr(owner, name)

        def counted(*arguments: Any, _name: str = name, _original: Any = original) -> Any:
            calls[_name] += 1
            return _original(*arguments)

        monkeypatch.setattr(owner, name, counted)
    compiled = import_module("topicloom.designers.run")._compile
    compiled.cache_clear()
    assert cli("design", subscriptions, *options, "--out", tmp_path / "overlay.parquet").status == 0
    assert calls["find"] == calls["checked"] == 1
    assert compiled.cache_info().misses == compilations


@pytest.mark.spark
def test_a_designer_of_another_package_is_like_ours(subscriptions: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    install_example(tmp_path / "site")
    (tmp_path / "spec.toml").write_text(SPEC)
    subs = subscriptions.name
    commands = [
        ["designers"],
        ["design", "--help"],
        ["compare", "--help"],
        ["design", subs, "--algorithm", "chains", "--reach", "2", "--out", "o.parquet", "--json"],
        ["compare", subs, "--algorithms", "gm,chains", "--reach", "2"],
        ["spark", "sweep", "spec.toml", "--out", "swept", "--master", "local[1]"],
        ["design", subs, "--algorithm", "chains", "--reach", "0", "--out", "o2.parquet"],
    ]
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-c", RUN.format(commands=commands)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == "topicloom: --reach of chains must be a whole number, 1 or more, not 0\n"
    listed, helped, helped_too, designed, compared, swept, _ = ended.stdout.split("\n# ")
    assert "--reach: how many of the next nodes to link with (1 unless given)" in listed
    for text in (helped, helped_too):
        assert "--reach N How many of the next nodes to link with, for chains (1)." in " ".join(text.split())
    assert '"reach": 2' in designed
    assert [line.split()[0] for line in compared.splitlines()[-2:]] == ["gm", "chains"]
    assert re.search("failed +0", swept)
    table = pyarrow.parquet.read_table(tmp_path / "swept" / "results.parquet")
    assert table["parameter_reach"].to_pylist() == [1, 2]
    assert table["error"].null_count == 2
