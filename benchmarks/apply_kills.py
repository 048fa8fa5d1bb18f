"""`apply` killed at random moments, with real brokers: the fleet must end as planned, without half files or orphans."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.local_fleet import LocalFleet, local_fleet
from topicloom import Interest, Overlay
from topicloom.brokers import Plan, make_plan, write_plan
from topicloom.brokers.deliver import probe
from topicloom.brokers.plan_file import configurations

WANTED = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("d", "u")]
LINKS = ([("a", "b"), ("a", "c"), ("b", "d")], [("a", "b"), ("b", "c"), ("a", "d")])


def _plans(local: LocalFleet) -> list[tuple[Plan, Path]]:
    interest = Interest.from_pairs(WANTED)
    found = []
    for number, links in enumerate(LINKS):
        plan = make_plan(interest, Overlay.from_links(interest, links), local.fleet)
        write_plan(plan, local.folder / f"plan{number}.json")
        found.append((plan, local.folder / f"plan{number}.json"))
    return found


def _has_its_files(local: LocalFleet, plan: Plan) -> bool:
    """Whether every broker has the file of a plan, and messages come through."""
    for name, text in configurations(plan).items():
        file = local.folder / name / "conf.d" / "topicloom.conf"
        has = file.read_text() if file.exists() else ""
        if has != text and ("connection" in has or "connection" in text):
            return False
    return probe(plan, ["t", "u"], 30) == len(WANTED)


def _half_files(local: LocalFleet) -> int:
    held = [path.name for name in local.names for path in (local.folder / name / "conf.d").iterdir()]
    return sum(name != "topicloom.conf" for name in held)


def _orphans(local: LocalFleet) -> int:
    """Brokers that run twice."""
    here = f"{local.folder}/"
    commands = [path.read_bytes().split(b"\0") for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    running = [words for words in commands if words[0].endswith(b"mosquitto") and here.encode() in b" ".join(words)]
    return len(running) - len(local.names)


def main(kills: int, seed: int = 1) -> dict[str, Any]:
    """Go from plan to plan and back, killing each run at a random moment; what came of it."""
    draw = random.Random(seed)
    killed = changes = as_planned = half_files = orphans = 0
    began = time.monotonic()
    with local_fleet("abcd") as local:
        fleet_file, plans = local.write(local.folder / "fleet.toml"), _plans(local)
        while killed < kills:
            plan, file = plans[changes % 2]
            command = [sys.executable, "-m", "topicloom", "apply", file, "-f", fleet_file, "--yes", "--older"]
            command += ["--state", local.folder / "state", "--quiet"]
            finished = False
            while not finished:
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
                if killed < kills and draw.random() < 0.85:
                    try:
                        process.wait(draw.uniform(0.4, 7.0))
                    except subprocess.TimeoutExpired:
                        os.kill(process.pid, signal.SIGKILL)
                        killed += 1
                finished = process.wait() == 0
            changes += 1
            as_planned += _has_its_files(local, plan)
            half_files += _half_files(local)
            orphans += _orphans(local)
    return {
        "kills": killed,
        "changes": changes,
        "as planned": as_planned,
        "half files": half_files,
        "orphans": orphans,
        "seconds": time.monotonic() - began,
    }
