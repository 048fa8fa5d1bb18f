"""Running bridges as people write them, to see what real brokers do with them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType

from topicloom.brokers.local import LOOPBACK, Clients, Processes, free_ports, on_ports

# A loop shows after a few rounds; more would only heat the machine.
ENOUGH = 60
_UP_SECONDS = 30.0
_QUIET_SECONDS = 0.5

Place = tuple[str, str]


class NaiveFleets:
    """Several fleets that know nothing of each other, started together as that is quicker."""

    def __init__(self, fleets: Mapping[str, Mapping[str, str]]) -> None:
        self._fleets = fleets
        ports = free_ports([f"{fleet}|{name}" for fleet, bridges in fleets.items() for name in bridges])
        self._found: Counter[Place] = Counter()
        self._stack = ExitStack()
        self._processes = Processes(ports)
        self._clients = Clients(on_ports(ports), self._note)

    def __enter__(self) -> NaiveFleets:
        self._stack.enter_context(self._processes)
        self._stack.enter_context(self._clients)
        expected = {}
        for fleet, bridges in self._fleets.items():
            for name, text in bridges.items():
                broker = f"{fleet}|{name}"
                self._processes.start(broker, self._local(fleet, name, text))
                self._clients.open(broker, [("#", 0)])
                expected[broker] = text.count("connection ")
        self._clients.wait_until_subscribed()
        deadline = time.monotonic() + _UP_SECONDS
        while any(len(self._clients.links_up[broker]) < number for broker, number in expected.items()):
            assert time.monotonic() < deadline, "some bridge does not come up"
            self._clients.serve(0.05)
        self._wait(_QUIET_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stack.close()

    def arrivals(self, fleet: str, broker: str, topic: str) -> Counter[Place]:
        """How often one message arrives at each (broker, topic) of a fleet, which is stopped then.

        Ends early once there are so many arrivals that it must be going in circles.
        """
        self._found.clear()
        self._clients.publish(f"{fleet}|{broker}", topic, b"once", 1)
        heard, last = time.monotonic(), 0
        while time.monotonic() - heard < _QUIET_SECONDS and self._found.total() < ENOUGH:
            self._clients.serve(0.05)
            if self._found.total() > last:
                heard, last = time.monotonic(), self._found.total()
        for name in self._fleets[fleet]:
            self._clients.close(f"{fleet}|{name}")
            self._processes.stop(f"{fleet}|{name}")
        return Counter(self._found)

    def _local(self, fleet: str, name: str, text: str) -> str:
        """The bridges with addresses on this machine; `b:1883` is the broker b of the same fleet.

        Connections get names that differ within the machine, try again soon, and tell only their own broker that they
        are up.
        """
        text = re.sub(
            r"^address (\w+)(:\d+)?",
            lambda found: f"address {LOOPBACK}:{self._processes.ports[f'{fleet}|{found[1]}']}",
            text,
            flags=re.MULTILINE,
        )
        options = "restart_timeout 1\nnotifications_local_only true"
        return re.sub(r"^connection (.*)", rf"connection {name}-\1\n{options}", text, flags=re.MULTILINE)

    def _note(self, broker: str, topic: str, payload: bytes, _now: float) -> None:
        if payload == b"once":
            self._found[broker.split("|")[1], topic] += 1

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._clients.serve(0.05)
