"""Change a running fleet on loopback, and count what becomes of messages that flow meanwhile.

Steps go as `apply` takes them: one broker after the other, each with its links up before the next. Brokers keep what
waits over a restart, if they can. Clients are as careful applications have them: they come back, and publish later what
they could not. So what is lost is lost by the change of links.

Mosquitto and NATS read their links when they start, so a step is a restart; RabbitMQ takes definitions while it runs.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from topicloom.brokers.bridge_sessions import first_needed, let_arrive
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.flows import Message
from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.live import LiveWatch, accepting_first, local_brokers, on_loopback
from topicloom.brokers.local import Processes
from topicloom.brokers.plan import Plan
from topicloom.brokers.plan_file import configuration_of
from topicloom.errors import InputError


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


# So many of each topic, but no more in all than brokers and clients on one machine take lightly.
_MESSAGES_A_SECOND = 20
# Before the first step and after the last one, with messages; and how long late ones are waited for.
_AROUND_SECONDS = 1.0
_SILENCE_SECONDS = 5.0
_UP_SECONDS = 60.0


@dataclass(frozen=True)
class ChangeProof:
    """What a change under load showed: its steps, the topics that `diff` says are interrupted, seconds, messages."""

    brokers: int
    steps: int
    interrupted: tuple[str, ...]
    seconds: float
    counts: ChangeCounts


def prove_change(old: Plan, new: Plan, *, keep: bool = True, watch: LiveWatch | None = None) -> ChangeProof:
    """Run the brokers of a plan on this machine, and change them to another plan while messages flow.

    Args:
        old: the plan that they begin with.
        new: the plan that they end with, for brokers of the same kind.
        keep: whether sessions of new links are made ready before old links go, so that brokers keep what comes;
            Mosquitto alone can.
        watch: sees how far it is, and can stop it.
    """
    if old.target != new.target:
        raise InputError(f"one plan is for {old.target} and the other for {new.target}; a fleet is of one kind")
    with local_brokers(old, new, lasting=True) as processes:
        ports = processes.link_ports
        return change_running(on_loopback(old, ports), on_loopback(new, ports), processes, keep, watch)


def change_running(
    old: Plan, new: Plan, processes: Processes, keep: bool = True, watch: LiveWatch | None = None
) -> ChangeProof:
    """The same with processes that are there, on whose ports the plans are."""
    change = _Change(old, new, processes, watch or LiveWatch(), keep)
    with change.clients:
        return change.proof()


class _Change:
    def __init__(self, old: Plan, new: Plan, processes: Processes, watch: LiveWatch, keep: bool) -> None:
        self.old, self.new = old, new
        self.watch = watch
        self.difference = compare_plans(old, new)
        self.tally = ChangeTally(old, new)
        self.processes = processes
        self.clients = processes.clients(old, self._arrive)
        self.brokers = {**old.broker, **new.broker}
        steps = [(step.broker, not step.clear) for step in self.difference.steps]
        self.needed = first_needed(old, new, steps) if keep else {}
        self.changed = False
        self.failed: list[BaseException] = []

    def proof(self) -> ChangeProof:
        if not self.tally.sources:
            raise InputError("the plans have no topic in common, so nothing can flow during the change")
        self._start()
        self.watch.doing = "changing the fleet"
        self._flow(_AROUND_SECONDS)
        # Not the other way round: brokers end with the thread that started them.
        flowing = threading.Thread(target=self._flow_until_changed)
        flowing.start()
        began = time.perf_counter()
        try:
            self._change()
        finally:
            self.changed = True
            flowing.join()
        seconds = time.perf_counter() - began
        if self.failed:
            raise self.failed[0]
        self._flow(_AROUND_SECONDS)
        self._drain()
        counts = self.tally.counts()
        brokers = len(self.old.broker.keys() | self.new.broker.keys())
        return ChangeProof(brokers, len(self.difference.steps), self.difference.interrupted, seconds, counts)

    def _start(self) -> None:
        names = sorted(self.old.broker.keys() | self.new.broker.keys())
        for name in accepting_first(names, self.old.links):
            self.watch.look()
            self.processes.start(name, self._text(self.old, name))
        topics = {source.name: source.qos for source in self.tally.sources}
        for name in sorted(self.old.broker) if self.processes.needs_topics else names:
            self.clients.open(name, list(topics.items()))
        self.clients.wait_until_subscribed()
        deadline = time.monotonic() + _UP_SECONDS
        while any(self._links_down(name, self.old) for name in self.old.broker):
            self._require_in_time(deadline, "the links of the first plan")
            self._serve(0.05)
        self._settle()

    def _settle(self) -> None:
        """Let messages flow until one from each source has come everywhere, and forget them."""
        deadline = time.monotonic() + _UP_SECONDS
        while True:
            for _ in self.tally.sources:
                self._publish()
            until = time.monotonic() + 1.0
            while self.tally.missing and time.monotonic() < until:
                self._serve(0.05)
            settled = not self.tally.missing
            self.tally = ChangeTally(self.old, self.new)
            if settled:
                return
            self._require_in_time(deadline, "messages of the first plan")

    def _require_in_time(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            raise InputError(f"{what} do not come through within {_UP_SECONDS:.0f} s")

    def _change(self) -> None:
        """All steps, beside the thread that serves clients."""
        for number, step in enumerate(self.difference.steps):
            plan = None if step.clear or step.broker not in self.new.broker else self.new
            self._make_ready(number)
            self.processes.let_go(step.broker)
            self.processes.start(step.broker, self._text(plan or self._without_links(step.broker), step.broker))
            if plan is not None:
                self.clients.follow(plan, step.broker)
            deadline = time.monotonic() + _UP_SECONDS
            while plan is not None and not self.failed and self._links_down(step.broker, plan):
                self.watch.look()
                self._require_in_time(deadline, f"links of '{step.broker}'")
                time.sleep(0.01)

    def _make_ready(self, number: int) -> None:
        """Let brokers keep messages for the links that will take the place of others in this step."""
        for link in self.needed.get(number, []):
            kind_of(self.brokers[link[0]]).prepare(self.brokers, link, self.new.lines_of_link[link])
        if number in self.needed:
            let_arrive()

    def _links_down(self, name: str, plan: Plan) -> list[Pair]:
        return self.processes.links_down(plan, name, self.clients)

    def _text(self, plan: Plan, name: str) -> str:
        return configuration_of(plan if name in plan.broker else self._without_links(name), name)

    def _without_links(self, name: str) -> Plan:
        """A plan that has a broker, but no links."""
        return (self.old if name in self.old.broker else self.new).bare

    def _flow_until_changed(self) -> None:
        try:
            while not self.changed:
                self._flow(0.05)
        except BaseException as error:
            self.failed.append(error)

    def _flow(self, seconds: float) -> None:
        """Publish at an even rate for so long."""
        until = time.perf_counter() + seconds
        due, rate = time.perf_counter(), min(_MESSAGES_A_SECOND * self.tally.topics, self.processes.most_a_second)
        while (now := time.perf_counter()) < until:
            while due <= now:
                self._publish()
                due += 1 / rate
            self._serve(max(0.0, min(due, until) - time.perf_counter()))

    def _publish(self) -> None:
        broker, name, qos, payload = self.tally.next_message()
        self.clients.publish(broker, name, payload, qos)

    def _drain(self) -> None:
        """Wait for what is still on its way."""
        self.watch.doing = "waiting for late messages"
        missing, heard = self.tally.missing, time.monotonic()
        until = time.monotonic() + _AROUND_SECONDS
        while time.monotonic() < until or (missing and time.monotonic() - heard < _SILENCE_SECONDS):
            self._serve(0.05)
            if (now := self.tally.missing) < missing:
                missing, heard = now, time.monotonic()

    def _serve(self, seconds: float) -> None:
        self.watch.look()
        self.clients.serve(seconds)

    def _arrive(self, broker: str, _topic: str, payload: bytes, now: float) -> None:
        self.tally.arrive(broker, payload, now)
        self.watch.done += 1
