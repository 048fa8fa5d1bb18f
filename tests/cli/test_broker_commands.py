"""From subscriptions to proven brokers, by the commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import Cli

COMMAND = [sys.executable, "-c", "import sys; from topicloom.cli.main import run; sys.exit(run())"]

SUBSCRIPTIONS = """\
node,topic
berlin,news
berlin,alarms
paris,news
paris,alarms
paris,metrics
rome,news
rome,metrics
oslo,alarms
oslo,metrics
"""


# Without it a fleet whose owner is killed goes on, and nobody would end it.
needs_setpriv = pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv to end brokers with their owner")


@pytest.fixture
def site(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with subscriptions, an overlay, a fleet and a plan, to work in."""
    monkeypatch.chdir(tmp_path)
    Path("subs.csv").write_text(SUBSCRIPTIONS)
    hosts = "".join(f'[brokers.{name}]\nhost = "{name}.example.net"\n' for name in ("berlin", "paris", "rome", "oslo"))
    Path("fleet.toml").write_text(f"{hosts}[topics.alarms]\nqos = 2\n")
    assert cli("design", "subs.csv", "-a", "gm", "-o", "overlay.parquet").status == 0
    assert cli("plan", "subs.csv", "overlay.parquet", "-f", "fleet.toml", "-o", "plan.json").status == 0
    return tmp_path


def test_plan_says_what_it_planned(site: Path, cli: Cli) -> None:
    ended = cli("plan", "subs.csv", "overlay.parquet", "-f", "fleet.toml", "-o", "again.json", "--json")
    assert (ended.status, ended.err) == (0, "")
    facts = ended.json
    assert (facts["brokers"], facts["topics"], facts["links"], facts["max_hops"]) == (4, 3, 3, 2)
    assert (facts["relays"], facts["links_unused"], facts["brokers_without_topics"]) == ([], 0, 0)
    assert Path("again.json").read_bytes() == Path("plan.json").read_bytes()
    ended = cli("plan", "subs.csv", "overlay.parquet", "-f", "fleet.toml", "-o", "again.json")
    assert "max hops                    2\n" in ended.out
    assert ended.out.endswith("written to again.json\n")


def test_topics_in_pieces(site: Path, cli: Cli) -> None:
    Path("links.csv").write_text("source,target\nberlin,paris\nrome,oslo\nberlin,rome\n")
    arguments = ["plan", "subs.csv", "links.csv", "-f", "fleet.toml", "-o", "relayed.json"]
    ended = cli(*arguments)
    assert ended.status == 2
    assert ended.out == "alarms: berlin, paris | oslo\nmetrics: oslo, rome | paris\n"
    assert ended.err == (
        "topicloom: 2 topics fall into pieces over links between subscribers alone: 'alarms' (berlin, paris | oslo); "
        "'metrics' (oslo, rome | paris); allow relays, or add links between their subscribers\n"
    )
    assert not Path("relayed.json").exists()
    broken = cli(*arguments, "--json").json["broken"]
    assert broken[0] == {"topic": "alarms", "pieces": [["berlin", "paris"], ["oslo"]]}
    ended = cli(*arguments, "--relays")
    assert ended.status == 0
    assert "  alarms: relayed by rome\n  metrics: relayed by berlin\n" in ended.out
    assert [row["relays"] for row in cli(*arguments, "--relays", "--json").json["relays"]] == [
        ["rome"],
        ["berlin"],
    ]


def test_render_writes_a_file_for_each_broker(site: Path, cli: Cli) -> None:
    ended = cli("render", "plan.json", "--out", "conf", "--json")
    assert ended.status == 0
    assert ended.json["files"] == ["berlin.conf", "oslo.conf", "paris.conf", "rome.conf", "fleet.dot"]
    assert sorted(path.name for path in Path("conf").iterdir()) == sorted(ended.json["files"])
    berlin = Path("conf/berlin.conf").read_text()
    assert "connection berlin-paris\naddress paris.example.net:1883\n" in berlin
    assert "max_inflight_messages 2000\n" in berlin
    assert cli("render", "plan.json", "--out", "other").out == (
        "configurations   4\nlinks            3\nwritten to other\n"
    )


def test_rabbitmq_definitions(site: Path, cli: Cli) -> None:
    cli("plan", "subs.csv", "overlay.parquet", "-f", "fleet.toml", "-t", "rabbitmq", "-o", "rabbit.json")
    assert cli("render", "rabbit.json", "--out", "conf").status == 0
    definitions = json.loads(Path("conf/berlin.json").read_text())
    assert [row["name"] for row in definitions["exchanges"]] == ["alarms", "news"]
    ended = cli("test", "rabbit.json", "--change", "plan.json")
    assert (ended.status, ended.err) == (
        2,
        "topicloom: one plan is for rabbitmq and the other for mosquitto; a fleet is of one kind\n",
    )


def test_diff(site: Path, cli: Cli) -> None:
    Path("less.csv").write_text("".join(row for row in SUBSCRIPTIONS.splitlines(True) if not row.startswith("paris")))
    cli("design", "less.csv", "-a", "gm", "-o", "less.parquet")
    cli("plan", "less.csv", "less.parquet", "-f", "fleet.toml", "-o", "less.json")
    ended = cli("diff", "plan.json", "less.json")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out == (
        "- broker paris\n"
        "+ link berlin - oslo: +alarms\n"
        "- link berlin - paris: -alarms, -news\n"
        "+ link berlin - rome: +news\n"
        "- link oslo - paris: -alarms, -metrics\n"
        "+ link oslo - rome: +metrics\n"
        "- link paris - rome: -metrics, -news\n"
        "~ topic alarms: +berlin - oslo, -berlin - paris, -oslo - paris\n"
        "~ topic metrics: +oslo - rome, -oslo - paris, -paris - rome\n"
        "~ topic news: +berlin - rome, -berlin - paris, -paris - rome\n"
        "\n"
        "in this order:\n"
        "  1. stop paris\n"
        "  2. put the new file on oslo\n"
        "  3. put the new file on berlin\n"
        "\n"
        "interrupted on the way: alarms, metrics, news\n"
        "would duplicate in another order: alarms, metrics, news\n"
        "Plan: 3 links to add, 0 to change, 3 to remove.\n"
    )
    facts = cli("diff", "plan.json", "less.json", "--json").json
    assert facts["interrupted"] == ["alarms", "metrics", "news"]
    assert facts["steps"][0] == {"broker": "paris", "clear": False}
    same = cli("diff", "plan.json", "plan.json")
    assert same.status == 0
    assert same.out.endswith("Plan: 0 links to add, 0 to change, 0 to remove.\n")


def test_explain(site: Path, cli: Cli) -> None:
    assert cli("explain", "plan.json", "--link", "paris,berlin").out == (
        "berlin opens a link to paris. It carries 2 topics.\n"
        "Without it:\n"
        "  alarms: oslo, paris | berlin\n"
        "  news: paris, rome | berlin\n"
    )
    assert cli("explain", "plan.json", "--topic", "news").out == (
        "news is wanted by 3 brokers, with QoS 1. Its tree begins at paris.\n"
        "Its longest path has 2 links.\n"
        "  paris - berlin: without it berlin would be cut off\n"
        "  paris - rome: without it rome would be cut off\n"
    )
    ended = cli("explain", "plan.json", "--broker", "paris")
    assert "paris wants 3 topics and relays 0 topics, over 3 links:\n" in ended.out
    assert "Without it 3 topics would split:\n  alarms: berlin | oslo\n" in ended.out
    assert cli("explain", "plan.json", "--broker", "paris", "--json").json["wants"] == ["alarms", "metrics", "news"]


def test_lint_of_what_is_rendered_and_of_a_triangle(site: Path, cli: Cli) -> None:
    cli("render", "plan.json", "--out", "conf")
    ended = cli("lint", "conf", "--interests", "subs.csv")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == (
        "4 brokers, 3 bridges; a plan for these subscriptions needs 3.\n"
        "Lint: 0 loops or duplicates, 0 other findings.\n"
    )
    Path("triangle").mkdir()
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        Path(f"triangle/{name}.conf").write_text(f"connection x\naddress {other}:1883\ntopic # both 1\n")
    ended = cli("lint", "triangle")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out == (
        "loops (TL001):\n"
        "  'any' published at a goes round for ever: b -> c -> a -> b\n"
        "    triangle/a.conf:1\n    triangle/b.conf:1\n    triangle/c.conf:1\n"
        "3 brokers, 3 bridges; a tree needs 2.\n"
        "Lint: 1 loop or duplicates, 0 other findings.\n"
    )
    facts = cli("lint", "triangle", "--json")
    assert (facts.status, facts.json["findings"][0]["kind"], facts.json["links_needed"]) == (1, "loop", 2)
    Path("conf/madrid.conf").write_text("connection x\naddress oslo:1883\ntopic t sideways\n")
    ended = cli("lint", "conf")
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.startswith(
        "cannot be read (TL003):\n  direction 'sideways' is none of out, in, both\n    conf/madrid.conf:3\n"
    )
    assert ended.out.endswith("\nLint: 0 loops or duplicates, 1 other finding.\n")
    assert cli("lint", "conf", "--json").json["findings"][0] == {
        "kind": "unreadable",
        "topic": "",
        "text": "direction 'sideways' is none of out, in, both",
        "where": ["conf/madrid.conf:3"],
    }


def test_lint_for_reviews(site: Path, cli: Cli) -> None:
    Path("a b").mkdir()
    for name, other in (("a", "b"), ("b", "a")):
        Path(f"a b/{name}.conf").write_text(f"connection x\naddress {other}:1883\ntopic t both 1\ntopic u wrong\n")
    ended = cli("lint", "a b", "--format", "sarif")
    assert (ended.status, ended.err) == (1, "")
    (run,) = ended.json["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"TL00{number}" for number in range(1, 8)]
    loop = next(result for result in run["results"] if result["ruleId"] in ("TL001", "TL002"))
    assert loop["level"] == "error"
    location = loop["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "a%20b/a.conf"}
    assert location["region"] == {"startLine": 1}
    ended = cli("lint", "a b", "--format", "github")
    assert ended.status == 1
    assert "::error file=a b/a.conf,line=4,title=TL003 unreadable::direction 'wrong' is none of " in ended.out
    assert cli("diff", "plan.json", "plan.json", "--format", "sarif").status == 2


@pytest.mark.broker("mosquitto")
def test_live(site: Path, cli: Cli) -> None:
    ended = cli("test", "plan.json", "--messages", 100, "--kill", "paris", "--json")
    assert (ended.status, ended.err) == (0, "")
    facts = ended.json
    assert (facts["lost"], facts["doubled"], facts["unwanted"]) == (0, 0, 0)
    assert facts["published"] == facts["kill"]["published"] == 100
    assert facts["delivered"] == 300 + facts["kill"]["delivered"]
    assert facts["kill"]["broker"] == "paris"
    assert {"seconds", "latency_ms", "messages_per_link"} <= facts.keys()
    ended = cli("test", "plan.json", "--messages", 0)
    assert ended.status == 0
    assert re.search(r"^published +9\ndelivered +27\nlost +0\n", ended.out, re.MULTILINE)
    assert "busiest links:\n  " in ended.out


def processes_of(owner: int) -> list[str]:
    shown = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if line.split()[0] == str(owner)]


@pytest.mark.broker("mosquitto")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGKILL, marks=needs_setpriv)])
def test_a_stopped_proof_leaves_no_process_and_no_file(site: Path, ending: signal.Signals) -> None:
    Path("tmp").mkdir()
    with subprocess.Popen(
        [*COMMAND, "test", "plan.json", "--messages", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(site / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        deadline = time.monotonic() + 30
        while len(processes_of(process.pid)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        brokers = [line for line in processes_of(process.pid) if "mosquitto" in line]
        assert len(brokers) == 4
        time.sleep(1)
        process.send_signal(ending)
        stdout, stderr = process.communicate(timeout=30)
    if ending != signal.SIGKILL:
        assert (process.returncode, stdout, stderr) == (
            128 + ending,
            "",
            "topicloom: stopped; all brokers were ended\n",
        )
        assert list(Path("tmp").iterdir()) == []
    time.sleep(0.5)
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in shown.splitlines() if str(site / "tmp") in line]
