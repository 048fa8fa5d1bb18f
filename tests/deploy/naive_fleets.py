"""Running bridges as people write them, to see what real brokers do with them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping

from topicloom.deploy.clients import Clients
from topicloom.deploy.processes import LOOPBACK, Processes, free_ports

# A loop shows after a few rounds; more would only heat the machine.
ENOUGH = 60


def arrivals(
    bridges: Mapping[str, str], published: tuple[str, str], *, listen: str = "#", quiet_seconds: float = 0.5
) -> Counter[tuple[str, str]]:
    """How often one message arrives at each (broker, topic); an address such as `b:1883` stands for broker b.

    Stops early once one arrives so often that it must be going in circles.
    """
    ports = free_ports(list(bridges))
    found: Counter[tuple[str, str]] = Counter()

    def note(broker: str, topic: str, payload: bytes, _now: float) -> None:
        if payload == b"once":
            found[broker, topic] += 1

    with Processes(ports) as processes, Clients(ports, note) as clients:
        for name, text in bridges.items():
            local = re.sub(r"^(address )(\w+)(:\d+)?", lambda m: f"{m[1]}{LOOPBACK}:{ports[m[2]]}", text, flags=re.M)
            # So that every bridge is up soon, and is told apart from those of the other side.
            options = "restart_timeout 1\nnotifications_local_only true"
            processes.start(name, re.sub(r"^(connection .*)", rf"\1\n{options}", local, flags=re.M))
        for name in bridges:
            clients.open(name, [(listen, 0)])
        clients.wait_until_subscribed()
        expected = {name: len(re.findall("^connection ", text, re.M)) for name, text in bridges.items()}
        deadline = time.monotonic() + 15
        while any(len(clients.links_up[name]) < number for name, number in expected.items()):
            assert time.monotonic() < deadline, "some bridge does not come up"
            clients.serve(0.05)
        _settle(clients, 0.3)
        broker, topic = published
        clients.publish(broker, topic, b"once", 1)
        heard, last = time.monotonic(), 0
        while time.monotonic() - heard < quiet_seconds and found.total() < ENOUGH:
            clients.serve(0.05)
            if found.total() > last:
                heard, last = time.monotonic(), found.total()
    return found


def _settle(clients: Clients, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        clients.serve(0.05)
