"""Command lines on damaged files, and with odd values of options."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from campaign.command_lines import PLAIN, SPARK
from campaign.inside import Ended, run_inside
from campaign.ledger import Ledger
from campaign.mutations import mutate, odd_value
from campaign.outside import run_outside
from campaign.valid_files import make_files

_OUT = "out"
# How many inputs are made from one set of valid files, and how many of a thousand are run in a process of their own.
_FROM_ONE = 400
_OUTSIDE = 1


def fuzz(ledger: Ledger, seed: int, inputs: int, *, spark: bool = False, outside: bool = True) -> None:
    """Try so many inputs; the same seed gives the same ones."""
    warnings.simplefilter("ignore")
    what = "fuzzed inputs on Spark" if spark else "fuzzed inputs"
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-", dir=_memory()) as base:
        valid, work = Path(base, "valid"), Path(base, "work")
        for number in range(inputs):
            if number % _FROM_ONE == 0:
                make_files(valid, seed + number)
                (valid / "stream-events").mkdir()
                shutil.copy(valid / "events.jsonl", valid / "stream-events")
            dice = random.Random(f"{seed} {number}")
            arguments, damaged = _prepared(dice, valid, work, SPARK if spark else PLAIN)
            alone = outside and dice.randrange(1000) < _OUTSIDE
            ended = (run_outside if alone else run_inside)(arguments, str(work))
            ledger.count(f"{what}, in processes of their own" if alone else what)
            again = f"./dev campaign --part {'fuzz-spark' if spark else 'fuzz'} --seed {seed} --only {number}"
            for problem in _problems(ended, arguments, valid, work, damaged):
                ledger.fail(what, f"{problem} [topicloom {' '.join(arguments)[:300]}]", again)


def fuzz_one(ledger: Ledger, seed: int, number: int, *, spark: bool = False, keep: Path) -> None:
    """Try one input again, and keep its files."""
    valid, work = keep / "valid", keep / "work"
    make_files(valid, seed + number - number % _FROM_ONE)
    (valid / "stream-events").mkdir()
    shutil.copy(valid / "events.jsonl", valid / "stream-events")
    arguments, damaged = _prepared(random.Random(f"{seed} {number}"), valid, work, SPARK if spark else PLAIN)
    print(f"cd {work} && topicloom {' '.join(map(repr, arguments))}")
    ended = run_inside(arguments, str(work))
    print(ended.status, ended.err)
    for problem in _problems(ended, arguments, valid, work, damaged):
        ledger.fail("fuzzed inputs", problem, "as above")


def _memory() -> str | None:
    """A folder in memory, where the system has one; files are many and small."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _prepared(dice: random.Random, valid: Path, work: Path, lines: list[str]) -> tuple[list[str], str | None]:
    """A command line, and which of its files is damaged; the files are in the folder `work`."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / _OUT).mkdir()
    arguments = dice.choice(lines).split()
    for source in valid.iterdir():
        (work / source.name).symlink_to(source)
    named = [word for word in arguments if (valid / word).exists()]
    options = [place + 1 for place, word in enumerate(arguments[:-1]) if word.startswith("--") and word != "--out"]
    if options and (not named or dice.random() < 0.15):
        place = dice.choice(options)
        if place < len(arguments) and not arguments[place].startswith("--"):
            arguments[place] = odd_value(dice)
            if dice.random() < 0.5:
                _own_copies(named, valid, work)
                return arguments, None
    damaged = dice.choice(named) if named else None
    _own_copies(named, valid, work)
    if damaged is not None:
        inputs = {"collect.toml": ("collect.toml", "broker.log", "definitions.json")}.get(damaged, (damaged,))
        chosen = dice.choice(inputs)
        _own_copies([chosen], valid, work)
        mutate(work / chosen, dice)
    return arguments, damaged


def _own_copies(names: list[str], valid: Path, work: Path) -> None:
    for name in names:
        place = work / name
        if place.is_symlink():
            place.unlink()
            if (valid / name).is_dir():
                shutil.copytree(valid / name, place)
            else:
                shutil.copyfile(valid / name, place)


def _problems(ended: Ended, arguments: list[str], valid: Path, work: Path, damaged: str | None) -> Iterator[str]:
    if ended.problem is not None:
        yield ended.problem
    left = [path for path in work.rglob("*") if path.name.endswith(".part")]
    if left:
        yield f"left {left[0].relative_to(work)}"
    written = sorted(path.name for path in (work / _OUT).iterdir())
    if ended.status == 2 and set(written) - {"w", "st", "so"}:
        yield f"refused, and wrote {written[0]}"
    if "pw@x" in ended.err or "sup3r" in ended.err:
        yield f"showed a secret: {ended.err[:200]}"
    if ended.status == 0 and damaged is not None:
        yield from _wrong_accepts(arguments, valid / damaged, work / damaged)


def _wrong_accepts(arguments: list[str], valid: Path, damaged: Path) -> Iterator[str]:
    if damaged.name.endswith("plan.json"):
        problem = _unsound(damaged)
        if problem is not None:
            yield f"took a plan: {problem}"
    if damaged.name == "ingested":
        # Commands on Spark read of a folder what they need, so its rows are only counted.
        read = _counts if arguments[0] in {line.split()[0] for line in SPARK} else _rows
        if read(valid) != read(damaged):
            yield "took an ingest folder whose rows are not those of its manifest"


def _counts(folder: Path) -> Any:
    """How many rows the tables of an ingest folder have, without reading them."""
    try:
        files = sorted(folder.glob("*/*.parquet"))
        return [(file.parent.name, pyarrow.parquet.read_metadata(file).num_rows) for file in files]
    except (OSError, pa.ArrowException):
        return None


def _rows(folder: Path) -> Any:
    """What an ingest folder says: its manifest, and who wants what."""
    try:
        manifest = json.loads((folder / "manifest" / "part-00000.json").read_text())
        tables = [pyarrow.parquet.read_table(folder / name) for name in ("nodes", "topics", "subscriptions")]
        names = [dict(zip(*(table[name].to_pylist() for name in ("id", "name")), strict=True)) for table in tables[:2]]
        ids = zip(*(tables[2][name].to_pylist() for name in ("node_id", "topic_id")), strict=True)
        pairs = {(names[0].get(node), names[1].get(topic)) for node, topic in ids}
        return manifest.get("fingerprint"), pairs
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def _unsound(file: Path) -> str | None:
    """What is wrong with a plan, looked at with other eyes than the program's."""
    try:
        plan = json.loads(file.read_text(encoding="utf-8"))
        brokers = {broker["name"]: broker for broker in plan["brokers"]}
        links = {frozenset(link) for link in plan["links"]}
        used = set()
        for broker in brokers.values():
            if type(broker["port"]) is not int or not 0 < broker["port"] < 65536 or type(broker["name"]) is not str:
                return "a broker without a port"
        for opens, accepts in plan["links"]:
            if not brokers[accepts].get("accepts", True) or opens not in brokers:
                return "a link that nobody accepts"
        for topic in plan["topics"]:
            if type(topic["qos"]) is not int or topic["qos"] not in (0, 1, 2) or not topic["name"]:
                return "a topic without a name or quality of service"
            tree = {frozenset(link) for link in topic["links"]}
            ends = {name for link in topic["links"] for name in link} | {topic["root"]}
            members = {*topic["subscribers"], *topic["relays"], *topic.get("publishes", {})}
            if not tree <= links or ends != members or len(tree) != len(ends) - 1 or not members <= brokers.keys():
                return f"no tree for {topic['name']!r}"
            used |= tree
        return None if used == links else "a link that no topic uses"
    except (KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__} {error}"
