"""Work that may take long: done in a thread, asked how far it is, stopped."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from topicloom.algorithms import Stopped, Watch
from topicloom.errors import InputError

# How many results are kept: the oldest is forgotten first.
_KEPT = 40
# How many pieces of work may wait.
_WAITING = 8


@dataclass(eq=False)
class Job:
    """A piece of work by its number. `doing` says in words what it is at, and `watch` how far."""

    number: int
    watch: Watch = field(default_factory=Watch)
    doing: str = "waiting"
    total: int | None = None
    future: Future[Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether there is a result, or a problem."""
        return self.future is not None and self.future.done()

    @property
    def failed(self) -> bool:
        """Whether a problem ended it."""
        return self.future is not None and self.future.done() and self.future.exception() is not None

    def result(self) -> Any:
        """What came of it; an `InputError` where it was refused or stopped."""
        assert self.future is not None
        try:
            return self.future.result()
        except Stopped:
            raise InputError("stopped") from None


class Jobs:
    """Does one piece of work after the other, in one thread: kernels use all processors where they can."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "explore")
        self._known: OrderedDict[int, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._last = 0

    def start(self, work: Callable[[Job], Any]) -> int:
        """Begin a piece of work and give its number."""
        with self._lock:
            if sum(not each.ended for each in self._known.values()) >= _WAITING:
                raise InputError("too much is waiting already; let it end first")
            self._last += 1
            job = self._known[self._last] = Job(self._last)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)[1].watch.stop()
            job.future = self._thread.submit(work, job)
            return self._last

    def find(self, number: int) -> Job:
        """A piece of work by its number."""
        with self._lock:
            if number not in self._known:
                raise InputError(f"nothing is known of piece of work {number}; ask again")
            return self._known[number]

    def is_good(self, number: int) -> bool:
        """Whether a piece of work goes on, or has come to a result that is still known."""
        job = self._known.get(number)
        return job is not None and not job.watch.stopped and not job.failed

    def close(self) -> None:
        """Stop everything."""
        for job in list(self._known.values()):
            job.watch.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)
