"""When, and how much an hour, a fleet may be changed."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from topicloom.errors import InputError

_HOUR_SECONDS = 3600.0
_MINUTES = 24 * 60


@dataclass
class Allowance:
    """So many brokers may get another file within an hour, and only between two times of the day, where given.

    Args:
        changes_an_hour: how many.
        window: the first and the last minute of the day, which may be past midnight; None for always.
    """

    changes_an_hour: int
    window: tuple[int, int] | None = None
    _made: deque[float] = field(default_factory=deque)

    def refusal(self, changes: int, now: float) -> str | None:
        """Why so many changes may not be made now; None where they may. A change larger than the limit waits for an
        hour without any, and is then made whole, as half of it would leave topics interrupted."""
        if self.window is not None:
            clock = datetime.fromtimestamp(now)
            minute = clock.hour * 60 + clock.minute
            begin, end = self.window
            if not (begin <= minute < end if begin <= end else minute >= begin or minute < end):
                return f"changes may be made from {_clock(begin)} to {_clock(end)}"
        while self._made and now - self._made[0] >= _HOUR_SECONDS:
            self._made.popleft()
        if changes and self._made and len(self._made) + changes > self.changes_an_hour:
            return f"{len(self._made)} brokers were changed within the hour, and {self.changes_an_hour} may be"
        return None

    def note(self, changes: int, now: float) -> None:
        """Changes were made."""
        self._made.extend([now] * changes)


def read_window(text: str) -> tuple[int, int]:
    """A window as HH:MM-HH:MM."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})", text)
    if found is not None:
        begin, end = (int(found[i]) * 60 + int(found[i + 1]) for i in (1, 3))
        if begin < _MINUTES and end <= _MINUTES and begin != end and int(found[2]) < 60 and int(found[4]) < 60:
            return begin, end
    raise InputError(f"a window is two times of the day, such as 22:00-05:30, not '{text}'")


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
