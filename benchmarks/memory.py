"""What a benchmark takes with all processes that it starts, Spark's Java and its Python workers too."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most memory that this process and all it started took together, in bytes, as the list's only item.

    Pages that processes share are counted once: each has its share of them.
    """
    peak, stop = [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.25):
            peak[0] = max(peak[0], sum(_bytes_of(process) for process in _family()))
            _watching[0] = time.thread_time()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()


_PR_SET_CHILD_SUBREAPER = 36
# Processor time of the thread that looks at the memory.
_watching = [0.0]


def keep_orphans() -> None:
    """Let processes whose parents end become children of this one, so that `processor_seconds` counts them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processor_seconds() -> float:
    """Processor time of this process, of all below it, and of those that ended, without that of `peak_memory`."""
    ticks = 0
    for process in _family():
        try:
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK") - _watching[0]


def _family() -> list[Path]:
    """The folders in /proc of this process and of all below it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    family = {int(Path("/proc/self").resolve().name)}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return [Path("/proc", str(process)) for process in family]


def _bytes_of(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
