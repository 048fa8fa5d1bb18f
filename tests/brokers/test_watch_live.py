"""A controller over real Mosquittos: a broker that is killed is mended around, and taken in when it is back."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from folder_fleets import WANTED
from following import turns_until
from local_brokers import SCRIPT, LocalBrokers

from topicloom import Interest
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.deliver import probe
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Allowance, Controller, WatchSettings
from topicloom.model.demand import Demand

pytestmark = pytest.mark.broker("mosquitto")


def test_a_broker_that_is_killed_and_one_that_hangs(tmp_path: Path) -> None:
    settings = WatchSettings(apply=True, down_seconds=0.2, up_seconds=0.2)
    said: list[str] = []
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers, opened(tmp_path / "state") as state:
        wanted = Demand.from_interest(Interest.from_pairs(WANTED))
        decisions = Decisions(state, brokers.fleet.constraints, wanted)
        made = Controller(
            brokers.fleet, decisions, state, lambda: ([], []), Allowance(99), settings, said.append
        )  # fmt: skip

        made.turn(time.time())
        assert probe(made.plan(), ["t", "u"], 20) == len(WANTED)
        brokers.kill("b")
        turns_until(made, state, said, "b is gone")
        assert probe(made.plan(), ["t", "u"], 20) == 4
        subprocess.run([SCRIPT, "restart", brokers.folder, "b"], check=True)
        turns_until(made, state, said, "b is back")
        assert probe(made.plan(), ["t", "u"], 20) == len(WANTED)

        process = brokers.process("a")
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        try:
            turns_until(made, state, said, "a is gone")
            assert probe(made.plan(), ["t", "u"], 20) == 4
        finally:
            os.kill(process, signal.SIGCONT)
        turns_until(made, state, said, "a is back")
        assert probe(made.plan(), ["t", "u"], 20) == len(WANTED)
        decisions.close()
