"""A fleet of real Mosquittos under control: how long from an event to proven delivery, and whether that is perfect."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.apply_kills import SCRIPT
from topicloom.control.applying.fleet_state import opened
from topicloom.control.watching.allowance import Allowance
from topicloom.control.watching.controller import Controller, WatchSettings
from topicloom.control.watching.decisions import Decisions
from topicloom.deploy import Fleet, Plan
from topicloom.deploy.proof.clients import Clients
from topicloom.deploy.proof.delivery_tally import DeliveryCounts, DeliveryTally
from topicloom.deploy.proof.processes import LOOPBACK, free_ports
from topicloom.model.events import Event
from topicloom.workloads import synthetic

BROKERS, TOPICS = 30, 40
_LATE_SECONDS = 0.3


def _proven(plan: Plan) -> DeliveryCounts:
    """Messages from everywhere, round by round until all arrive, and the counts of one more round."""
    heard: list[DeliveryTally] = []

    def arrive(broker: str, _topic: str, payload: bytes, now: float) -> None:
        heard[-1].arrive(broker, payload, now)

    topics = [(message.name, route.qos) for route in plan.routes for message in route.messages]
    complete = False
    with Clients(plan.broker, arrive, f"bench-{os.getpid()}") as clients:
        for name in plan.broker:
            clients.open(name, topics)
        heard.append(DeliveryTally(plan, b"none", 0))
        clients.wait_until_subscribed()
        for number in range(60):
            tally = DeliveryTally(plan, b"%d" % number, 0)
            heard.append(tally)
            while (message := tally.next_message()) is not None:
                broker, name, qos, payload = message
                clients.publish(broker, name, payload, qos)
            until = time.monotonic() + (5.0 if complete else 0.5)
            while not tally.complete and time.monotonic() < until:
                clients.serve(0.02)
            if complete:
                until = time.monotonic() + _LATE_SECONDS
                while time.monotonic() < until:
                    clients.serve(0.02)
                return tally.counts()
            complete = tally.complete
    raise AssertionError("messages do not come through")


def main(events: int, seed: int = 1) -> None:
    """Kill, restart and change brokers of a fleet, and print what came of it."""
    draw = random.Random(seed)
    interest = synthetic(BROKERS, TOPICS, popularity="uniform", sizes="uniform", min_topics=3, max_topics=6, seed=3)
    names = list(interest.node_names)
    settings = WatchSettings(apply=True, down_seconds=0.3, up_seconds=0.3)
    seconds, lost, doubled, unwanted, delivered = [], 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as made:
        folder, state_folder = Path(made) / "fleet", Path(made) / "state"
        ports = free_ports(names)
        apply = {
            "via": "folder",
            "path": f"{folder}/{{broker}}/conf.d/topicloom.conf",
            "reload": f"{SCRIPT} restart {folder} {{broker}}",
            "seconds": 30,
        }
        table = {name: {"host": LOOPBACK, "port": port} for name, port in ports.items()}
        fleet = Fleet.from_tables({"defaults": {"apply": apply}, "brokers": table})
        for name in names:
            subprocess.run([SCRIPT, "new", folder, name, str(ports[name])], check=True)
        try:
            with opened(state_folder) as state:
                decisions = Decisions(state_folder, fleet.constraints, interest)
                waiting: list[Event] = []

                def feed() -> tuple[list[Event], list[str]]:
                    taken = list(waiting)
                    waiting.clear()
                    return taken, []

                limits = Allowance(1_000_000)
                one = Controller(fleet, decisions, state, feed, limits, settings, lambda text: None)
                one.turn(time.time())
                _proven(one.plan())
                down: list[str] = []
                for number in range(events):
                    kind = draw.choice(["kill", "back", "change", "change"])
                    there = sorted(set(decisions.wanted) - decisions.away - set(down))
                    began = time.perf_counter()
                    if kind == "kill" and len(down) < 5:
                        name = draw.choice(there)
                        down.append(name)
                        os.kill(int((folder / name / "pid").read_text()), signal.SIGKILL)
                        _turn_until(one, lambda name=name: name in decisions.away)
                    elif kind == "back" and down:
                        name = down.pop(0)
                        subprocess.run([SCRIPT, "restart", folder, name], check=True)
                        _turn_until(one, lambda name=name: name not in decisions.away)
                    else:
                        name = draw.choice(there)
                        add = sorted({f"t{i:02}" for i in range(1, TOPICS + 1)} - decisions.wanted[name])[:1]
                        waiting.append(Event(number + 1, "change", name, tuple(add), (min(decisions.wanted[name]),)))
                        one.turn(time.time())
                    counts = _proven(one.plan())
                    seconds.append(time.perf_counter() - began - _LATE_SECONDS)
                    lost, doubled = lost + counts.lost, doubled + counts.doubled
                    unwanted, delivered = unwanted + counts.unwanted, delivered + counts.delivered
                decisions.close()
        finally:
            for name in names:
                subprocess.run([SCRIPT, "stop", folder, name], check=False)
    median, p99 = np.median(seconds), np.percentile(seconds, 99)
    print(
        f"{BROKERS} brokers, {events} events: {median:.2f} s to proven delivery (median), {p99:.2f} s (p99); "
        f"{delivered} deliveries, {lost} lost, {doubled} doubled, {unwanted} unwanted"
    )


def _turn_until(one: Controller, true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not (true() and one.waiting is None and one.state.move is None):
        assert time.monotonic() < deadline, one.waiting
        one.turn(time.time())
        time.sleep(0.1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
