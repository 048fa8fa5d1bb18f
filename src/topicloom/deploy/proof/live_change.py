"""A running fleet moved from one plan to another while messages flow, and what that does to them.

Brokers keep what waits over a restart, where they can, and clients come back as careful applications do; so what is
lost is lost by the change of links. Steps go as `apply` takes them: one broker after the other, each with its links up
before the next.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from topicloom.deploy.planning.diff import compare_plans
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.proof.change_tally import ChangeCounts, ChangeTally
from topicloom.deploy.proof.changing_fleets import ChangingFleet, ChangingMosquittos, ChangingNats, ChangingRabbits
from topicloom.deploy.proof.live import LiveWatch, accepting_first, on_loopback
from topicloom.deploy.proof.loopback_ports import free_ports
from topicloom.deploy.proof.nats_fleet import NatsProcesses
from topicloom.deploy.proof.processes import Processes
from topicloom.deploy.proof.rabbitmq_fleet import RabbitProcesses
from topicloom.errors import InputError

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
    names = sorted(old.broker.keys() | new.broker.keys())
    ports = free_ports(names)
    link_ports = free_ports(names, ports.values()) if old.target == "nats" else ports
    with _processes(old.target, ports, link_ports) as processes:
        return change_running(on_loopback(old, link_ports), on_loopback(new, link_ports), processes, keep, watch)


def _processes(target: str, ports: dict[str, int], link_ports: dict[str, int]) -> Processes:
    if target == "nats":
        return NatsProcesses(ports, link_ports)
    return RabbitProcesses(ports) if target == "rabbitmq" else Processes(ports, lasting=True)


def change_running(
    old: Plan, new: Plan, processes: Processes, keep: bool = True, watch: LiveWatch | None = None
) -> ChangeProof:
    """The same with processes that are there, on whose ports the plans are."""
    change = _Change(old, new, processes, watch or LiveWatch(), keep)
    with change.fleet.clients:
        return change.proof()


class _Change:
    def __init__(self, old: Plan, new: Plan, processes: Processes, watch: LiveWatch, keep: bool) -> None:
        self.old, self.new = old, new
        self.watch = watch
        self.difference = compare_plans(old, new)
        self.tally = ChangeTally(old, new)
        self.fleet = self._fleet(processes, keep)
        self.changed = False
        self.failed: list[BaseException] = []

    def _fleet(self, processes: Processes, keep: bool) -> ChangingFleet:
        if isinstance(processes, NatsProcesses):
            return ChangingNats(self.old, self.new, processes, self._arrive)
        if isinstance(processes, RabbitProcesses):
            return ChangingRabbits(self.old, self.new, processes, self._arrive)
        steps = [(step.broker, not step.clear) for step in self.difference.steps]
        return ChangingMosquittos(self.old, self.new, processes, self._arrive, steps, keep)

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
            self.fleet.begin(name)
        topics = {source.name: source.qos for source in self.tally.sources}
        for name in self.fleet.listening:
            self.fleet.clients.open(name, list(topics.items()))
        self.fleet.clients.wait_until_subscribed()
        deadline = time.monotonic() + _UP_SECONDS
        while not all(self.fleet.is_linked(name, self.old) for name in self.old.broker):
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
            self.fleet.make_ready(number)
            self.fleet.take(step.broker, plan)
            deadline = time.monotonic() + _UP_SECONDS
            while plan is not None and not self.failed and not self.fleet.is_linked(step.broker, plan):
                self.watch.look()
                self._require_in_time(deadline, f"links of '{step.broker}'")
                time.sleep(0.01)

    def _flow_until_changed(self) -> None:
        try:
            while not self.changed:
                self._flow(0.05)
        except BaseException as error:
            self.failed.append(error)

    def _flow(self, seconds: float) -> None:
        """Publish at an even rate for so long."""
        until = time.perf_counter() + seconds
        due, rate = time.perf_counter(), min(_MESSAGES_A_SECOND * self.tally.topics, self.fleet.most_a_second)
        while (now := time.perf_counter()) < until:
            while due <= now:
                self._publish()
                due += 1 / rate
            self._serve(max(0.0, min(due, until) - time.perf_counter()))

    def _publish(self) -> None:
        broker, name, qos, payload = self.tally.next_message()
        self.fleet.clients.publish(broker, name, payload, qos)

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
        self.fleet.clients.serve(seconds)

    def _arrive(self, broker: str, _topic: str, payload: bytes, now: float) -> None:
        self.tally.arrive(broker, payload, now)
        self.watch.done += 1
