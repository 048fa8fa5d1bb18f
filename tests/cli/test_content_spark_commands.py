"""The commands of `topicloom content` that run on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from command_line import Cli

pytestmark = pytest.mark.usefixtures("on_one_session")


def test_content_summarize(cli: Cli, tmp_path: Path) -> None:
    cli("content", "generate", "--users", 3, "--brokers", 2, "--channels", 4, "--out", tmp_path / "net")
    log = tmp_path / "log.csv"
    log.write_text("user,a1,time\nu1,0.1,0\nu1,0.2,5\nu2,0.9,10\nu3,1.5,3\n")
    arguments = ("content", "summarize", log, "--space", tmp_path / "net" / "space.parquet", "--out", tmp_path / "out")
    refused = cli(*arguments)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        "topicloom: 1 of 4 messages are bad, more than --max-bad 0.1 accepts (1 a1 is outside the space)\n"
    )
    assert not (tmp_path / "out").exists()
    ended = cli(*arguments, "--max-bad", 0.5)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.split() == [
        *("messages", "4", "set", "aside", "1", "users", "2", "channels", "2"),
        *("seconds", "in", "the", "log", "10", "written", "to", str(tmp_path / "out")),
    ]
    rates = pyarrow.parquet.read_table(tmp_path / "out" / "rates.parquet").to_pylist()
    assert rates == [{"user": "u1", "channel": "c1", "rate": 0.2}, {"user": "u2", "channel": "c4", "rate": 0.1}]
    again = cli(*arguments, "--max-bad", 0.5, "--seconds", 2, "--json").json
    assert (again["messages"], again["bad_by_reason"], again["seconds"]) == (4, {"a1 is outside the space": 1}, 2)


def test_content_sweep(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "sweep.parquet"
    arguments = ["content", "sweep", "--users", "20,40", "--users-per-broker", 10, "--channels", 5, "--seeds", 2]
    arguments += ["--algorithms", "random,packing", "--out", out]
    ended = cli(*arguments)
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert [line.split()[:5] for line in lines[3:7]] == [
        ["random", "20", "2", "1", "2"],
        ["packing", "20", "2", "1", "2"],
        ["random", "40", "4", "1", "2"],
        ["packing", "40", "4", "1", "2"],
    ]
    assert lines[-1] == f"written to {out}"
    table = pyarrow.parquet.read_table(out)
    assert table.num_rows == len(list((tmp_path / "sweep.parquet.cells").iterdir())) == 8
    rows = cli(*arguments, "--json").json["rows"]
    ratios = table.filter(pyarrow.compute.equal(table["algorithm"], "packing"))["cost_reduction_ratio"].to_pylist()
    assert [row["cost_reduction_ratio"] for row in rows if row["algorithm"] == "packing"] == pytest.approx(
        [sum(ratios[:2]) / 2, sum(ratios[2:]) / 2]
    )


def test_ctrl_c_keeps_the_runs_that_are_done(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    arguments = ["content", "sweep", "--users", "20", "--users-per-broker", 10, "--channels", 5]
    arguments += ["--algorithms", "random,packing", "--out", tmp_path / "sweep.parquet"]
    assert cli(*arguments, "--seeds", 1).status == 0
    written = (tmp_path / "sweep.parquet").read_bytes()
    monkeypatch.setattr("topicloom.spark.content_sweep.run_content_sweep", interrupted)
    ended = cli(*arguments, "--seeds", 3)
    kept = "stopped; 2 of 6 runs are done and kept, the same command goes on from there"
    assert (ended.status, ended.out, ended.err) == (130, "", f"topicloom: {kept}\n")
    assert (tmp_path / "sweep.parquet").read_bytes() == written
