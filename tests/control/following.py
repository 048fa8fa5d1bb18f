"""A controller that is let work until it has said something and the fleet is as it wants it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from topicloom.control.applying.fleet_state import FleetState, plan_id
from topicloom.control.watching.controller import Controller


def turns_until(controller: Controller, state: FleetState, said: Sequence[str], text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in said or state.move is not None or state.has != plan_id(controller.plan()):
        assert time.monotonic() < deadline, said
        controller.turn(time.time())
        time.sleep(0.05)
