"""`topicloom status`: what brokers should have, and what they have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli

from topicloom.brokers.store import opened

FLEET = """
[brokers]
a = { host = "a", apply = { via = "folder", path = "files/a.conf", check = "nothing" } }
b = { host = "b", apply = { via = "folder", path = "files/b.conf", check = "nothing" } }
c = { host = "c", apply = { via = "command", put = "cp {file} files/c.conf", check = "nothing" } }
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("fleet.toml").write_text(FLEET)
    Path("subs.csv").write_text("node,topic\na,t\nb,t\nc,t\n")
    Path("links.csv").write_text("source,target\na,b\nb,c\n")
    assert cli("plan", "subs.csv", "links.csv", "--fleet", "fleet.toml", "--out", "plan.json").status == 0
    return tmp_path


def states(cli: Cli) -> tuple[int, dict[str, str]]:
    ended = cli("status", "--fleet", "fleet.toml", "--state", "state", "--json")
    return ended.status, {row["broker"]: row["state"] for row in json.loads(ended.out)["brokers"]}


def test_right_drifted_and_owed(fleet: Path, cli: Cli) -> None:
    assert cli("apply", "plan.json", "--fleet", "fleet.toml", "--state", "state", "--yes").status == 0
    assert states(cli) == (0, {"a": "right", "b": "right", "c": "not read"})
    shown = cli("status", "--fleet", "fleet.toml", "--state", "state")
    assert shown.out.endswith("all brokers have what they should have\n")
    Path("files/a.conf").write_text("")
    with opened(Path("state")) as state:  # beside another process that holds it
        assert states(cli) == (1, {"a": "drifted", "b": "right", "c": "not read"})
        state.store.execute("INSERT INTO owed VALUES ('b', NULL)")
    assert states(cli)[1]["b"] == "owed"
    shown = cli("status", "--fleet", "fleet.toml", "--state", "state")
    assert "has none of its links" in shown.out
    assert shown.out.endswith("2 brokers to look at\n")


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ("nowhere", "nowhere: holds no state of a fleet"),
        ("files", "files: holds no state"),
        ("old", "old: is a state of"),
    ],
)
def test_refusals(fleet: Path, cli: Cli, state: str, problem: str) -> None:
    Path("old").mkdir()
    Path("old/fleet.log").touch()
    ended = cli("status", "--fleet", "fleet.toml", "--state", state)
    assert ended.status == 2
    assert ended.err.startswith(f"topicloom: {problem}")
    assert ended.err.count("\n") == 1
