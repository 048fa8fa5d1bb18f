"""The post between brokers and users: what is sent arrives later, and between the same two in the order sent."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

# ("broker", id) or ("user", id).
Address = tuple[str, int]
# How long a message takes: always the same, or by sender and receiver.
Delay = float | Callable[[Address, Address], float]


class Post:
    """Carries calls from actor to actor in the order of their arrival, and counts them by name."""

    def __init__(self, delay: Delay = 1.0) -> None:
        self.now = 0.0
        self.sent: Counter[str] = Counter()
        self._delay = delay
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self._last: dict[tuple[Address, Address], float] = {}

    def send(self, sender: Address, receiver: Address, call: Callable[..., None], *given: Any) -> None:
        """Make a call of the receiver, when it arrives there."""
        self.sent[call.__name__] += 1
        self._at(self._arrival(sender, receiver), lambda: call(*given))

    def send_all(self, sender: Address, receivers: Sequence[int], call: Callable[..., None], *given: Any) -> None:
        """Make a call of many brokers; it is given the ids of those whom it reaches at the same time."""
        self.sent[call.__name__] += len(receivers)
        by_time: dict[float, list[int]] = {}
        if isinstance(self._delay, float):
            by_time[self.now + self._delay] = list(receivers)
        else:
            for receiver in receivers:
                by_time.setdefault(self._arrival(sender, ("broker", receiver)), []).append(receiver)
        for time, ids in by_time.items():
            self._at(time, lambda ids=ids: call(ids, *given))  # type: ignore[misc]

    def later(self, wait: float, do: Callable[[], None]) -> None:
        """Do something after a time; nobody is sent anything."""
        self._at(self.now + wait, do)

    def step(self) -> bool:
        """Let the next arrive; False where there is nothing on its way."""
        if not self._queue:
            return False
        self.now, _, do = heapq.heappop(self._queue)
        do()
        return True

    def _arrival(self, sender: Address, receiver: Address) -> float:
        if isinstance(self._delay, float):
            return self.now + self._delay
        link = (sender, receiver)
        time = max(self.now + self._delay(sender, receiver), self._last.get(link, 0.0))
        self._last[link] = time
        return time

    def _at(self, time: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (time, next(self._number), do))
