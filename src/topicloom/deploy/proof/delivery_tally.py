"""Counting what arrives of numbered messages: once, twice, never, or where nobody wants it."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan


@dataclass(frozen=True)
class DeliveryCounts:
    """What became of the messages of one run.

    `delivered` counts every wanted arrival once, also at the broker where a message was published; `lost` is what is
    missing, `doubled` every further arrival of the same message at the same broker, `unwanted` every arrival at a
    broker that neither wants it nor is on its way. `link_messages` says how many messages came over each link.
    """

    published: int
    expected: int
    delivered: int
    lost: int
    doubled: int
    unwanted: int
    relayed: int
    latency_ms: dict[str, float]
    link_messages: dict[Pair, int]

    @property
    def perfect(self) -> bool:
        """Whether every message arrived once wherever it is wanted, and nowhere else."""
        return self.lost == self.doubled == self.unwanted == 0


class DeliveryTally:
    """Messages as they are sent and as they arrive. Memory: one byte a message and broker, eight an arrival."""

    def __init__(self, plan: Plan, mark: bytes, messages: int) -> None:
        self.sources = [
            (route, message, name) for route in plan.routes for message in route.messages for name in message.sources
        ]
        self.messages = max(messages, len(self.sources)) if self.sources else 0
        self._plan = plan
        self._mark = mark
        self._place = {broker.name: place for place, broker in enumerate(plan.brokers)}
        # For every source where its messages come by: over which link, and whether they are wanted there.
        self._ways = [
            {to: (way, to) for way, to in route.ways_in(name, message.name)} for route, message, name in self.sources
        ]
        self._wants = [frozenset(message.wanting) for _, message, _ in self.sources]
        self._arrived = bytearray(self.messages * len(plan.brokers))
        self._sent = array("d")
        self._open = array("l")
        self._latencies = array("d")
        self._unwanted = 0
        self.delivered = 0
        self.under_way = 0

    def next_message(self) -> tuple[str, str, int, bytes] | None:
        """What to publish next: broker, name, quality of service and payload; None when all are sent.

        Every publisher of every topic has its turn.
        """
        number = len(self._sent)
        if number == self.messages:
            return None
        route, message, broker = self.sources[number % len(self.sources)]
        self._sent.append(time.perf_counter())
        self._open.append(len(message.wanting))
        self.under_way += 1
        return broker, message.name, route.qos, b"%b %d" % (self._mark, number)

    def arrive(self, broker: str, payload: bytes, now: float) -> None:
        """Note an arrival; messages of other runs are none of ours."""
        mark, _, digits = payload.partition(b" ")
        if mark != self._mark:
            return
        number = int(digits)
        source = number % len(self.sources)
        wants = broker in self._wants[source]
        if not wants and broker not in self._ways[source]:
            # Where it is published it is heard at once, wanted or not.
            self._unwanted += broker != self.sources[source][2]
            return
        at = number * len(self._place) + self._place[broker]
        self._arrived[at] = min(self._arrived[at] + 1, 255)
        if wants and self._arrived[at] == 1:
            self._latencies.append(now - self._sent[number])
            self.delivered += 1
            self._open[number] -= 1
            if self._open[number] == 0:
                self.under_way -= 1

    @property
    def complete(self) -> bool:
        """Whether everything is sent and has arrived everywhere at least once."""
        return len(self._sent) == self.messages and self.under_way == 0

    def missing(self) -> list[tuple[str, str, str]]:
        """What has not arrived of the first message of each publisher: its name, where from, where it is missing."""
        return [place for place, times in self._wanted() if times == 0]

    def repeated(self) -> list[tuple[tuple[str, str, str], int]]:
        """Duplicates of the first message of each publisher: its name, source, broker, and how often it arrived."""
        return [(place, times) for place, times in self._wanted() if times > 1]

    def _wanted(self) -> Iterator[tuple[tuple[str, str, str], int]]:
        for number, (_, message, source) in enumerate(self.sources[: len(self._sent)]):
            for broker in sorted(message.wanting):
                place = message.name, source, broker
                yield place, self._arrived[number * len(self._place) + self._place[broker]]

    def counts(self) -> DeliveryCounts:
        """What became of the messages so far."""
        arrived = np.frombuffer(self._arrived, np.uint8).reshape(self.messages, -1)[: len(self._sent)]
        # Messages of one source all go the same way, so they are added up before anything else is asked.
        totals = [arrived[first :: len(self.sources)].sum(axis=0, dtype=np.int64) for first in range(len(self.sources))]
        relayed, links = 0, dict.fromkeys(self._plan.links, 0)
        for total, ways, wants in zip(totals, self._ways, self._wants, strict=True):
            for name, link in ways.items():
                arrivals = int(total[self._place[name]])
                links[link if link in links else link[::-1]] += arrivals
                relayed += 0 if name in wants else arrivals
        expected = sum(len(self._wants[number % len(self.sources)]) for number in range(len(self._sent)))
        return DeliveryCounts(
            published=len(self._sent),
            expected=expected,
            delivered=self.delivered,
            lost=expected - self.delivered,
            doubled=int(arrived.sum(dtype=np.int64) - np.count_nonzero(arrived)),
            unwanted=self._unwanted,
            relayed=relayed,
            latency_ms=_latency_ms(np.frombuffer(self._latencies, np.float64)),
            link_messages=links,
        )


def _latency_ms(seconds: npt.NDArray[np.float64]) -> dict[str, float]:
    if not len(seconds):
        return {}
    shares = {"median": 50, "p99": 99, "max": 100}
    return {name: round(float(np.percentile(seconds, share)) * 1000, 3) for name, share in shares.items()}
