"""Run a planned fleet as real brokers on loopback, and count every message.

Messages are numbered: each arrives once, twice, never, or where it is not wanted. Brokers run on loopback ports,
without TLS and passwords; the bridges are those that `render` writes, but for their addresses. Mosquitto 2.0 reads
bridges only when it starts, so a broker with a new configuration is restarted.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds import kind_of, one_tree
from topicloom.brokers.local import LOOPBACK, Processes
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Plan, make_plan
from topicloom.brokers.plan_file import configurations
from topicloom.churn import maintainer
from topicloom.churn.maintainer import broken_topics
from topicloom.churn.tree import TreeMaintainer
from topicloom.errors import InputError
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.events import topics_by_node
from topicloom.model.fleet import Fleet
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


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


# Messages that may be under way at once. Mosquitto drops what waits beyond 1,000 for one client.
_WINDOW = 500
_UP_SECONDS = 60.0
# Nothing more is expected after so long without an arrival; and so long late copies are waited for.
_SILENCE_SECONDS = 10.0
_LATE_SECONDS = 0.5
# Rounds before the count, each with so much more patience than the one before.
_ROUNDS = 20
_ROUND_SILENCE_SECONDS = 0.2


class LiveStopped(Exception):  # noqa: N818 - it is no error
    """The proof was asked to stop."""


class LiveWatch:
    """Says how far a proof is, and can ask it to stop."""

    def __init__(self) -> None:
        self.done = 0
        self.doing = "starting brokers"
        self._stopped = False

    def stop(self) -> None:
        """Ask it to stop."""
        self._stopped = True

    def look(self) -> None:
        """Raise `LiveStopped` where it was asked to stop."""
        if self._stopped:
            raise LiveStopped


@dataclass(frozen=True)
class Mending:
    """How the fleet went on without a broker: what changed, who was restarted, and how long it took."""

    broker: str
    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]
    reloaded: tuple[str, ...]
    seconds: float
    counts: DeliveryCounts


@dataclass(frozen=True)
class Proof:
    """What a live run showed: until all links were up, the messages and their seconds, and a mending if asked for."""

    brokers: int
    links: int
    topics: int
    seconds_until_up: float
    counts: DeliveryCounts
    seconds: float
    mending: Mending | None = None

    @property
    def perfect(self) -> bool:
        """Whether every message arrived once wherever it is wanted, and nowhere else."""
        return self.counts.perfect and (self.mending is None or self.mending.counts.perfect)


def prove(
    plan: Plan,
    *,
    messages: int = 1000,
    kill: str | None = None,
    watch: LiveWatch | None = None,
) -> Proof:
    """Run a plan's brokers on this machine, publish numbered messages and count what arrives.

    Args:
        plan: its addresses, TLS and passwords are left aside.
        messages: how many in all; at least one from every publisher of every topic.
        kill: a broker to stop afterwards; the overlay is then mended, and delivery proven again.
        watch: sees how far it is, and can stop it.
    """
    if kill is not None and kill not in plan.broker:
        raise InputError(f"the plan has no broker {quoted(kill)} to stop")
    if kill is not None and len(plan.brokers) == 1:
        raise InputError(f"{quoted(kill)} is the only broker of the plan; nothing would be left")
    if kill is not None:
        # What cannot be mended is refused before any broker runs, and kernels are compiled before time counts.
        plan_without(plan, kill)
    with local_brokers(plan, plan, lasting=False) as processes:
        fleet = LiveFleet(on_loopback(plan, processes.link_ports), processes, watch or LiveWatch())
        with fleet.clients:
            return fleet.proof(messages, kill)


def local_brokers(old: Plan, new: Plan, *, lasting: bool) -> Processes:
    """Return processes for the brokers of two plans, which are of one kind."""
    brokers = {**old.broker, **new.broker}
    kinds = {kind_of(broker) for broker in brokers.values()}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.name for kind in kinds))
        raise InputError(f"brokers of several kinds, {names}, cannot be run together on this machine")
    return kinds.pop().local(sorted(brokers), lasting=lasting)


def on_loopback(plan: Plan, ports: dict[str, int]) -> Plan:
    """The plan with its brokers on this machine, without TLS and passwords."""
    brokers = tuple(
        replace(broker, host=LOOPBACK, port=ports[broker.name], tls=None, credentials=None) for broker in plan.brokers
    )
    return replace(plan, brokers=brokers)


class LiveFleet:
    """Brokers and clients of a plan that may change."""

    def __init__(self, plan: Plan, processes: Processes, watch: LiveWatch) -> None:
        self.plan = plan
        self.processes = processes
        self.watch = watch
        self.clients = processes.clients(plan, self._arrive)
        self.tally: DeliveryTally | None = None
        self.runs = 0

    def proof(self, messages: int, kill: str | None) -> Proof:
        """Start the brokers, let messages flow and count them; then once more without one of them."""
        plan, began = self.plan, time.perf_counter()
        self._start(configurations(plan))
        self._wait_until_up()
        up = time.perf_counter()
        counts = self._count(messages)
        seconds = time.perf_counter() - up
        proof = Proof(len(plan.brokers), len(plan.links), len(plan.routes), up - began, counts, seconds)
        if kill is None:
            return proof
        return replace(proof, mending=self._mended(kill, messages))

    def _mended(self, broker: str, messages: int) -> Mending:
        self.watch.doing = f"going on without {broker}"
        old = self.plan
        self.clients.close(broker)
        self.processes.stop(broker)
        began = time.perf_counter()
        before = configurations(old)
        self.plan = plan_without(old, broker)
        after = configurations(self.plan)
        changed = {name: text for name, text in after.items() if text != before[name]}
        for name in changed:
            self.clients.close(name)
            self.processes.let_go(name)
        self._start(changed)
        self._wait_until_up()
        seconds = time.perf_counter() - began
        links, old_links = set(self.plan.links), set(old.links)
        return Mending(
            broker=broker,
            added=tuple(sorted(links - old_links)),
            removed=tuple(sorted(old_links - links)),
            reloaded=tuple(changed),
            seconds=seconds,
            counts=self._count(messages),
        )

    def _start(self, bridges: dict[str, str]) -> None:
        for name in accepting_first(list(bridges), self.plan.links):
            self.watch.look()
            self.processes.start(name, bridges[name])
        self.clients.follow(self.plan)
        for name in bridges:
            # All topics of the plan, each by its name: what comes unwanted must be heard too.
            topics = [
                (message.name, route.qos)
                for route in self.plan.routes
                for message in route.messages
                if self.processes.carries_patterns
                or self.plan.interest.filters is None
                or name in message.wanting
                or name not in route.neighbours
            ]
            self.clients.open(name, topics)
        self.clients.wait_until_subscribed()

    def _wait_until_up(self) -> None:
        """Wait until all links are up, and until a message from everywhere has come through on every topic.

        A link counts as up once it is connected; its subscriptions may take a moment more.
        """
        self.watch.doing = "waiting for links"
        deadline = time.monotonic() + _UP_SECONDS
        while missing := self._links_down():
            if time.monotonic() > deadline:
                some = ", ".join(f"{first} - {second}" for first, second in missing[:3])
                raise InputError(f"{len(missing)} links are not up after {_UP_SECONDS:.0f} s: {some}")
            self._serve(0.05)
        for round_ in range(1, _ROUNDS + 1):
            if self._run(0, round_ * _ROUND_SILENCE_SECONDS).complete:
                return
        raise InputError(f"after {_ROUNDS} rounds messages still do not reach every subscriber")

    def _links_down(self) -> list[Pair]:
        return [
            link
            for broker in self.plan.brokers
            for link in self.processes.links_down(self.plan, broker.name, self.clients)
        ]

    def _count(self, messages: int) -> DeliveryCounts:
        self.watch.doing = "messages"
        tally = self._run(messages, _SILENCE_SECONDS)
        until = time.monotonic() + _LATE_SECONDS
        while time.monotonic() < until:
            self._serve(0.05)
        return tally.counts()

    def _run(self, messages: int, silence_seconds: float) -> DeliveryTally:
        """Publish and count until all has arrived, or nothing has for a while."""
        self.runs += 1
        tally = self.tally = DeliveryTally(self.plan, b"%d" % self.runs, messages)
        delivered, heard = 0, time.monotonic()
        while not tally.complete and time.monotonic() - heard < silence_seconds:
            while tally.under_way < _WINDOW and (message := tally.next_message()) is not None:
                broker, name, qos, payload = message
                self.clients.publish(broker, name, payload, qos)
            self._serve(0.05)
            if tally.delivered > delivered:
                delivered, heard = tally.delivered, time.monotonic()
                self.watch.done = delivered
        return tally

    def _serve(self, seconds: float) -> None:
        self.watch.look()
        self.clients.serve(seconds)

    def _arrive(self, broker: str, _topic: str, payload: bytes, now: float) -> None:
        if self.tally is not None:
            self.tally.arrive(broker, payload, now)


def accepting_first(names: Sequence[str], links: Sequence[Pair]) -> list[str]:
    """The brokers, as far as possible each after those it opens links to, which then listen already."""
    opens: dict[str, list[str]] = {name: [] for name in names}
    for first, second in links:
        if first in opens and second in opens:
            opens[first].append(second)
    order: dict[str, None] = {}
    for name in names:
        waiting = [name]
        visited = {name}
        while waiting:
            missing = [other for other in opens[waiting[-1]] if other not in order and other not in visited]
            if missing:
                waiting.append(missing[0])
                visited.add(missing[0])
            else:
                order[waiting.pop()] = None
    return list(order)


def plan_without(plan: Plan, broker: str) -> Plan:
    """The plan for the fleet after a broker is gone, over the overlay as mended."""
    interest = interest_of(plan, without=broker)
    if one_tree(plan.brokers):
        links: list[Pair] = list(TreeMaintainer(topics_by_node(interest), plan.links, _allowed(plan)).links)
    else:
        links = mended(Overlay.from_links(interest_of(plan), plan.links), broker, _allowed(plan))
    overlay = Overlay.from_links(interest, [link for link in links if set(link) <= set(interest.node_names)])
    brokers = {other.name: other for other in plan.brokers if other.name in interest.node_ids}
    qos = {
        pattern: route.qos
        for route in plan.routes
        for side in route.sides
        for patterns in side.values()
        for pattern in patterns
    }
    fleet = Fleet(MappingProxyType(brokers), topic_qos=MappingProxyType(qos))
    return make_plan(interest, overlay, fleet, target=plan.target, relays=bool(plan.made.get("relays")))


def _allowed(plan: Plan) -> Constraints:
    """The links that brokers can open, where one end at least accepts connections."""
    return Constraints({broker.name: NodeRule(accepts=broker.accepts) for broker in plan.brokers})


def interest_of(plan: Plan, *, without: str | None = None) -> Interest:
    """Who wants and publishes what by a plan, perhaps without one of its brokers.

    Roles stay as they are: what only that one published is silent, and needs no links.
    """
    rows = [
        (broker, pattern, role)
        for route in plan.routes
        for role, side in zip(("sub", "pub"), route.sides, strict=True)
        for broker, patterns in side.items()
        for pattern in patterns
        if broker != without
    ]
    filters = next((route.filters for route in plan.routes if route.filters), None)
    return Interest.from_roles(rows, filters=filters, assume_publishers=False)


def mended(overlay: Overlay, leaving: str, constraints: Constraints | None = None) -> list[Pair]:
    """The links after a node is gone: mended by its shadow set, or those left where topics need relays anyway."""
    if not broken_topics(overlay):
        maintained = maintainer(overlay, constraints=constraints)
        maintained.leave(leaving)
        overlay = maintained.overlay()
    links = overlay.to_arrow().to_pydict()
    return [link for link in zip(links["source"], links["target"], strict=True) if leaving not in link]
