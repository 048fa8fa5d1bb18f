"""Progress, cancellation and timing of an algorithm: no compilation, no files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt


class Stopped(Exception):  # noqa: N818  it is no error
    """The watch asked a run to stop, so there is no result."""


class Watch:
    """The line between a running kernel and whoever waits for it.

    The kernel counts what it has done in `ticks[0]` and stops early once `ticks[1]` is not zero.
    """

    def __init__(self) -> None:
        self.ticks: npt.NDArray[np.int64] = np.zeros(2, np.int64)
        self.note = ""  # a few words on how far it is, to show beside the progress

    @property
    def done(self) -> int:
        """How much is done so far: components merged, or links placed."""
        return int(self.ticks[0])

    def stop(self) -> None:
        """Ask the kernel to stop at its next look."""
        self.ticks[1] = 1

    @property
    def stopped(self) -> bool:
        """Whether the kernel was asked to stop."""
        return bool(self.ticks[1])


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
