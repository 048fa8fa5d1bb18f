"""Spark's executors killed in the middle of a job: it ends right, or says why."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from campaign.killing import contents, prepare
from campaign.ledger import Ledger
from campaign.outside import start
from campaign.valid_files import make_files

_CLUSTER = ["--master", "local-cluster[2,1,1024]"]
_LINES = """
spark design ingested --out out/b
spark measure ingested overlay.parquet --topics out/t.parquet
spark sample ingested --nodes 3 --uniform --seed 1 --out out/s
spark sweep many.toml --out out/g
""".strip().splitlines()
_BACKEND = b"CoarseGrainedExecutorBackend"
_MOST_KILLS = 6
_PATIENCE_SECONDS = 400


def lose_executors(ledger: Ledger, seed: int, numbers: Iterable[int]) -> None:
    """Kill executors in a run for each number."""
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-") as base:
        valid, work = Path(base, "valid"), Path(base, "work")
        make_files(valid, seed)
        dice = random.Random(seed)
        rows = "".join(f"node-{dice.randrange(3000)},topic-{dice.randrange(300)}\n" for _ in range(300_000))
        (valid / "many.csv").write_text("node,topic\n" + rows)
        (valid / "many.toml").write_text(
            "seed = [1, 2, 3, 4, 5, 6]\n[[workload]]\nnodes = [60, 80]\ntopics = 9\nmin_topics = 2\n"
            '[[designer]]\nname = ["gm", "minmax-oda"]\n'
        )
        for number in numbers:
            line = _LINES[(seed + number) % len(_LINES)]
            prepare(valid, work)
            process = start([*line.split(), *_CLUSTER], str(work), environment={"TMPDIR": str(work / "tmp")})
            process.communicate()
            expected = contents(work)
            prepare(valid, work)
            lost, status, err = _disturbed(dice, line, work)
            ledger.count("lost executors", lost)
            ledger.count("jobs that lost executors")
            problem = _problem(status, err, contents(work), expected)
            if problem is not None:
                again = f"./dev campaign --part executors --seed {seed} --only {number}"
                ledger.fail("lost executors", f"{problem} [topicloom {line}]", again)


def _disturbed(dice: random.Random, line: str, work: Path) -> tuple[int, int | None, str]:
    """How many executors a run lost, and how it ended."""
    with (work / "err").open("wb") as err:
        process = start([*line.split(), *_CLUSTER], str(work), environment={"TMPDIR": str(work / "tmp")})
        killed: set[int] = set()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            executors = [number for number in _executors(process.pid) if number not in killed]
            if executors and len(killed) < _MOST_KILLS and dice.random() < 0.15:
                victim = dice.choice(executors)
                killed.add(victim)
                os.kill(victim, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
        _, said = process.communicate()
        err.write(said)
    return len(killed), process.returncode, said.decode(errors="replace")


def _executors(ancestor: int) -> list[int]:
    """Processes below one that are executors."""
    parents: dict[int, int] = {}
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if _BACKEND in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except (OSError, ValueError):
                continue

    def is_below(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == ancestor:
                return True
        return False

    return [process for process in found if is_below(process)]


def _problem(status: int | None, err: str, has: dict[str, bytes], expected: dict[str, bytes]) -> str | None:
    if status == 0:
        different = sorted(name for name in has.keys() | expected.keys() if has.get(name) != expected.get(name))
        return f"ended well, and {different[0]} is not as it should be" if different else None
    if status not in (1, 2) or err.count("\n") > 2 or "Traceback" in err:
        return f"ended with {status}: {err[-400:]}"
    return None
