"""The functions of `topicloom.spark` on Spark Connect: their tests, in a process of its own; all with --thorough."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from effort import THOROUGH
from machine import ON_CONNECT

TESTS = Path(__file__).parents[1] / "spark"
SUITE = ("storage",)
ALL = (*SUITE, "examples", "interned", "profile", "evaluate", "design", "sample", "summarize", "places")


@pytest.mark.spark
def test_functions_on_connect() -> None:
    files = [str(TESTS / f"test_{name}.py") for name in (ALL if THOROUGH else SUITE)]
    command = [sys.executable, "-m", "pytest", "-n", "0", "--tb", "short", *files]
    # A machine has one port for servers of Spark Connect that sessions start.
    with (Path(tempfile.gettempdir()) / "topicloom-tests-on-connect").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        settings = {**os.environ, ON_CONNECT: "1"}
        ended = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=900, check=False)
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-2000:]
