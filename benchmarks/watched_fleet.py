"""A fleet of real Mosquittos under control: how long from an event to proven delivery, and whether that is perfect.

Brokers join, leave, are killed and come back, and filters change, while messages flow all the time. After each event
numbered messages go from every publisher, round after round, until one round arrives everywhere: that is the time to
proven delivery. Then, in the quiet, another round is counted: what of it is lost, doubled or unwanted.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from benchmarks.local_fleet import LocalFleet, local_fleet
from topicloom.brokers import Plan
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.live import DeliveryCounts, DeliveryTally
from topicloom.brokers.local import LastingClients
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Allowance, Controller, WatchSettings
from topicloom.model.demand import Demand, Wish, wishes_for
from topicloom.model.events import Event

BROKERS, SITES, SENSORS = 30, 8, 4
# Of 30 brokers so many at most are killed, and have left, at a time.
_DOWN, _OUT = 4, 4
_FLOWING_A_SECOND = 100
# Rounds, each with so much more patience than the one before.
_ROUNDS, _ROUND_SECONDS = 16, 0.5
_QUIET_SECONDS, _UP_SECONDS = 10.0, 60.0
_LATE_SECONDS = 0.3
# What a broker of a site may want of it.
_FILTERS = ("site{site}/#", "site{site}/+", "site{site}/s1", "site{site}/s2", "site{site}/s3")


class Traffic:
    """Clients at all brokers, served by a thread of their own: messages flow, and rounds of them are counted."""

    def __init__(self, local: LocalFleet) -> None:
        names = [f"site{site}/s{sensor}" for site in range(SITES) for sensor in range(SENSORS)]
        self._clients = LastingClients(local.fleet.brokers, self._arrive, "bench")
        self._subscribed = [(name, 1) for name in names]
        self._names = local.names
        self._flowing: list[tuple[str, str]] = []
        self._tally: DeliveryTally | None = None
        self._ended = False
        self._failed: BaseException | None = None
        self._round = 0
        self.flowed = 0
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Traffic:
        for name in self._names:
            self._clients.open(name, self._subscribed)
        self._clients.wait_until_subscribed()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._ended = True
        self._thread.join()
        self._clients.__exit__(kind, error, where)

    def prove(self, plan: Plan) -> tuple[float, DeliveryCounts]:
        """Send rounds until one arrives everywhere; the moment when it has, and the counts of one more."""
        self._flowing = [
            (source, message.name) for route in plan.routes for message in route.messages for source in message.sources
        ]
        for round_ in range(1, _ROUNDS + 1):
            tally = self._sent(plan, round_ * _ROUND_SECONDS)
            if tally.complete:
                break
        else:
            missing = tally.missing()
            name, source, broker = missing[0]
            raise SystemExit(f"{len(missing)} messages do not come through: {name} from {source} to {broker}, ...")
        proven = time.perf_counter()
        tally = self._sent(plan, _QUIET_SECONDS)
        time.sleep(_LATE_SECONDS)
        return proven, tally.counts()

    def _sent(self, plan: Plan, seconds: float) -> DeliveryTally:
        """A round of messages, waited for at most so long."""
        self._round += 1
        tally = self._tally = DeliveryTally(plan, b"%d" % self._round, 0)
        until = time.monotonic() + seconds
        while not tally.complete and time.monotonic() < until:
            if self._failed is not None:
                raise self._failed
            time.sleep(0.005)
        return tally

    def _serve(self) -> None:
        due = time.perf_counter()
        try:
            while not self._ended:
                tally = self._tally
                while tally is not None and (message := tally.next_message()) is not None:
                    broker, name, qos, payload = message
                    self._clients.publish(broker, name, payload, qos)
                if self._flowing and time.perf_counter() >= due:
                    broker, name = self._flowing[self.flowed % len(self._flowing)]
                    if self._clients.is_connected(broker):
                        self._clients.publish(broker, name, b"flowing", 1)
                    self.flowed += 1
                    due += 1 / _FLOWING_A_SECOND
                self._clients.serve(0.002)
        except BaseException as error:
            self._failed = error

    def _arrive(self, broker: str, _topic: str, payload: bytes, now: float) -> None:
        if self._tally is not None:
            self._tally.arrive(broker, payload, now)


def _wants(draw: random.Random, number: int) -> frozenset[Wish]:
    """What a broker wants and publishes: filters of two sites, and a sensor or two."""
    sites = draw.sample(range(SITES), 2)
    wanted = wishes_for([draw.choice(_FILTERS).format(site=site) for site in sites], "sub")
    sensors = [f"site{site}/s{draw.randrange(SENSORS)}" for site in (number % SITES, sites[0])]
    return wanted | wishes_for(sensors[: draw.randint(1, 2)], "pub")


class _Happenings:
    """Draws what happens next, lets it happen, and lets the controller take turns until it has dealt with it."""

    def __init__(self, local: LocalFleet, controller: Controller, coming: list[Event], seed: int) -> None:
        self._local, self._controller, self._coming = local, controller, coming
        self._draw = random.Random(seed)
        self._down: list[str] = []
        self.kinds: dict[str, int] = {}

    def next(self) -> None:
        decisions = self._controller.decisions
        out = sorted(set(self._local.names) - decisions.demand.by_node.keys())
        there = sorted(decisions.demand.by_node.keys() - set(self._down))
        possible = ["filters", "filters"]
        possible += ["kill"] * (len(self._down) < _DOWN) + ["back"] * bool(self._down)
        possible += ["leave"] * (len(out) < _OUT) + ["join"] * bool(out)
        kind, name = self._draw.choice(possible), self._draw.choice(there)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind == "kill":
            self._down.append(name)
            self._local.kill(name)
            self._turn_until(lambda: name in decisions.away)
        elif kind == "back":
            back = self._down.pop(0)
            self._local.restart(back)
            self._turn_until(lambda: back not in decisions.away)
        elif kind == "join":
            self._take(*_events(out[0], frozenset(), _wants(self._draw, len(out)), decisions.last_event + 1))
        elif kind == "leave":
            self._take(Event(decisions.last_event + 1, "leave", name))
        else:
            has = sorted(topic for topic, part in decisions.demand.by_node[name] if part == "sub")
            others = [one.format(site=self._draw.randrange(SITES)) for one in _FILTERS]
            new = next(one for one in self._draw.sample(others, len(others)) if one not in has)
            change = Event(decisions.last_event + 1, "change", name, (new,), (self._draw.choice(has),), role="sub")
            self._take(change)

    def _take(self, *events: Event) -> None:
        self._coming.extend(events)
        self._turn_until(lambda: self._controller.decisions.last_event == events[-1].id)

    def _turn_until(self, true: Callable[[], bool]) -> None:
        controller, deadline = self._controller, time.monotonic() + _UP_SECONDS
        while True:
            controller.turn(time.time())
            if true() and controller.waiting is None and controller.state.move is None:
                return
            if time.monotonic() > deadline:
                raise SystemExit(f"not applied: {controller.waiting}")
            time.sleep(0.05)


def _events(name: str, old: frozenset[Wish], new: frozenset[Wish], first_id: int) -> list[Event]:
    return Demand({name: old} if old else {}).events_to(Demand({name: new}), first_id)


def main(events: int, seed: int = 1) -> dict[str, Any]:
    """Let events happen to a fleet, and measure after each."""
    draw = random.Random(seed)
    names = [f"b{number:02}" for number in range(BROKERS)]
    begin = {name: _wants(draw, number) for number, name in enumerate(names)}
    settings = WatchSettings(apply=True, down_seconds=0.3, up_seconds=0.3)
    coming: list[Event] = []

    def feed() -> tuple[list[Event], list[str]]:
        taken = list(coming)
        coming.clear()
        return taken, []

    seconds: list[float] = []
    totals = dict.fromkeys(("delivered", "lost", "doubled", "unwanted"), 0)
    began = time.monotonic()
    with local_fleet(names) as local:
        state_folder = local.folder / "state"
        with opened(state_folder) as state, Traffic(local) as traffic:
            decisions = Decisions(state, local.fleet.constraints, Demand.of(begin), filters="mqtt")
            controller = Controller(
                local.fleet, decisions, state, feed, Allowance(1_000_000), settings, lambda text: None
            )
            happenings = _Happenings(local, controller, coming, seed)
            controller.turn(time.time())
            traffic.prove(controller.plan())
            for _ in range(events):
                happened = time.perf_counter()
                happenings.next()
                proven, counts = traffic.prove(controller.plan())
                seconds.append(proven - happened)
                for name in totals:
                    totals[name] += getattr(counts, name)
            decisions.close()
    return {
        "brokers": BROKERS,
        "events": events,
        **happenings.kinds,
        "median": float(np.median(seconds)),
        "p99": float(np.percentile(seconds, 99)),
        "highest": max(seconds),
        "flowing": traffic.flowed,
        **totals,
        "seconds": time.monotonic() - began,
    }
