"""Applying killed at its writes, before, within and after them: the next run ends where it was to go."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, FolderFleet, assert_has

from killed_writes import dies_at
from topicloom.brokers.store import opened
from topicloom.io import whole


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads, which do nothing here
@pytest.mark.parametrize("how", ["before", "within", "after"])
def test_killed_at_a_random_write(tmp_path: Path, how: str) -> None:
    draw = random.Random(how)
    for number in range(5):
        # Without a reload no other process is started, so that all time is spent in writes.
        fleet = FolderFleet(tmp_path / str(number), reload=None)
        first, second = fleet.plan(FIRST), fleet.plan(SECOND)
        fleet.apply(first)
        for turn in (draw.randrange(1, 40), draw.randrange(1, 10)):
            dies_at(turn, how, partial(fleet.apply, second))
        whole._cleared.clear()  # the next run is a process of its own, which clears what this one left
        with opened(fleet.state) as state:
            begun = state.move is not None or len(state.earlier) > 1
        if begun and number % 2:
            fleet.roll_back()
            assert_has(fleet, first)
        else:
            fleet.apply(second)
            assert_has(fleet, second)
