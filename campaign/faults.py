"""A full disk, little memory, no home, closed streams, folders without rights, two runs at once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from campaign.forked import Forked, few_files, more_addresses
from campaign.inside import Ended
from campaign.killing import SPARK, WRITING, contents, prepare, using
from campaign.ledger import Ledger
from campaign.outside import little_memory, run_outside, short_files
from campaign.valid_files import make_files_that_take_a_while

_WITHOUT_KERNELS = ("generate", "churn", "events", "render", "import", "collect")


def suffer(ledger: Ledger, seed: int, numbers: Iterable[int]) -> None:
    """Suffer a fault for each number, each kind in turn."""
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-", dir="/dev/shm") as base:
        valid = Path(base, "valid")
        make_files_that_take_a_while(valid, seed)
        for number in numbers:
            dice = random.Random(f"{seed} {number}")
            kinds = list(KINDS)
            kind = kinds[(seed + number) % len(kinds)]
            # Without a home nothing compiled is kept, and compiling takes minutes.
            lines = [line for line in WRITING if kind != "no home" or line.split()[0] in _WITHOUT_KERNELS]
            line = dice.choice(lines)
            problem = _suffered(dice, valid, Path(base, "work"), line, KINDS[kind])
            ledger.count(f"resource faults: {kind}")
            ledger.count("resource faults")
            if problem is not None:
                again = f"./dev campaign --part faults --seed {seed} --only {number}"
                ledger.fail("resource faults", f"{kind}: {problem} [topicloom {line}]", again)


def suffer_on_spark(ledger: Ledger, seed: int, numbers: Iterable[int]) -> None:
    """Suffer a fault on Spark for each number, in processes of their own."""
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-") as base:
        valid, work = Path(base, "valid"), Path(base, "work")
        make_files_that_take_a_while(valid, seed)
        for number in numbers:
            dice = random.Random(f"{seed} {number}")
            line = dice.choice(SPARK)
            prepare(valid, work)
            kind = dice.choice(("no home", "no temporary files", "short files", "little memory"))
            environment: dict[str, str | None] = {"TMPDIR": str(work / "tmp")}
            if kind == "no home":
                environment |= {"HOME": "/nonexistent", "XDG_CACHE_HOME": None}
            if kind == "no temporary files":
                environment["TMPDIR"] = str(work / "nowhere")
            limits = {"short files": short_files(4096), "little memory": little_memory(2 << 30)}
            ended = run_outside(line.split(), str(work), environment=environment, before=limits.get(kind))
            ledger.count(f"resource faults: {kind}, on Spark")
            ledger.count("resource faults")
            problem = _wrong(ended, work)
            if problem is not None:
                what = f"{kind}, on Spark: {problem} [topicloom {line}]"
                ledger.fail(
                    "resource faults", what, f"./dev campaign --part faults-spark --seed {seed} --only {number}"
                )


def _suffered(dice: random.Random, valid: Path, work: Path, line: str, fault: Callable[..., Ended]) -> str | None:
    prepare(valid, work)
    wanted = Forked(line.split(), work, work / "streams", using(work / "tmp")).wait()
    expected = contents(work)
    prepare(valid, work)
    problem = _wrong(fault(dice, line.split(), work), work)
    if problem is not None:
        return problem
    again = Forked(line.split(), work, work / "streams", using(work / "tmp")).wait()
    if again.status == 2 and "already" in again.err:
        return None if contents(work) == expected else "what was written is not what it should be"
    if again.status != wanted.status:
        return f"afterwards it ended with {again.status}: {again.err[-300:]}"
    has = contents(work)
    different = sorted(name for name in expected.keys() | has.keys() if expected.get(name) != has.get(name))
    return f"afterwards {different[0]} is not as it should be" if different else None


def _wrong(ended: Ended, work: Path) -> str | None:
    """What no fault may lead to: a traceback, more than a line, a file that is left."""
    expected = (0, 1, 2, 129, 130, 141, 143)
    if ended.problem is not None and ended.status not in expected:
        return ended.problem
    if ended.problem is not None and "traceback" in ended.problem:
        return ended.problem
    left = [path for path in [*(work / "out").rglob("*.part"), *(work / "tmp").rglob("*")] if "topicloom" in path.name]
    return f"left {left[0].relative_to(work)}" if left else None


def _forked(line: list[str], work: Path, before: Callable[[], None] = lambda: None) -> Ended:
    def both() -> None:
        using(work / "tmp")()
        before()

    return Forked(line, work, work / "streams", both).wait()


@contextmanager
def _mounted(folder: Path, options: str) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def _full_disk(dice: random.Random, line: list[str], work: Path) -> Ended:
    with _mounted(work / "out", "size=64k"):
        room = dice.choice((0, 0, 4096, 16384))
        (work / "out" / "filler").write_bytes(b"x" * ((64 << 10) - room))
        ended = _forked(line, work)
        left = [path.name for path in (work / "out").rglob("*.part")]
    return Ended(ended.status, ended.out, ended.err) if not left else Ended(None, "", f"left {left[0]}")


def _read_only(_: random.Random, line: list[str], work: Path) -> Ended:
    with _mounted(work / "out", "ro"):
        return _forked(line, work)


def _no_home(_: random.Random, line: list[str], work: Path) -> Ended:
    gone: dict[str, str | None] = {"HOME": "/nonexistent", "XDG_CACHE_HOME": None, "TMPDIR": str(work / "tmp")}
    return run_outside(line, str(work), environment=gone)


def _no_temporary_files(_: random.Random, line: list[str], work: Path) -> Ended:
    shutil.rmtree(work / "tmp")
    ended = _forked(line, work)
    (work / "tmp").mkdir()
    return ended


def _closed(_: random.Random, line: list[str], work: Path) -> Ended:
    def close() -> None:
        for number in (0, 1):
            os.close(number)

    ended = run_outside(line, str(work), environment={"TMPDIR": str(work / "tmp")}, before=close)
    return Ended(ended.status, "", ended.err)


def _closed_pipe(_: random.Random, line: list[str], work: Path) -> Ended:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run_outside(line, str(work), environment={"TMPDIR": str(work / "tmp")}, stdout=writer)
    finally:
        os.close(writer)


def _two_at_once(dice: random.Random, line: list[str], work: Path) -> Ended:
    first = Forked(line, work, work / "streams", using(work / "tmp"))
    time.sleep(dice.random() * 0.05)
    second = Forked(line, work, work / "streams-2", using(work / "tmp"))
    ends = [first.wait(), second.wait()]
    for ended in ends:
        if ended.problem is not None:
            return ended
    if ends[0].status not in (0, 1) and ends[1].status not in (0, 1):
        return Ended(None, "", f"neither of two runs at once came through: {ends[0].err} {ends[1].err}")
    return ends[0]


def _signalled(dice: random.Random, line: list[str], work: Path) -> Ended:
    forked = Forked(line, work, work / "streams", using(work / "tmp"))
    time.sleep(0.01 + dice.random() * 0.2)
    forked.send(dice.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)))
    return forked.wait()


KINDS: dict[str, Callable[[random.Random, list[str], Path], Ended]] = {
    "full disk": _full_disk,
    "read-only": _read_only,
    "no home": _no_home,
    "no temporary files": _no_temporary_files,
    "little memory": lambda dice, line, work: _forked(line, work, more_addresses(dice.choice((1, 4, 16, 64)) << 20)),
    "short files": lambda dice, line, work: _forked(line, work, short_files(dice.choice((1, 512, 2048)))),
    "few open files": lambda dice, line, work: _forked(line, work, few_files(dice.choice((12, 16, 24)))),
    "closed streams": _closed,
    "closed pipe": _closed_pipe,
    "two at once": _two_at_once,
    "signals": _signalled,
}
