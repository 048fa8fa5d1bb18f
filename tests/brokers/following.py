"""Waiting for a fleet: until its brokers have started, and until a controller has it as it wants it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from topicloom.brokers import Fleet
from topicloom.brokers.health import answers
from topicloom.brokers.store import FleetState, plan_id
from topicloom.brokers.watch import Controller


def wait_until_all_answer(fleet: Fleet, target: str = "mosquitto") -> None:
    deadline = time.monotonic() + 30
    while not all(answers(broker, target) for broker in fleet.brokers.values()):
        assert time.monotonic() < deadline, "a broker does not start"
        time.sleep(0.01)


def turns_until(controller: Controller, state: FleetState, said: Sequence[str], text: str) -> None:
    """Let a controller work until it has said something and the fleet is as it wants it."""
    deadline = time.monotonic() + 30
    while text not in said or state.move is not None or state.has != plan_id(controller.plan()):
        assert time.monotonic() < deadline, said
        controller.turn(time.time())
        time.sleep(0.05)
