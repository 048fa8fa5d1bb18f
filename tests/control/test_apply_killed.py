"""Applying killed at its writes, before, within and after them: the next run ends where it was to go."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from folder_fleets import FIRST, SECOND, FolderFleet, assert_has

from topicloom.control.applying.fleet_state import opened
from topicloom.deploy import Plan

WRITES = ("write", "fsync", "open", "ftruncate")


def watched(call: Callable[..., Any], countdown: list[int], how: str) -> Callable[..., Any]:
    """The same call, which kills the process when its turn has come."""

    def instead(*arguments: Any, **named: Any) -> Any:
        countdown[0] -= 1
        if countdown[0] == 0:
            if how == "within" and call is os.write:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            elif how == "after":
                call(*arguments, **named)
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)

    return instead


def apply_and_die(fleet: FolderFleet, plan: Plan, turn: int, how: str) -> bool:
    """Apply in a child that dies at a turn; tell whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            countdown = [turn]
            for name in WRITES:
                setattr(os, name, watched(getattr(os, name), countdown, how))
            Path.replace = watched(Path.replace, countdown, how)  # type: ignore[method-assign]
            fleet.apply(plan)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads, which do nothing here
@pytest.mark.parametrize("how", ["before", "within", "after"])
def test_killed_at_a_random_write(tmp_path: Path, how: str) -> None:
    draw = random.Random(how)
    for number in range(5):
        # Without a reload no other process is started, so that all time is spent in writes.
        fleet = FolderFleet(tmp_path / str(number), reload=None)
        first, second = fleet.plan(FIRST), fleet.plan(SECOND)
        fleet.apply(first)
        turn = draw.randrange(1, 40)
        apply_and_die(fleet, second, turn, how)
        apply_and_die(fleet, second, draw.randrange(1, 10), how)
        with opened(fleet.state) as state:
            begun = state.move is not None or len(state.earlier) > 1
        if begun and number % 2:
            fleet.roll_back()
            assert_has(fleet, first)
        else:
            fleet.apply(second)
            assert_has(fleet, second)
