"""Counting what a change does to messages that flow while it happens."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from topicloom.deploy.planning.flows import Message
from topicloom.deploy.planning.plan import Plan


@dataclass(frozen=True)
class ChangeCounts:
    """What became of messages that were published during a change.

    A message is expected where it is wanted by both plans; `lost` is what is missing there, `doubled` every further
    arrival at the same broker, `unwanted` every arrival where neither plan wants or passes it on. `silence` is by
    topic the longest time between two arrivals at a broker that is expected to get it.
    """

    published: int
    expected: int
    delivered: int
    lost: int
    doubled: int
    unwanted: int
    lost_by_topic: dict[str, int]
    silence: dict[str, float]


@dataclass(frozen=True)
class _Source:
    topic: str
    name: str
    broker: str
    qos: int
    wanting: frozenset[str]
    passing: frozenset[str]


class ChangeTally:
    """Numbered messages from everywhere where both plans publish them."""

    def __init__(self, old: Plan, new: Plan) -> None:
        # The first source of each topic, then the second of each, so that messages of a topic are evenly apart.
        turn: Counter[str] = Counter()
        ordered = []
        for source in _sources(old, new):
            turn[source.topic] += 1
            ordered.append((turn[source.topic], source))
        self.sources = [source for _, source in sorted(ordered, key=lambda one: one[0])]
        self.topics = len(turn)
        self._sent: list[float] = []
        self._arrived: Counter[tuple[int, str]] = Counter()
        self._heard: dict[tuple[str, str], float] = {}
        self._silence: defaultdict[str, float] = defaultdict(float)
        self._unwanted = 0

    def next_message(self) -> tuple[str, str, int, bytes]:
        """What to publish next: broker, name, quality of service and payload; every source has its turn."""
        source = self.sources[len(self._sent) % len(self.sources)]
        self._sent.append(time.perf_counter())
        return source.broker, source.name, source.qos, b"%d" % (len(self._sent) - 1)

    def arrive(self, broker: str, payload: bytes, now: float) -> None:
        """Note an arrival."""
        number = int(payload)
        source = self.sources[number % len(self.sources)]
        if broker not in source.passing:
            self._unwanted += 1
            return
        self._arrived[number, broker] += 1
        if broker in source.wanting and broker != source.broker:
            last = self._heard.get((source.topic, broker), now)
            self._silence[source.topic] = max(self._silence[source.topic], now - last)
            self._heard[source.topic, broker] = now

    @property
    def missing(self) -> int:
        """How many expected arrivals there have not been."""
        return sum(self._lost().values())

    def _lost(self) -> Counter[str]:
        lost: Counter[str] = Counter()
        for number in range(len(self._sent)):
            source = self.sources[number % len(self.sources)]
            lost[source.topic] += sum((number, broker) not in self._arrived for broker in source.wanting)
        return +lost

    def counts(self) -> ChangeCounts:
        """What became of the messages so far."""
        expected = sum(len(self.sources[number % len(self.sources)].wanting) for number in range(len(self._sent)))
        lost = self._lost()
        return ChangeCounts(
            published=len(self._sent),
            expected=expected,
            delivered=expected - lost.total(),
            lost=lost.total(),
            doubled=sum(count - 1 for count in self._arrived.values()),
            unwanted=self._unwanted,
            lost_by_topic=dict(lost),
            silence=dict(self._silence),
        )


def _sources(old: Plan, new: Plan) -> list[_Source]:
    """Who publishes what in both plans, and where that is wanted in both."""
    found = []
    for route in old.routes:
        after = new.route.get(route.topic)
        later = {message.name: message for message in after.messages} if after else {}
        for message in route.messages:
            same = later.get(message.name)
            if after is None or same is None:
                continue
            wanting = frozenset(message.wanting) & frozenset(same.wanting)
            for broker in sorted(set(message.sources) & set(same.sources)):
                passing = {*message.wanting, *same.wanting, broker}
                for plan in (old, new):
                    passing |= _on_the_way(plan, route.topic, broker, message)
                qos = min(route.qos, after.qos)
                found.append(_Source(route.topic, message.name, broker, qos, wanting, frozenset(passing)))
    return found


def _on_the_way(plan: Plan, topic: str, broker: str, message: Message) -> set[str]:
    return {to for _, to in plan.route[topic].ways_in(broker, message.name)}
