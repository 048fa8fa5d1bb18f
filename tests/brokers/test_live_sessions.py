"""Links that go down and come back: nothing is lost or doubled, and nothing of an older plan comes along."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from plans import plan_over

from topicloom.brokers import Plan
from topicloom.brokers.live import on_loopback
from topicloom.brokers.local import Clients, Processes, free_ports, on_ports
from topicloom.brokers.plan_file import configurations

pytestmark = pytest.mark.broker("mosquitto")

CHAIN = [("a", "b"), ("b", "c")]


class Running:
    """Brokers of a plan, and what has arrived at each."""

    def __init__(self, processes: Processes, clients: Clients, found: Counter[tuple[str, str, str]]) -> None:
        self.processes = processes
        self.clients = clients
        self.found = found

    def start(self, plan: Plan, *names: str) -> None:
        texts = configurations(on_loopback(plan, self.processes.ports))
        for name in names:
            self.processes.start(name, texts[name])
            self.clients.open(name, [("#", 2)])
        self.clients.wait_until_subscribed()

    def stop(self, name: str) -> None:
        self.clients.close(name)
        self.processes.stop(name)

    def wait_until_up(self, plan: Plan) -> None:
        opened = Counter(first for first, _ in plan.links)
        self.until(lambda: all(len(self.clients.links_up[name]) >= number for name, number in opened.items()))
        self.serve(0.5)

    def until(self, true: Callable[[], bool], seconds: float = 15) -> None:
        deadline = time.monotonic() + seconds
        while not true() and time.monotonic() < deadline:
            self.clients.serve(0.05)

    def serve(self, seconds: float) -> None:
        self.until(lambda: False, seconds)


@contextmanager
def running(names: str) -> Iterator[Running]:
    ports = free_ports(list(names))
    found: Counter[tuple[str, str, str]] = Counter()

    def note(broker: str, topic: str, payload: bytes, _now: float) -> None:
        found[broker, topic, payload.decode()] += 1

    with Processes(ports) as processes, Clients(on_ports(ports), note) as clients:
        yield Running(processes, clients, found)


@pytest.mark.parametrize("qos", [1, 2])
def test_what_is_published_while_a_link_is_down_arrives_once(qos: int) -> None:
    plan = plan_over([(name, "t") for name in "abc"], CHAIN)
    plan = replace(plan, qos=np.full_like(plan.qos, qos))
    with running("abc") as fleet:
        fleet.start(plan, "c", "b", "a")
        fleet.wait_until_up(plan)
        fleet.stop("b")
        sent = [str(number) for number in range(50)]
        for text in sent:
            fleet.clients.publish("a", "t", text.encode(), qos)
        fleet.serve(0.5)
        fleet.start(plan, "b")
        expected = {("a", "t", text) for text in sent} | {("c", "t", text) for text in sent}
        fleet.until(lambda: expected <= fleet.found.keys())
        fleet.serve(1)
        assert expected <= fleet.found.keys(), "nothing is lost"
        assert set(fleet.found.values()) == {1}, "nothing is doubled"


def test_a_topic_taken_off_a_link_no_longer_comes_over_it() -> None:
    pairs = [(name, topic) for name in "ab" for topic in ("t", "u")]
    old, new = plan_over(pairs, CHAIN[:1]), plan_over([*pairs[:1], *pairs[2:3], ("a", "v"), ("b", "v")], CHAIN[:1])
    with running("ab") as fleet:
        fleet.start(old, "b", "a")
        fleet.wait_until_up(old)
        fleet.clients.publish("b", "u", b"before", 1)
        fleet.until(lambda: fleet.found["a", "u", "before"] > 0)
        assert fleet.found["a", "u", "before"] == 1
        fleet.stop("a")
        fleet.start(new, "a")
        fleet.wait_until_up(new)
        fleet.clients.publish("b", "u", b"after", 1)
        fleet.clients.publish("b", "t", b"after", 1)
        fleet.until(lambda: fleet.found["a", "t", "after"] > 0)
        fleet.serve(0.5)
        assert fleet.found["a", "t", "after"] == 1
        assert fleet.found["a", "u", "after"] == 0
