"""Brokers, their files, links and messages on virtual time.

A broker runs the file that it took last, and after a crash the one that lies on its disk; it reads it as Topicloom
reads bridges. Links are up where both ends are and nothing is between them.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from topicloom.brokers.kind import Bridge
from topicloom.brokers.kinds.mosquitto import KIND

T = TypeVar("T")
# As a link carries a topic: from, to.
Way = tuple[str, str]


@dataclass
class SimulatedBroker:
    """A broker: what lies on its disk, what it runs, and whether it is up."""

    name: str
    disk: str = ""
    running: tuple[Bridge, ...] = ()
    up: bool = True
    # A configuration beside ours, by somebody's hand, with its bridges, which the broker runs whenever it is up.
    foreign: str = ""
    hand_made: tuple[Bridge, ...] = ()


@dataclass
class SimulatedFleet:
    """All brokers; time passes by `pass_time`, in which whatever was planned happens."""

    dice: random.Random
    brokers: dict[str, SimulatedBroker] = field(default_factory=dict)
    cut: set[frozenset[str]] = field(default_factory=set)
    now: float = 1_700_000_000.0
    steps: int = 0
    after_step: Callable[[], None] = lambda: None
    _due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _read: dict[str, tuple[Bridge, ...]] = field(default_factory=dict)

    def plan_at(self, seconds: float, do: Callable[[], None]) -> None:
        """Let something happen after some time."""
        heapq.heappush(self._due, (self.now + seconds, next(self._numbers), do))

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            self.now, _, do = heapq.heappop(self._due)
            do()
            self.stepped()
        self.now = end

    @property
    def next_due(self) -> float | None:
        """When something happens next."""
        return self._due[0][0] if self._due else None

    def stepped(self) -> None:
        """Something changed."""
        self.steps += 1
        self.after_step()

    def put(self, name: str, text: str) -> None:
        """A file gets onto a broker's disk."""
        self.brokers[name].disk = text

    def restart(self, name: str) -> None:
        """A broker begins to run what lies on its disk."""
        broker = self.brokers[name]
        broker.up, broker.running = True, self._bridges(broker.disk)
        self.stepped()

    def by_hand(self, name: str, text: str) -> None:
        """Somebody gives a broker a configuration beside ours, or takes it away."""
        broker = self.brokers[name]
        broker.foreign, broker.hand_made = text, self._bridges(text)
        self.stepped()

    def hang(self, name: str) -> None:
        """A broker does nothing more."""
        self.brokers[name].up = False

    def wake(self, name: str) -> None:
        """A broker goes on with what it ran."""
        self.brokers[name].up = True
        self.stepped()

    def crash(self, name: str) -> None:
        """A broker ends."""
        self.brokers[name].up = False

    def _bridges(self, text: str) -> tuple[Bridge, ...]:
        if text not in self._read:
            self._read[text] = KIND.parse("x", text, "x").bridges if text else ()
        return self._read[text]

    def ways(self, *, ideal: bool = False, without: Collection[str] = ()) -> dict[str, Counter[Way]]:
        """For every topic the ways that it is carried on now.

        With `ideal` as if no link were cut, and not by links that the brokers in `without` open.
        """
        found: dict[str, Counter[Way]] = {}
        for broker in self.brokers.values():
            ours = () if broker.name in without else broker.running
            for bridge in (*ours, *broker.hand_made) if broker.up else ():
                other = bridge.host.removesuffix(".example")
                if other not in self.brokers or not self.brokers[other].up:
                    continue
                if not ideal and frozenset((broker.name, other)) in self.cut:
                    continue
                for rule in bridge.rules:
                    ways = found.setdefault(rule.pattern, Counter())
                    if rule.direction in ("out", "both"):
                        ways[broker.name, other] += 1
                    if rule.direction in ("in", "both"):
                        ways[other, broker.name] += 1
        return found

    def links(self) -> Counter[frozenset[str]]:
        """Links that brokers which are up open."""
        return Counter(
            frozenset((broker.name, bridge.host.removesuffix(".example")))
            for broker in self.brokers.values()
            if broker.up
            for bridge in broker.running
        )


class AtOnce(Executor):
    """Does everything when it is asked to, so that all goes in one order."""

    def submit(self, do: Callable[..., T], /, *given: object, **named: object) -> Future[T]:
        """Do it now; what is no Exception is raised."""
        done: Future[T] = Future()
        try:
            done.set_result(do(*given, **named))
        except Exception as error:
            done.set_exception(error)
        return done


def received(ways: Counter[Way], source: str, most: int) -> Counter[str]:
    """How many copies of a message from one broker each broker gets; where there is a loop, about `most` in all."""
    beside: dict[str, list[tuple[str, int]]] = {}
    for (sender, taker), number in ways.items():
        beside.setdefault(sender, []).append((taker, number))
    copies: Counter[str] = Counter({source: 1})
    waiting = deque([(source, "")])
    while waiting and copies.total() < most:
        at, came_from = waiting.popleft()
        for taker, number in beside.get(at, ()):
            # A bridge sends nothing back over the link that it came from, if there is but one.
            for _ in range(number - (taker == came_from)):
                copies[taker] += 1
                waiting.append((taker, at))
    return copies
