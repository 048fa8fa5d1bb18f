"""Commands that find out what is there: what they print, and how they end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Cli

from topicloom.model.events import read_events

COMMAND = [sys.executable, "-c", "import sys; from topicloom.cli.main import run; sys.exit(run())"]


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, client in (("berlin", "x"), ("paris", "y")):
        Path(f"{name}.log").write_text(f"1790000000: {client} 1 news\n")
    Path("fleet.toml").write_text(
        '[defaults.collect]\nlog = "{broker}.log"\n[brokers]\nberlin = { host = "b" }\nparis = { host = "p" }\n'
    )
    return tmp_path


def test_collected_rows_are_designed(cli: Cli, fleet: Path) -> None:
    ended = cli("collect", "-f", "fleet.toml", "--out", "raw", "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.json["subscriptions"] == 2
    assert ended.json["brokers_without_publishers"] == ["berlin", "paris"]
    ended = cli("design", "raw/subscriptions.parquet", "-a", "gm", "-o", "overlay.parquet", "--json")
    assert ended.json["support"] == 1
    ended = cli("plan", "raw/subscriptions.parquet", "overlay.parquet", "-f", "fleet.toml", "-o", "plan.json")
    assert "\nwanted, subscribers taken to publish      1\n" in ended.out


def test_bridges_are_listed(cli: Cli, fleet: Path) -> None:
    names = ["hand", *(f"other-{number}" for number in range(6)), "topicloom-paris-berlin-0"]
    lines = "".join(
        f"1790000000: New bridge connected from 1:1 as {name} (p2, c0, k60).\n{name} 0 #\n" for name in names
    )
    Path("berlin.log").write_text(lines)
    ended = cli("collect", "-f", "fleet.toml", "--out", "raw")
    assert "subscriptions            1\n" in ended.out
    assert "bridges                  7\n" in ended.out
    assert (
        "  berlin has bridges, which are no clients: hand, other-0, other-1, other-2, other-3 and 2 more\n" in ended.out
    )
    listed = cli("collect", "-f", "fleet.toml", "--out", "raw", "--json").json["bridges"]
    assert listed == [{"broker": "berlin", "bridge": name} for name in names[:-1]]


def test_wildcards_that_were_collected_are_designed_as_such(cli: Cli, fleet: Path) -> None:
    """As the example of `topicloom --help`."""
    Path("berlin.log").write_text("1790000000: x 1 plant/#\n")
    Path("paris.log").write_text("1790000000: y 1 plant/1\n")
    assert cli("collect", "-f", "fleet.toml", "--out", "raw").status == 0
    subs = "raw/subscriptions.parquet"
    ended = cli("design", subs, "-a", "gm", "-o", "overlay.parquet", "--json")
    assert (ended.status, ended.json["links"], ended.json["support"]) == (0, 1, 1)
    ended = cli("plan", subs, "overlay.parquet", "-f", "fleet.toml", "-o", "plan.json", "--json")
    assert (ended.status, ended.json["links"]) == (0, 1)
    ended = cli("measure", subs, "overlay.parquet", "--filters", "nats")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        f"topicloom: {subs}: says that topics have wildcards of mqtt, so --filters cannot be nats; "
        "leave --filters out\n"
    )


def test_wildcards_in_files_that_do_not_say_so(cli: Cli, fleet: Path) -> None:
    Path("subs.csv").write_text("node,topic\nberlin,plant/#\nparis,plant/1\n")
    ended = cli("design", "subs.csv", "-a", "gm", "-o", "overlay.parquet")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "topicloom: subs.csv: topic 'plant/#' has a wildcard of mqtt; "
        "give --filters mqtt, or --filters none for plain names\n"
    )
    assert not Path("overlay.parquet").exists()
    for filters, links in (("mqtt", 1), ("none", 0)):
        ended = cli("design", "subs.csv", "-a", "gm", "--filters", filters, "-o", "overlay.parquet", "--json")
        assert (ended.status, ended.json["links"]) == (0, links)
        assert cli("measure", "subs.csv", "overlay.parquet", "--filters", filters).status == 0


def test_events_of_filters_hold_filters(cli: Cli, fleet: Path) -> None:
    Path("old.csv").write_text("# filters=mqtt\nnode,topic\na,t/#\nb,t/1\n")
    Path("new.csv").write_text("# filters=mqtt\nnode,topic\na,t/#\nb,t/2\n")
    assert cli("events", "old.csv", "new.csv", "-o", "events.jsonl").status == 0
    assert Path("events.jsonl").read_text() == (
        '{"id": 0, "event": "change", "node": "b", "add": ["t/2"], "remove": ["t/1"]}\n'
    )


def test_maintain_takes_no_wildcards_for_names_unasked(cli: Cli, fleet: Path) -> None:
    Path("subs.csv").write_text("node,topic\na,t/1\nb,t/1\n")
    Path("events.jsonl").write_text('{"id": 0, "event": "join", "node": "c", "topics": ["t/#"]}\n')
    assert cli("design", "subs.csv", "-a", "gm", "-o", "overlay.parquet").status == 0
    maintain = ("maintain", "subs.csv", "overlay.parquet", "events.jsonl", "--out", "mended.parquet")
    ended = cli(*maintain)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "topicloom: events.jsonl: topic 't/#' has a wildcard of mqtt; "
        "give --filters mqtt, or --filters none for plain names\n"
    )
    assert cli(*maintain, "--filters", "none", "--out-subs", "mended-subs.parquet").status == 0
    assert cli("measure", "mended-subs.parquet", "mended.parquet").status == 0


def test_brokers_that_cannot_be_asked_are_named(cli: Cli, fleet: Path) -> None:
    Path("paris.log").unlink()
    ended = cli("collect", "-f", "fleet.toml", "--out", "raw")
    assert ended.status == 1
    assert ended.err == "paris: paris.log cannot be read (No such file or directory)\n"
    assert "subscriptions            1" in ended.out


def test_wrong_commands(cli: Cli, fleet: Path) -> None:
    for arguments, said in (
        (["--follow"], "--follow and --events go together"),
        (["--follow", "--events", "e", "--every", -1], "--every must be a number, 0 or more, not -1"),
    ):
        ended = cli("collect", "-f", "fleet.toml", "--out", "raw", *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert said in ended.err
    ended = cli("collect", "-f", "fleet.toml", "--out", "no/raw")
    assert (ended.status, ended.err) == (2, "topicloom: no/raw: the folder no does not exist\n")


@pytest.mark.slow
def test_a_watch_that_is_killed_and_started_again(cli: Cli, fleet: Path) -> None:
    assert cli("collect", "-f", "fleet.toml", "--out", "raw").status == 0
    wanted = {"x": {"news"}, "y": {"news"}}
    for round_, end in enumerate((signal.SIGKILL, signal.SIGINT)):
        watch = subprocess.Popen(
            [
                *COMMAND,
                "collect",
                "-f",
                "fleet.toml",
                "--out",
                "raw",
                "--follow",
                "--events",
                "events.jsonl",
                "--every",
                "0",
            ],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(10):
            with Path("paris.log").open("a") as log:
                log.write(f"1790000001: y 1 topic-{round_}-{number}\n")
            wanted["y"].add(f"topic-{round_}-{number}")
            time.sleep(0.03)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and f"topic-{round_}-" not in _text("events.jsonl"):
            time.sleep(0.02)
        watch.send_signal(end)
        _, err = watch.communicate()
        assert (err, watch.returncode) == (b"", -9 if end == signal.SIGKILL else 0)
    assert (
        cli("collect", "-f", "fleet.toml", "--out", "raw", "--follow", "--events", "events.jsonl", "--looks", 1).status
        == 0
    )
    events = read_events("events.jsonl")
    added = [topic for event in events for topic in event.add]
    assert sorted(added) == sorted(wanted["y"] - {"news"}), "each once, none missing"
    assert {event.node for event in events} == {"paris"}


def _text(path: str) -> str:
    return Path(path).read_text() if Path(path).exists() else ""


def test_events_between_two_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("node,topic\na,t\nb,t\n")
    (tmp_path / "new.csv").write_text("node,topic\na,t\na,u\nc,u\n")
    out = tmp_path / "events.jsonl"
    ended = cli("events", tmp_path / "old.csv", tmp_path / "new.csv", "--out", out)
    assert ended.out == f"3 events (1 join, 1 leave, 1 change), written to {out}\n"
    assert [json.loads(line)["event"] for line in out.read_text().splitlines()] == ["join", "change", "leave"]


def test_bridges_are_imported_and_measured(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "a.conf").write_text("connection x\naddress b:1883\ntopic # both 0\n")
    (tmp_path / "conf" / "b.conf").write_text("connection x\naddress far:1883\ntopic # both 0\n")
    ended = cli("import", tmp_path / "conf", "--out", tmp_path / "there.parquet")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "brokers   2",
        "bridges   2",
        "links     1",
        "  b is bridged to far:1883, which is none of the given brokers",
        f"written to {tmp_path}/there.parquet",
    ]
    (tmp_path / "subs.csv").write_text("node,topic\na,t\nb,t\n")
    assert cli("measure", tmp_path / "subs.csv", tmp_path / "there.parquet", "--json").json["support"] == 1


def test_an_overlay_is_improved(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\n" + "".join(f"{name},t\n" for name in "abcd"))
    (tmp_path / "ring.csv").write_text("source,target\na,b\nb,c\nc,d\na,d\n")
    given = ["improve", tmp_path / "subs.csv", tmp_path / "ring.csv", "--changes"]
    ended = cli(*given, 1, "--out", tmp_path / "better.parquet", "--json")
    assert (ended.json["before"]["links"], ended.json["after"]["links"]) == (4, 3)
    assert len(ended.json["changes"]) == 1
    ended = cli(*given, 0)
    assert [line.split()[1] for line in ended.out.splitlines()[2:]] == ["4", "4"]
    for wrong, line in (
        ([-1], "--changes must be 0 or more, not -1"),
        ([1, "--aim", "price"], "--aim price needs --prices"),
        ([1, "--seconds", 0], "--seconds must be above 0, not 0.0"),
        ([1, "--rounds", -1], "--rounds must be from 0 to 1,000,000,000,000, not -1"),
    ):
        ended = cli(*given, *wrong)
        assert (ended.status, ended.out, ended.err) == (2, "", f"topicloom: {line}\n")


def test_an_overlay_is_mended_for_changed_subscriptions(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\n" + "".join(f"{name},t\n" for name in "abcd"))
    cli("design", tmp_path / "subs.csv", "-a", "gm", "-o", tmp_path / "running.parquet")
    (tmp_path / "subs.csv").write_text("node,topic\n" + "".join(f"{name},t\n" for name in "abce"))
    ended = cli("improve", tmp_path / "subs.csv", tmp_path / "running.parquet", "--changes", 3, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.json["after"]["support"] == 1
    assert ended.json["mending"] == 1 == len(ended.json["changes"])
    ended = cli("improve", tmp_path / "subs.csv", tmp_path / "running.parquet", "--changes", 0)
    assert (ended.status, ended.err) == (1, "1 topic not connected: 't'; more --changes may connect them\n")
