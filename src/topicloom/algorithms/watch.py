"""Seeing how far a run is, and stopping it."""

from __future__ import annotations

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
