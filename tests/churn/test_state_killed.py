"""A run killed at each of its writes, before, after and within it: the next run ends as an undisturbed one does."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from test_state import EVENTS, go_on, overlay, written

from effort import THOROUGH
from killed_writes import dies_at
from topicloom.churn import Settings
from topicloom.churn.state import living

SETTINGS = Settings(prune=True)
SOME = EVENTS[:12]
HOW = ("before", "within", "after")


def run(folder: Path) -> None:
    """Two halves, each with a snapshot in the end."""
    for end in (6, len(SOME)):
        with living(overlay(), SETTINGS, folder) as state:
            go_on(state, SOME[:end])
            state.sync()
            state.checkpoint()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads, which do nothing here
@pytest.mark.parametrize("how", HOW)
def test_killed_at_every_write(tmp_path: Path, how: str) -> None:
    with living(overlay(), SETTINGS) as state:
        go_on(state, SOME)
        expected = written(state.maintainer.overlay(), tmp_path)
    step = 1 if THOROUGH else 4
    turn = 1 + HOW.index(how) % step
    while dies_at(turn, how, partial(run, tmp_path / f"state-{turn}")):
        folder = tmp_path / f"state-{turn}"
        # Killed once more on the way back, at a place of its own, then let go.
        dies_at(1 + turn % 5, how, partial(run, folder))
        run(folder)
        with living(overlay(), SETTINGS, folder) as state:
            go_on(state, SOME)
            assert written(state.maintainer.overlay(), tmp_path) == expected, f"killed {how} write {turn}"
        turn += step
    assert turn > 40, "there are many writes to be killed at"
