"""`topicloom spark rates`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest
from command_line import Cli

pytestmark = pytest.mark.usefixtures("on_one_session")


def test_rates(cli: Cli, tmp_path: Path) -> None:
    cli("content", "generate", "--users", 3, "--brokers", 2, "--channels", 4, "--out", tmp_path / "net")
    log = tmp_path / "log.csv"
    log.write_text("user,a1,time\nu1,0.1,0\nu1,0.2,5\nu2,0.9,10\nu3,1.5,3\n")
    arguments = ("spark", "rates", log, "--space", tmp_path / "net" / "space.parquet", "--out", tmp_path / "out")
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
