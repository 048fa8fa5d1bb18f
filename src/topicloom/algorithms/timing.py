"""How long an algorithm took: no compiling, no files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Run:
    """The seconds that an algorithm itself took, by the clock and by the processor.

    `processor_seconds` are those in which it was at work and not kept waiting by others on the machine.
    """

    seconds: float
    processor_seconds: float


def timed(work: Callable[[], T]) -> tuple[T, Run]:
    """What the work gives, and how long it took."""
    began, at_work = time.perf_counter(), time.process_time()
    result = work()
    return result, Run(seconds=time.perf_counter() - began, processor_seconds=time.process_time() - at_work)
