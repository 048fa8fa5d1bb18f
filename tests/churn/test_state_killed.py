"""A run killed at each of its writes, before, after and within it: the next run ends as an undisturbed one does."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_state import EVENTS, OVERLAY, go_on, written

from effort import THOROUGH
from topicloom.churn import Settings
from topicloom.churn.state import living

SETTINGS = Settings(prune=True)
SOME = EVENTS[:12]
HOW = ("before", "within", "after")


def run(folder: Path) -> None:
    """Two halves, each with a snapshot in the end."""
    for end in (6, len(SOME)):
        with living(OVERLAY, SETTINGS, folder) as state:
            go_on(state, SOME[:end])
            state.sync()
            state.checkpoint()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def watched(call: Callable[..., Any], countdown: list[int], how: str) -> Callable[..., Any]:
    """The same call, which kills the process when its turn has come."""

    def instead(*arguments: Any, **named: Any) -> Any:
        countdown[0] -= 1
        if countdown[0] == 0:
            if how == "within" and call is os.write:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            elif how == "after":
                call(*arguments, **named)
            die()
        return call(*arguments, **named)

    return instead


def run_and_die(folder: Path, turn: int, how: str) -> bool:
    """Run in a child that dies at a turn; tell whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            countdown = [turn]
            for name in ("write", "pwrite", "fsync", "truncate", "open"):
                setattr(os, name, watched(getattr(os, name), countdown, how))
            Path.replace = watched(Path.replace, countdown, how)  # type: ignore[method-assign]
            run(folder)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads, which do nothing here
@pytest.mark.parametrize("how", HOW)
def test_killed_at_every_write(tmp_path: Path, how: str) -> None:
    with living(OVERLAY, SETTINGS) as state:
        go_on(state, SOME)
        expected = written(state.maintainer.overlay(), tmp_path)
    step = 1 if THOROUGH else 4
    turn = 1 + HOW.index(how) % step
    while run_and_die(tmp_path / f"state-{turn}", turn, how):
        folder = tmp_path / f"state-{turn}"
        # Killed once more on the way back, at a place of its own, then let go.
        run_and_die(folder, 1 + turn % 5, how)
        run(folder)
        with living(OVERLAY, SETTINGS, folder) as state:
            go_on(state, SOME)
            assert written(state.maintainer.overlay(), tmp_path) == expected, f"killed {how} write {turn}"
        turn += step
    assert turn > 40, "there are many writes to be killed at"
