"""Every command that writes, killed at a random moment, and run again: then all is as if it had never been killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from campaign.forked import Forked
from campaign.inside import Ended
from campaign.ledger import Ledger
from campaign.outside import start
from campaign.valid_files import make_files_that_take_a_while

# What writes; all that it writes is below out/, but for brokers/, where apply and watch put files.
WRITING = """
generate --nodes 300 --topics 40 --min-topics 4 --seed 1 --out out/s.parquet
design subs.csv --algorithm gm --out out/o.parquet
design ingested --algorithm low-oda --out out/o.parquet
measure subs.csv overlay.parquet --topics out/t.parquet
improve subs.csv overlay.parquet --changes 2 --out out/o.parquet
churn subs.csv --rounds 300 --seed 1 --out out/e.jsonl
events subs.csv later.csv --out out/e.jsonl
maintain subs.csv overlay.parquet many.jsonl --state out/st --out out/o.parquet --out-subs out/s.parquet
maintain subs.csv overlay.parquet many.jsonl --state out/st --jointly 7 --trace out/t.parquet --out out/o.parquet
plan subs.csv overlay.parquet --fleet fleet.toml --out out/p.json
render plan.json --replace --out out/r
import mosquitto --out out/o.parquet
collect --fleet collect.toml --out out/c
content generate --users 40 --brokers 4 --channels 9 --seed 1 --out out/n
content assign net --algorithm clustering --out out/a.parquet
report subs.csv overlay.parquet --out out/p.html
apply plan.json --fleet fleet.toml --state out/f --yes
apply later-plan.json --fleet fleet.toml --state out/f --yes
watch --fleet fleet.toml --state out/w --subs subs.csv --events many.jsonl --no-health --apply --once
""".strip().splitlines()
SPARK = """
spark design ingested --out out/b
spark measure ingested overlay.parquet --topics out/t.parquet
spark sample ingested --nodes 3 --uniform --seed 1 --out out/s
spark stream subs.csv overlay.parquet --events stream-events --state out/st --out out/so --once
spark sweep sweep.toml --out out/g
""".strip().splitlines()
# What tells of times, or of what there was to do, and so differs.
_APART = ("fleet.db", "fleet.db-wal", "fleet.db-shm", "lock", "checkpoint", "index.html")
_TIMES = ("since", "seen", "seconds", "upkeep_seconds", "designed_seconds", "peak_bytes")


def kill_and_go_on(ledger: Ledger, seed: int, numbers: Iterable[int], *, spark: bool = False) -> None:
    """Kill runs, one for each number."""
    what = "kills on Spark" if spark else "kills"
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-", dir="/dev/shm") as base:
        valid = Path(base, "valid")
        make_files_that_take_a_while(valid, seed)
        wanted: dict[str, tuple[float, dict[str, bytes]]] = {}
        for number in numbers:
            dice = random.Random(f"{seed} {number}")
            line = dice.choice(SPARK if spark else WRITING)
            if line not in wanted:
                wanted[line] = _undisturbed(valid, Path(base, "wanted"), line, spark=spark)
            problem = _killed(dice, valid, Path(base, "work"), line, *wanted[line], spark=spark)
            ledger.count(what)
            if problem is not None:
                part = "kills-spark" if spark else "kills"
                again = f"./dev campaign --part {part} --seed {seed} --only {number}"
                ledger.fail(what, f"{problem} [topicloom {line}]", again)


def _undisturbed(valid: Path, work: Path, line: str, *, spark: bool) -> tuple[float, dict[str, bytes]]:
    prepare(valid, work)
    began = time.monotonic()
    ended = _run(line, work, spark=spark)
    if ended.status not in (0, 1):
        raise RuntimeError(f"topicloom {line}: {ended.status} {ended.err}")
    return time.monotonic() - began, contents(work)


def _killed(
    dice: random.Random, valid: Path, work: Path, line: str, seconds: float, wanted: dict[str, bytes], *, spark: bool
) -> str | None:
    """What is wrong after a run was killed, once or several times, and run again."""
    prepare(valid, work)
    old = {}
    if "--replace" in line or (line.split()[0] in ("design", "plan") and dice.random() < 0.5):
        _run(line.replace("later", "subs"), work, spark=spark)
        old = contents(work)
    for _ in range(dice.choice((1, 1, 2))):
        wait = dice.random() * seconds * 1.1
        if spark:
            process = start(line.split(), str(work), environment={"TMPDIR": str(work / "tmp")})
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        else:
            forked = Forked(line.split(), work, work / "streams", using(work / "tmp"))
            time.sleep(wait)
            forked.kill()
        for name, content in contents(work).items():
            if name.startswith("out/") and not _inner(name) and content not in (wanted.get(name), old.get(name)):
                return f"after the kill {name} is neither the old one nor the new one"
    for _ in range(3):
        ended = _run(line, work, spark=spark)
        if "another process" not in ended.err:
            break
        time.sleep(1)  # Java ends a moment after the process that started it
    if ended.status == 2 and "already" in ended.err:
        ended = Ended(0, "", "")  # the killed run had done it all
    if ended.status not in (0, 1) or ended.problem:
        return f"run again it ended with {ended.status}: {ended.err[-300:]}"
    has = contents(work)
    different = sorted(name for name in wanted.keys() | has.keys() if wanted.get(name) != has.get(name))
    if different:
        return f"run again {different[0]} is not as if it had not been killed"
    left = [path for path in work.rglob("*") if path.name.endswith(".part")]
    return f"left {left[0].relative_to(work)}" if left else None


def _run(line: str, work: Path, *, spark: bool) -> Ended:
    if not spark:
        return Forked(line.split(), work, work / "streams", using(work / "tmp")).wait()
    process = start(line.split(), str(work), environment={"TMPDIR": str(work / "tmp")})
    out, err = process.communicate()
    return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def using(folder: Path) -> Callable[[], None]:
    """Called in a new process, lets it put temporary files there."""

    def use() -> None:
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)

    return use


def prepare(valid: Path, work: Path) -> None:
    """Make a folder with all valid files, and with empty ones for what is written."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(valid, work)
    shutil.rmtree(work / "brokers")
    for name in ("out", "tmp", "brokers"):
        (work / name).mkdir()


def _inner(name: str) -> bool:
    """Whether a file belongs to a state, which is whole only as a whole, or is a temporary one."""
    return any(part in name for part in ("out/st", "out/f/", "out/w/", "out/so", "out/g", "out/c/", ".part"))


def contents(work: Path) -> dict[str, bytes]:
    """What was written, by path, without what tells of times."""
    files = [path for name in ("out", "brokers") for path in sorted((work / name).rglob("*")) if path.is_file()]
    found = {}
    for path in files:
        name = str(path.relative_to(work))
        if not any(part in _APART for part in path.relative_to(work).parts) and not name.endswith(".part"):
            found[name] = _timeless(path)
    return found


def _timeless(path: Path) -> bytes:
    data = path.read_bytes()
    readers = {".parquet": pyarrow.parquet.read_table, ".arrow": pyarrow.feather.read_table}
    if path.suffix in readers:
        try:
            table = readers[path.suffix](path)
        except (pa.ArrowException, OSError):
            return data
        times = [name for name in table.column_names if name in _TIMES]
        if times:
            return str(table.drop_columns(times).to_pydict()).encode()
    return data
