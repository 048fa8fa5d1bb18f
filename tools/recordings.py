"""Recordings: the output in JSON of every command on small inputs, to see what a redesign changes.

    python tools/recordings.py OUT_DIR              record the commands that need no Spark and no broker
    python tools/recordings.py --check DIR          run them again and print what differs; status 1 if anything does
    python tools/recordings.py --check DIR --spark  also those on Spark
    python tools/recordings.py --check DIR --live   also those that start brokers; needs Mosquitto

Commands run in this process, in a new folder, in the order of the table STEPS; later ones take files of earlier ones.
They are given as in version 0.2: in_process.py says what they are called since. CHANGED says which recordings differ on
purpose, and why; those are run, but not compared.

Recorded are exit status and output. Times, memory, versions, fingerprints and prose are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from in_process import Ended, GoneError, topicloom

# Recordings, or places in one, that differ from those of 0.2 on purpose, with the reason.
CHANGED: dict[str, str] = {
    "sample": "does not count visited users",
    "stream": "ends with where it wrote",
    "sweep": "names the folder of its results, and counts cells that were done before",
    "bound": "proves more, by spanning trees of topics",
    "collect": "lists bridges that Topicloom did not make",
    "improve": "searches for the best changes, in place of those towards a fresh design",
    "diff.status": "is 1 if there is anything to do, without --exit-code",
    "lint": "names a topic that loops, not the widest pattern on its path",
    "apply-dry.status": "is 1 if there is anything to do",
    **{
        f"{step}.out.{key}": reason
        for step in ("apply-dry", "apply", "apply-later", "apply-rollback")
        for key, reason in (
            ("steps", "has the steps themselves"),
            ("drift", "reads back what brokers have"),
            ("left_out", "leaves out brokers that do not answer"),
            ("silent", "names brokers that do not answer"),
            ("stopped", "says in data, too, why a change stopped"),
        )
    },
    "watch-apply.out[1].said": "also changes brokers with files of another state",
}

SPARK, LIVE = "spark", "live"
# Values that differ from run to run, and texts that may be put in other words.
VARYING = re.compile("seconds|latency|memory|bytes|version|fingerprint|silence|classes|^at$")
PROSE = ("rule", "guarantee", "about", "shows", "says", "title", "means", "text", "paper", "description")
# Fingerprints of subscriptions and times within texts.
VARYING_TEXT = re.compile(r"\b[0-9a-f]+-[0-9a-f]{16}(?:[0-9a-f]{16})?\b|\b\d+\.\d+(?= s\b)")
SHOWN = 12


@dataclass(frozen=True)
class Step:
    """A command, by words; `needs` is empty, or what it needs besides Python."""

    name: str
    command: str
    needs: str = ""


SUBS = "node,topic\n" + "".join(
    f"{node},{topic}\n"
    for node, topics in {
        "berlin": ["news", "site/alarms", "metrics/power"],
        "paris": ["news", "site/alarms"],
        "rome": ["news", "metrics/power"],
        "oslo": ["site/alarms", "metrics/power", "weather"],
        "bern": ["news", "weather"],
    }.items()
    for topic in topics
)
FLEET = """[defaults]
port = 1883
apply = { via = "folder", path = "files/{broker}.conf", check = "nothing" }
collect = { log = "{broker}.log" }
""" + "".join(
    f'[brokers.{name}]\nhost = "{name}.example.net"\n' for name in ("berlin", "paris", "rome", "oslo", "bern")
)
SENSORS = (
    "node,topic,role\nberlin,plant/#,sub\nparis,plant/+/temp,sub\nrome,plant/line2/temp,pub\nbern,plant/line2/+,sub\n"
)
INPUTS = {
    "subs.csv": SUBS,
    "later.csv": SUBS.replace("oslo,site/alarms\n", "").replace("rome,news", "rome,weather"),
    "sensors.csv": SENSORS,
    "fleet.toml": FLEET,
    "prices.csv": "source,target,price\nberlin,paris,13\nbern,paris,9\nbern,rome,12\nberlin,oslo,18\n*,*,40\n",
    "rates.csv": "topic,rate\nnews,5\nweather,1\n",
    "ring/a.conf": "connection to-b\naddress b:1883\ntopic # both 0\n",
    "ring/b.conf": "connection to-c\naddress c:1883\ntopic # both 0\n",
    "ring/c.conf": "connection to-a\naddress a:1883\ntopic # both 0\n",
    **{f"{name}.log": f"1790000000: {name}-app 1 news\n" for name in ("berlin", "paris", "rome", "oslo", "bern")},
    "grid.toml": 'seed = [1, 2]\n[[workload]]\nfile = "subs.csv"\n[[designer]]\nname = ["gm", "low-oda"]\n',
    "log.csv": "user,a1,time\nu1,0.1,0\nu1,0.2,5\nu2,0.9,10\nu3,1.5,3\n",
}

STEPS = (
    Step("generate", "generate --nodes 40 --topics 12 --min-topics 3 --popularity zipf --seed 1 --out made.parquet"),
    Step("designers", "designers"),
    Step("design", "design subs.csv --algorithm gm --out overlay.parquet"),
    Step("design-made", "design made.parquet --algorithm low-oda --out made-overlay.parquet"),
    Step("design-later", "design later.csv --algorithm gm --out later.parquet"),
    Step("design-roles", "design sensors.csv --algorithm gm --filters mqtt --prices prices.csv --out sensors.parquet"),
    Step("measure", "measure subs.csv overlay.parquet --prices prices.csv --rates rates.csv --bound"),
    Step("compare", "compare made.parquet --algorithms gm,low-oda,gpm,random-m --max-degree 6"),
    Step("bound", "bound made.parquet --rounds 5"),
    Step("improve", "improve made.parquet made-overlay.parquet --changes 6 --out better.parquet"),
    Step("collect", "collect fleet.toml --out raw"),
    Step("collect-watch", "collect fleet.toml --out raw --watch --events seen.jsonl --looks 2 --every 0"),
    Step("events", "events subs.csv later.csv --out events.jsonl"),
    Step("churn", "churn made.parquet --rounds 30 --change-share 0.3 --seed 1 --out churn.jsonl"),
    Step(
        "maintain",
        "maintain made.parquet made-overlay.parquet churn.jsonl --state mended --trace trace.parquet"
        " --out mended.parquet",
    ),
    Step(
        "maintain-tree", "maintain subs.csv overlay.parquet events.jsonl --method rebuild --prune --out after.parquet"
    ),
    Step("plan", "plan subs.csv overlay.parquet --fleet fleet.toml --out plan.json"),
    Step("plan-later", "plan later.csv later.parquet --fleet fleet.toml --out later.json"),
    Step(
        "plan-roles",
        "plan sensors.csv sensors.parquet --filters mqtt --fleet fleet.toml --prices prices.csv --out sensors.json",
    ),
    Step("render", "render plan.json --out conf"),
    Step("import", "import conf --out there.parquet"),
    Step("lint", "lint ring"),
    Step("lint-interests", "lint conf --interests later.csv"),
    Step("diff", "diff plan.json later.json"),
    Step("explain-link", "explain plan.json --link berlin,oslo"),
    Step("explain-topic", "explain plan.json --topic news"),
    Step("explain-broker", "explain plan.json --broker berlin"),
    Step("apply-dry", "apply plan.json --fleet fleet.toml --state fleet-state --dry-run"),
    Step("apply", "apply plan.json --fleet fleet.toml --state fleet-state --yes"),
    Step("apply-later", "apply later.json --fleet fleet.toml --state fleet-state --yes"),
    Step("apply-rollback", "apply --rollback --fleet fleet.toml --state fleet-state --yes"),
    Step("watch", "watch fleet.toml --state watched --subs subs.csv --events events.jsonl --no-health --once"),
    Step("watch-apply", "watch fleet.toml --state watched --events events.jsonl --no-health --once --apply"),
    Step("live", "live plan.json --messages 100", LIVE),
    Step("content-generate", "content generate --users 40 --brokers 4 --channels 6 --seed 1 --out net"),
    Step("content-assign", "content assign net --algorithm migration --start random --out assignment.parquet"),
    Step("content-cost", "content cost net assignment.parquet --tree"),
    Step("content-compare", "content compare net"),
    Step("report", "report subs.csv overlay.parquet plan.json trace.parquet --out report.html"),
    Step("explore", "explore subs.csv overlay.parquet --static page.html"),
    Step("version", "version"),
    Step("ingest", "ingest subs.csv --out fleet", SPARK),
    Step("sample", "sample fleet --nodes 4 --uniform --seed 1 --out sample", SPARK),
    Step("profile", "profile fleet --out profile", SPARK),
    Step("evaluate", "evaluate fleet overlay.parquet", SPARK),
    Step("sweep", "sweep grid.toml --out results", SPARK),
    Step("stream", "stream subs.csv overlay.parquet --events incoming --state streamed --out changes --once", SPARK),
    Step("content-summarize", "content summarize log.csv --space net/space.parquet --max-bad 0.5 --out summary", SPARK),
    Step(
        "content-sweep",
        "content sweep --users 20 --users-per-broker 10 --channels 5 --seeds 1 --algorithms random,packing"
        " --out sweep.parquet",
        SPARK,
    ),
    Step("reproduce", "reproduce low-2010-fig-1 --quick --out figures", SPARK),
    Step("prepare", "prepare", SPARK),
)
# Every command that there is, with an option that there is not: status 2, and nothing printed to stdout.
COMMANDS = tuple(
    dict.fromkeys(" ".join(step.command.split()[: 2 if step.command.startswith("content ") else 1]) for step in STEPS)
)
NO_JSON = ("version",)


def record_all(needs: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run all steps in the present folder, which is empty, and give what each of them did."""
    for name, text in INPUTS.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("files").mkdir()
    Path("incoming").mkdir()
    yield "unknown-option", {command: refusal(command) for command in COMMANDS}
    for step in STEPS:
        if step.needs and step.needs not in needs:
            continue
        if step.name == "stream":
            Path("incoming/events.jsonl").write_text(Path("events.jsonl").read_text())
        with suppress(GoneError):
            ended = topicloom(*step.command.split(), *([] if step.command in NO_JSON else ["--json"]))
            yield step.name, {"command": step.command, "status": ended.status, "out": outcome(ended)}


def refusal(command: str) -> list[Any]:
    """Exit status and output of a command that is given an unknown option."""
    try:
        ended = topicloom(*command.split(), "--no-such-option")
    except GoneError:
        return [2, ""]  # as of any unknown command
    return [ended.status, ended.out]


def outcome(ended: Ended) -> Any:
    """What a command printed: JSON, or lines of JSON, or lines of text."""
    try:
        return normal(json.loads(ended.out))
    except ValueError:
        return [normal(parsed(line)) for line in ended.out.splitlines()]


def parsed(line: str) -> Any:
    """A line as JSON if it is any."""
    try:
        return json.loads(line)
    except ValueError:
        return re.sub(r"\d+(\.\d+)+", "*", line)


def normal(value: Any, key: str = "") -> Any:
    """The same without what may differ: see VARYING and PROSE."""
    if key in PROSE or VARYING.search(key):
        return "*"
    if isinstance(value, dict):
        return {name: normal(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [normal(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, str):
        return VARYING_TEXT.sub("*", value).replace(str(Path.cwd()), ".")
    return value


def differences(was: Any, now: Any, where: str = "") -> Iterator[str]:
    """How two recordings differ, a line for each place."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            place = f"{where}.{key}" if where else key
            if key not in was or key not in now:
                yield f"{place}: {'new' if key not in was else 'missing'}"
            else:
                yield from differences(was[key], now[key], place)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for i, (left, right) in enumerate(zip(was, now, strict=True)):
            yield from differences(left, right, f"{where}[{i}]")
    elif was != now:
        yield f"{where}: {json.dumps(was)[:120]} is now {json.dumps(now)[:120]}"


def check(folder: Path, recorded: Iterator[tuple[str, dict[str, Any]]]) -> int:
    """Compare recordings with those of a folder; 1 if any differs."""
    different = equal = 0
    for name, now in recorded:
        file = folder / f"{name}.json"
        if name in CHANGED:
            print(f"{name}: not compared: {CHANGED[name]}")
            continue
        if not file.exists():
            print(f"{name}: no recording in {folder}")
            different += 1
            continue
        found = [
            line
            for line in differences(json.loads(file.read_text()), now)
            if f"{name}.{line.partition(':')[0]}" not in CHANGED
        ]
        for line in found[:SHOWN]:
            print(f"{name}: {line}")
        different += bool(found)
        equal += not found
    print(f"{equal} recordings are equal, {different} differ")
    return 1 if different else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT_DIR")
    parser.add_argument("--check", type=Path, metavar="DIR")
    parser.add_argument("--spark", action="store_true", help="also commands on Spark")
    parser.add_argument("--live", action="store_true", help="also commands that start brokers")
    given = parser.parse_args()
    if (given.out is None) == (given.check is None):
        parser.error("give OUT_DIR or --check DIR")
    needs = ({SPARK} if given.spark else set()) | ({LIVE} if given.live else set())
    target = (given.out or given.check).absolute()
    with tempfile.TemporaryDirectory(prefix="recordings-") as folder:
        os.chdir(folder)
        os.environ.setdefault("SPARK_MASTER", "local[2]")
        try:
            if given.check:
                return check(target, record_all(needs))
            target.mkdir(exist_ok=True)
            for name, recording in record_all(needs):
                text = json.dumps(recording, indent=1, ensure_ascii=False)
                (target / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        finally:
            os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
