"""`topicloom apply` at the command line: what it shows, asks, refuses and leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli

from topicloom.brokers import check, deliver, present

SUBSCRIPTIONS = "node,topic\na,t\nb,t\nc,t\n"


@pytest.fixture
def fleet(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two plans for three brokers that are files in a folder."""
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("subs.csv").write_text(SUBSCRIPTIONS)
    Path("fleet.toml").write_text(
        '[defaults.apply]\nvia = "folder"\npath = "files/{broker}.conf"\ncheck = "nothing"\n'
        '[brokers]\na = { host = "a" }\nb = { host = "b" }\nc = { host = "c" }\n'
    )
    for name, links in (("old", "a,b\nb,c\n"), ("new", "a,b\na,c\n")):
        Path(f"{name}.csv").write_text(f"source,target\n{links}")
        ended = cli("plan", "subs.csv", f"{name}.csv", "--fleet", "fleet.toml", "--out", f"{name}.json")
        assert ended.status == 0, ended.err
    return tmp_path


def test_from_one_plan_to_the_next_and_back(fleet: Path, cli: Cli) -> None:
    shown = cli("apply", "old.json", "-f", "fleet.toml", "--dry-run")
    assert (shown.status, shown.out.splitlines()[-1]) == (1, "nothing was done")
    data = cli("apply", "old.json", "-f", "fleet.toml", "--dry-run", "--json")
    steps = [{"broker": "a", "cleared": False}, {"broker": "b", "cleared": False}]
    assert (data.status, data.json["steps"], data.json["done"]) == (1, steps, [])
    assert not (fleet / "fleet-state").exists()
    assert list((fleet / "files").iterdir()) == []
    ended = cli("apply", "old.json", "-f", "fleet.toml", "--yes")
    assert ended.status == 0, ended.err
    assert "1 of 2  a: file put (0.0" in ended.out
    assert ended.out.splitlines()[-1].startswith("2 steps done in 0.0")
    again = cli("apply", "old.json", "-f", "fleet.toml", "--yes")
    assert again.out.splitlines()[-1] == "the fleet has this plan already"
    assert cli("apply", "old.json", "-f", "fleet.toml", "--dry-run").status == 0
    changed = cli("apply", "new.json", "-f", "fleet.toml", "--yes", "--json")
    assert [step["broker"] for step in changed.json["steps"]] == ["b", "a"]
    assert [step["broker"] for step in changed.json["done"]] == ["b", "a"]
    assert changed.json["interrupted"] == ["t"]
    assert "connection a-c" in Path("files/a.conf").read_text()
    back = cli("apply", "--rollback", "-f", "fleet.toml", "--yes")
    assert back.status == 0, back.err
    assert "connection a-c" not in Path("files/a.conf").read_text()


def test_a_fleet_that_has_a_plan_already(fleet: Path, cli: Cli) -> None:
    ended = cli("apply", "new.json", "-f", "fleet.toml", "--from", "old.json", "--yes", "--json")
    assert [step["broker"] for step in ended.json["done"]] == ["b", "a"]
    refused = cli("apply", "new.json", "-f", "fleet.toml", "--from", "old.json", "--yes")
    assert refused.err == "topicloom: fleet-state: knows what the fleet has; leave out --from\n"


def test_what_fails_says_where_the_fleet_stands(fleet: Path, cli: Cli) -> None:
    Path("files/a.conf").mkdir()
    ended = cli("apply", "old.json", "-f", "fleet.toml", "--yes")
    assert ended.status == 1
    assert ended.err == (
        "step 1 of 2, broker 'a': files/a.conf: is a folder, not a file to write to; "
        "0 of 2 steps are done. Apply again to go on, or roll back (--rollback)\n"
    )
    stopped = cli("apply", "old.json", "-f", "fleet.toml", "--yes", "--json")
    assert (stopped.status, stopped.json["stopped"].split(":")[0]) == (1, "step 1 of 2, broker 'a'")
    Path("files/a.conf").rmdir()
    ended = cli("apply", "--rollback", "-f", "fleet.toml", "--yes")
    assert (ended.status, ended.err) == (0, "")
    assert "take the links from a" in ended.out


def test_nothing_is_begun_if_a_broker_cannot_get_its_file(fleet: Path, cli: Cli) -> None:
    Path("files").rename("elsewhere")
    ended = cli("apply", "old.json", "-f", "fleet.toml", "--yes")
    problem = "broker 'a': folder: files: cannot be written to (No such file or directory)"
    assert (ended.status, ended.err) == (2, f"topicloom: {problem} (and 1 more; see 'topicloom check')\n")
    Path("elsewhere").rename("files")
    assert cli("apply", "old.json", "-f", "fleet.toml", "--yes").status == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give either PLAN or --rollback"),
        (("old.json", "--rollback"), "give either PLAN or --rollback"),
        (("--rollback",), "fleet-state: nothing was applied, so there is nothing to go back to"),
        (("missing.json",), "missing.json: no such file"),
        (("old.json",), "not a terminal; give --yes to apply without asking"),
        (("old.json", "--state", "no/where", "--yes"), "no/where: the folder no does not exist"),
        (("subs.csv",), "subs.csv: is not a plan; give a file that 'topicloom plan' wrote"),
    ],
)
def test_refusals(fleet: Path, cli: Cli, arguments: tuple[str, ...], problem: str) -> None:
    ended = cli("apply", *arguments, "-f", "fleet.toml")
    assert (ended.status, ended.err) == (2, f"topicloom: {problem}\n")
    assert list((fleet / "files").iterdir()) == []


def test_a_broker_that_does_not_answer_is_named_though_it_has_no_step(
    fleet: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(present, "answers", lambda broker, *_: broker.name != "c")
    monkeypatch.setattr(check, "check_fleet", lambda *_, **__: [])
    monkeypatch.setattr(deliver, "wait_until_taken", lambda *_: None)
    Path("fleet.toml").write_text(Path("fleet.toml").read_text().replace('"nothing"', '"port"'))
    for _ in range(2):
        ended = cli("apply", "old.json", "-f", "fleet.toml", "--yes")
        assert (ended.status, ended.err) == (1, "c does not answer, so its file was not looked at; it has no step\n")
    assert "file put" not in ended.out
    assert cli("apply", "old.json", "-f", "fleet.toml", "--dry-run", "--json").json["silent"] == ["c"]
    monkeypatch.setattr(present, "answers", lambda broker, *_: True)
    ended = cli("apply", "old.json", "-f", "fleet.toml", "--yes", "--json")
    assert (ended.status, ended.err, ended.json["silent"]) == (0, "", [])


@pytest.mark.parametrize("more", [("--yes",), ("--dry-run",), ("--yes", "--json")])
def test_bridges_beside_the_plan(fleet: Path, cli: Cli, more: tuple[str, ...]) -> None:
    for name in "abc":
        Path(name).mkdir()
    Path("fleet.toml").write_text(Path("fleet.toml").read_text().replace("files/{broker}.conf", "{broker}/ours.conf"))
    Path("c/hand.conf").write_text("# mine\n\nconnection x\naddress a\ntopic t out\n")
    refused = cli("apply", "old.json", "-f", "fleet.toml", *more)
    assert refused.status == 2
    assert refused.err.startswith("topicloom: broker 'c': c/hand.conf:3: with this bridge and the plan 't' published ")
    assert len(refused.err.splitlines()) == 1
    assert not list(Path().glob("?/ours.conf"))
    Path("c/hand.conf").write_text("connection x\naddress elsewhere:1884\ntopic # both\n")
    Path("b/hand.conf").write_text("topic # both\n")
    ended = cli("apply", "old.json", "-f", "fleet.toml", *more)
    assert (ended.status, ended.err) == (int("--dry-run" in more), "")
    if "--json" not in more:
        lines = ended.out.splitlines()
        assert "1 bridge beside the plan:" in lines
        assert "  c - elsewhere:1884 (c/hand.conf:1)" in lines
        assert any(line.startswith("not looked at for other bridges: b (b/hand.conf:1: 'topic' ") for line in lines)
