"""`topicloom check`: what stands in the way of a fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli

from topicloom.brokers.local import LOOPBACK, free_ports


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    (closed,) = free_ports(["closed"]).values()
    Path("fleet.toml").write_text(
        f'[brokers.a]\nhost = "{LOOPBACK}"\nport = {closed}\n'
        '[brokers.b]\nhost = "b"\napply = { via = "folder", path = "b.conf", check = "nothing" }\n'
    )
    ended = cli("check")
    assert (ended.status, ended.err) == (1, "")
    assert [line.split()[:3] for line in ended.out.splitlines()[2:]] == [
        ["a", "right", "name"],
        ["a", "wrong", "port"],
        ["a", "not", "looked"],
        ["b", "right", "folder"],
        ["b", "not", "looked"],
        ["1", "broker", "to"],
    ]
    ended = cli("check", "fleet.toml", "--json")
    assert {"broker": "b", "check": "folder", "state": "right", "why": ""} in json.loads(ended.out)["checks"]
    Path("fleet.toml").write_text(
        '[brokers.b]\nhost = "b"\napply = { via = "folder", path = "b.conf", check = "nothing" }\n'
    )
    assert cli("check").status == 0
    assert cli("check", "--seconds", "0").err == "topicloom: --seconds must be above 0, at most 3,600, not 0\n"
    assert cli("check", "none.toml").status == 2
