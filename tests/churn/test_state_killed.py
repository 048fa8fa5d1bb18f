"""A run killed at random moments: the next run ends as an undisturbed one does."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_state import INTEREST, overlay, written

from effort import times
from topicloom.churn import Settings
from topicloom.churn.state import open_state
from topicloom.workloads import churn_trace

SETTINGS = Settings(prune=True)
EVENTS = churn_trace(INTEREST, 400, change_share=0.3, seed=8)
RUN = """
import sys
from pathlib import Path
from test_state import overlay
from test_state_killed import EVENTS, SETTINGS
from topicloom.churn.state import open_state

with open_state(overlay(), SETTINGS, Path(sys.argv[1])) as state:
    print("open", flush=True)
    list(state.begin())
    for number, outcome in enumerate(state.take_all([event for event in EVENTS if state.is_due(event)], 10), 1):
        if number % 50 == 0:
            state.checkpoint()
        elif number % 20 == 0:
            state.sync()
        print(outcome.event.id, flush=True)
"""


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path) -> None:
    with open_state(overlay(), SETTINGS) as state:
        list(state.take_all(EVENTS))
        expected = written(state.maintainer.overlay(), tmp_path)
    dice = random.Random(3)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    seen = -1
    for _ in range(times(6)):
        command = [sys.executable, "-c", RUN, str(tmp_path / "state")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=Path(__file__).parent) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(dice.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            told = [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith(b"\n")]
        with open_state(overlay(), SETTINGS, tmp_path / "state") as state:
            list(state.begin())
            assert (state.last_event or -1) >= max([seen, *told]), "nothing that was told is lost"
            seen = state.last_event or -1
    with open_state(overlay(), SETTINGS, tmp_path / "state") as state:
        list(state.begin())
        list(state.take_all(event for event in EVENTS if state.is_due(event)))
        assert written(state.maintainer.overlay(), tmp_path) == expected
