"""Wrong input to the commands about brokers: one line, status 2, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import Cli


@pytest.fixture
def refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in a folder with a plan; it must be refused. Gives its one line."""
    monkeypatch.chdir(tmp_path)
    Path("subs.csv").write_text("node,topic\na,t\nb,t\n")
    Path("links.csv").write_text("source,target\na,b\n")
    Path("fleet.toml").write_text('[brokers.a]\nhost = "h"\n[brokers.b]\nhost = "i"\n')
    assert cli("plan", "subs.csv", "links.csv", "-f", "fleet.toml", "-o", "plan.json").status == 0
    before = sorted(Path.cwd().rglob("*"))

    def call(*arguments: object) -> str:
        ended = cli(*arguments)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.count("\n") == 1
        assert sorted(Path.cwd().rglob("*")) == before
        return ended.err.removeprefix("topicloom: ").rstrip("\n")

    return call


def test_plan(refused: Any) -> None:
    plan = ("plan", "subs.csv", "links.csv")
    assert refused(*plan, "-f", "none.toml", "-o", "p.json") == "none.toml: no such file"
    assert refused(*plan, "-f", "fleet.toml", "-o", "p.parquet") == (
        "p.parquet: is written as JSON; give a name that ends in .json"
    )
    assert refused(*plan, "-f", "fleet.toml", "-o", "fleet.toml") == (
        "fleet.toml: is written as JSON; give a name that ends in .json"
    )
    assert refused(*plan, "-f", "subs.csv", "-o", "p.json").startswith("subs.csv: is not TOML: ")
    assert "unknown kind of broker" in refused(*plan, "-f", "fleet.toml", "-o", "p.json", "--target", "kafka")
    assert "--relays" in refused(*plan, "-f", "fleet.toml", "-o", "p.json", "--relays=maybe")


@pytest.mark.parametrize("command", [("render", "--out", "x"), ("explain", "--topic", "t"), ("test",)])
def test_plans_that_are_none(refused: Any, command: tuple[str, ...]) -> None:
    name, *options = command
    assert refused(name, "none.json", *options) == "none.json: no such file"
    assert refused(name, "subs.csv", *options) == "subs.csv: is not a plan; give a file that 'topicloom plan' wrote"
    assert refused(name, ".", *options) == ".: is a folder; give one file"


def test_render_needs_a_new_folder(refused: Any) -> None:
    assert refused("render", "plan.json", "--out", ".").endswith("is there already; give a new folder")
    assert refused("render", "plan.json", "--out", "no/such") == "no/such: the folder no does not exist"


def test_diff(refused: Any) -> None:
    assert refused("diff", "plan.json", "none.json") == "none.json: no such file"
    assert refused("diff", "none.json", "plan.json") == "none.json: no such file"


def test_explain(refused: Any) -> None:
    one = "give one of --link, --topic and --broker"
    assert refused("explain", "plan.json") == one
    assert refused("explain", "plan.json", "--link", "a,b", "--topic", "t") == one
    assert refused("explain", "plan.json", "--link", "a") == ("--link 'a': give two brokers with a comma between")
    assert refused("explain", "plan.json", "--link", "a,z") == "the plan has no broker 'z'"
    assert refused("explain", "plan.json", "--topic", "z\n") == "the plan has no topic 'z\\n'"


def test_live(refused: Any) -> None:
    assert refused("test", "plan.json", "--messages", -1) == "--messages must be 0 or more, not -1"
    assert refused("test", "plan.json", "--kill", "z") == "the plan has no broker 'z' to stop"


def test_lint(refused: Any) -> None:
    assert refused("lint", "none") == "none: no such file or folder"
    assert refused("lint", ".") == ".: has no .conf files; give configurations of Mosquitto or NATS"
    assert refused("lint", "subs.csv", "--interests", "none.csv") == "none.csv: no such file"
    assert refused("lint", "subs.csv", "--interests", "subs.csv") == (
        "subs.csv: node 'a' has no configuration among subs"
    )


def test_a_target_that_no_broker_heeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    Path("subs.csv").write_text("node,topic\na,t\nb,t\n")
    plan = ("plan", "subs.csv", "--out", "plan.json")
    Path("fleet.toml").write_text('[defaults]\nkind = "mosquitto"\n[brokers]\na = { host = "a" }\nb = { host = "b" }\n')
    ended = cli(*plan, "--target", "nats")
    problem = "fleet.toml: gives the kind of each broker; leave out --target"
    assert (ended.status, ended.err) == (2, f"topicloom: {problem}\n")
    assert not Path("plan.json").exists()
    assert cli(*plan).status == 0
