"""A controller over real NATS servers: one that is killed is mended around, and taken in when it is back."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from following import turns_until, wait_until_all_answer

from machine import NATS
from topicloom import Interest
from topicloom.brokers import Plan
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.health import answers
from topicloom.brokers.kinds.nats_servers import NatsClients
from topicloom.brokers.live import DeliveryTally
from topicloom.brokers.local import LOOPBACK, free_ports, on_ports
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Allowance, Controller, WatchSettings
from topicloom.model.demand import Demand

pytestmark = pytest.mark.broker("nats")

# Everybody wants the one topic, and two each of the others.
WANTED = [*((name, "t") for name in "abcd"), ("a", "u"), ("b", "u"), ("c", "v"), ("d", "v")]
CONFIGURATION = """
listen: "127.0.0.1:{client}"
http: "127.0.0.1:{web}"
leafnodes {{
  listen: "127.0.0.1:{leaf}"
  reconnect: 1
  include "./remotes.conf"
}}
"""
# Ends the server of a folder, if it runs, and starts it; one that nobody has asked about yet is not alive.
RESTART = f"""#!/bin/sh
cd "$1"
if [ -f pid ]; then
    kill -9 $(cat pid) 2>/dev/null
    while case $(ps -o stat= -p $(cat pid)) in '' | Z*) false ;; esac; do sleep 0.01; done
fi
{NATS} -c nats.conf </dev/null >>log 2>&1 &
echo $! >pid
"""


class NatsServers:
    """Servers in folders, which a script restarts, as `watch` needs them."""

    def __init__(self, folder: Path, names: str) -> None:
        self.folder = folder
        self.clients = free_ports(list(names))
        self.leafs = free_ports(list(names), self.clients.values())
        webs = free_ports(list(names), {*self.clients.values(), *self.leafs.values()})
        self.script = folder / "restart"
        folder.mkdir()
        self.script.write_text(RESTART)
        self.script.chmod(0o755)
        for name in names:
            home = folder / name
            home.mkdir()
            ports = {"client": self.clients[name], "web": webs[name], "leaf": self.leafs[name]}
            (home / "nats.conf").write_text(CONFIGURATION.format(**ports))
            (home / "remotes.conf").write_text("remotes: []\n")
        apply = {
            "via": "folder",
            "path": f"{folder}/{{broker}}/remotes.conf",
            "reload": f"{self.script} {folder}/{{broker}}",
            "seconds": 20,
        }
        brokers = {
            name: {"host": LOOPBACK, "port": port, "apply": {"monitor": f"http://{LOOPBACK}:{webs[name]}"}}
            for name, port in self.leafs.items()
        }
        self.fleet = fleet_from_tables({"defaults": {"apply": apply}, "brokers": brokers})

    def restart(self, name: str) -> None:
        subprocess.run([self.script, self.folder / name], check=True)

    def kill(self, name: str) -> None:
        os.kill(int((self.folder / name / "pid").read_text()), signal.SIGKILL)
        while answers(self.fleet.brokers[name], "nats"):
            time.sleep(0.01)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[NatsServers]:
    made = NatsServers(tmp_path / "fleet", "abcd")
    try:
        for name in "abcd":
            made.restart(name)
        wait_until_all_answer(made.fleet, "nats")
        yield made
    finally:
        for name in "abcd":
            made.kill(name)


def delivered(servers: NatsServers, plan: Plan) -> int:
    """Rounds of messages from every publisher, until one has arrived as planned; how many deliveries that is."""
    tally = DeliveryTally(plan, b"0", 0)
    with NatsClients(on_ports(servers.clients), lambda at, _, payload, now: tally.arrive(at, payload, now)) as clients:
        for name in plan.broker:
            clients.open(name, [(route.topic, 0) for route in plan.routes])
        clients.wait_until_subscribed()
        for round_ in range(1, 40):
            tally = DeliveryTally(plan, b"%d" % round_, 0)
            while (message := tally.next_message()) is not None:
                clients.publish(message[0], message[1], message[3], 0)
            until = time.monotonic() + 0.5
            while not tally.complete and time.monotonic() < until:
                clients.serve(0.02)
            if tally.complete:
                assert tally.counts().perfect
                return tally.counts().delivered
    raise AssertionError(tally.missing())


def test_a_killed_server(tmp_path: Path, servers: NatsServers) -> None:
    settings = WatchSettings(target="nats", apply=True, down_seconds=0.2, up_seconds=0.2)
    said: list[str] = []
    with opened(tmp_path / "state") as state:
        wanted = Demand.from_interest(Interest.from_pairs(WANTED))
        decisions = Decisions(state, servers.fleet.constraints, wanted, tree=True)
        made = Controller(servers.fleet, decisions, state, lambda: ([], []), Allowance(99), settings, said.append)

        made.turn(time.time())
        assert delivered(servers, made.plan()) == 4 * 4 + 2 * 2 + 2 * 2
        middle = max("abcd", key=lambda name: len(made.plan().links_of[name]))
        servers.kill(middle)
        turns_until(made, state, said, f"{middle} is gone")
        # Nobody else wants what was wanted by that one and another.
        assert delivered(servers, made.plan()) == 3 * 3 + 1 + 2 * 2
        servers.restart(middle)
        turns_until(made, state, said, f"{middle} is back")
        assert delivered(servers, made.plan()) == 4 * 4 + 2 * 2 + 2 * 2
        decisions.close()
