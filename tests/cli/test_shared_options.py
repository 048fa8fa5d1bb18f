"""Options that commands share: declared once, given to a command as one object."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from command_line import Cli

from topicloom.cli.typer_options import InterestFile, Printing, Spark, with_shared_options
from topicloom.errors import InputError


def test_a_command_gets_the_objects_and_typer_sees_the_options() -> None:
    seen = {}

    def command(
        *, subs: InterestFile, other: Annotated[Path, typer.Argument()], spark: Spark, k: int = 3, printing: Printing
    ) -> None:
        seen.update(locals())

    shown = with_shared_options(command)
    names = [
        "subscriptions",
        "other",
        "k",
        "node_column",
        "topic_column",
        "role_column",
        "filters",
        "master",
        "spark_conf",
        "driver_memory",
        "verbose",
    ]
    assert list(shown.__signature__.parameters) == [*names, "json", "quiet"]  # type: ignore[attr-defined]
    values = dict.fromkeys([*names, "json", "quiet"])
    shown(**values | {"subscriptions": Path("s.csv"), "k": 4, "quiet": True, "spark_conf": ["a.b=c=d", " e = f "]})
    assert (seen["k"], seen["subs"].path, seen["printing"].quiet) == (4, Path("s.csv"), True)
    assert seen["spark"].options().conf == {"a.b": "c=d", "e": "f"}


def test_a_setting_of_spark_has_a_key_and_a_value() -> None:
    with pytest.raises(InputError, match="spark_conf 'oops': expected KEY=VALUE"):
        Spark(spark_conf=["oops"])


def test_quiet_prints_nothing_but_errors_and_json(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    design = ("design", subscriptions, "--algorithm", "gm", "--out", tmp_path / "overlay.parquet")
    told, quiet = cli(*design), cli(*design, "-q")
    assert told.out.splitlines()[-1] == f"written to {tmp_path / 'overlay.parquet'}"
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    assert cli(*design, "-q", "--json").json["support"] == 1
    assert cli("measure", tmp_path / "none.csv", tmp_path / "overlay.parquet", "-q").err != ""
    assert cli(*design).out != "", "the next command prints again"


def test_an_option_may_have_another_name_than_the_parameter(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\na,x\n")
    ended = cli("spark", "ingest", tmp_path / "subs.csv", "--out", tmp_path / "out", "--max-name-length", 0)
    assert (ended.status, ended.err) == (2, "topicloom: --max-name-length 0: expected at least 1\n")
