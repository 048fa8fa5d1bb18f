"""Seeing how far a grid is, and stopping it."""

from __future__ import annotations

import threading
import time

from topicloom.algorithms import Stopped

# The first cells to end need not be like the others; below this share of all cost they say nothing about the rest.
_TELLING_SHARE = 0.05


class GridStopped(Stopped):
    """The watch asked a grid to stop; the cells that are done are kept."""


class GridWatch:
    """The line between a running grid and whoever waits for it."""

    def __init__(self) -> None:
        self._done = 0
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._cost_left = 0
        self._cost_done = 0

    @property
    def done(self) -> int:
        """How many cells are done so far."""
        return self._done

    def stop(self) -> None:
        """Ask the grid to stop; cells that are done stay."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the grid was asked to stop."""
        return self._stop.is_set()

    @property
    def seconds_left(self) -> float | None:
        """About how long it will take yet, once enough is done to tell."""
        if self._cost_done <= _TELLING_SHARE * (self._cost_done + self._cost_left):
            return None
        return (time.monotonic() - self._began) * self._cost_left / self._cost_done

    def begin(self, cost: int) -> None:
        """Cells that cost so much together begin to run."""
        self._began, self._cost_left = time.monotonic(), cost

    def cell_done(self, cost: int) -> None:
        """A cell of that cost is done, or has failed."""
        self._done += 1
        self._cost_left -= cost
        self._cost_done += cost
