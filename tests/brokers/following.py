"""Decisions in a store of their own, and waiting for a fleet until it is as it should be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from topicloom.brokers import Fleet
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.health import answers
from topicloom.brokers.store import FleetState, opened
from topicloom.brokers.watch import Controller
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand


class Decided(Decisions):
    """Decisions in a folder, without a fleet; `close` ends the store, too."""

    def __init__(self, folder: Path, constraints: Constraints, begin: Demand | None, **more: Any) -> None:
        with ExitStack() as stack:
            super().__init__(stack.enter_context(opened(folder)), constraints, begin, **more)
            self._stack = stack.pop_all()

    def close(self) -> None:
        super().close()
        self._stack.close()

    def killed(self) -> None:
        """End as a killed process does."""
        self._stack.close()


def wait_until_all_answer(fleet: Fleet, target: str = "mosquitto") -> None:
    deadline = time.monotonic() + 30
    while not all(answers(broker, target) for broker in fleet.brokers.values()):
        assert time.monotonic() < deadline, "a broker does not start"
        time.sleep(0.01)


def turns_until(controller: Controller, state: FleetState, said: Sequence[str], text: str) -> None:
    """Let a controller work until it has said something and the fleet is as it wants it."""
    deadline = time.monotonic() + 30
    while text not in said or state.move is not None or state.has != controller.plan().id:
        assert time.monotonic() < deadline, said
        controller.turn(time.time())
        time.sleep(0.05)
