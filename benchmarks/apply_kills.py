"""`apply` killed at random moments, with real brokers: the fleet must end as planned, without half files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from topicloom import Interest, Overlay
from topicloom.control.applying.broker_checks import probe
from topicloom.deploy import Fleet, Plan, make_plan, write_plan
from topicloom.deploy.proof.processes import LOOPBACK, free_ports
from topicloom.deploy.targets.render import configurations

SCRIPT = Path(__file__).parents[1] / "examples" / "local-fleet" / "broker"
WANTED = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("d", "u")]
LINKS = ([("a", "b"), ("a", "c"), ("b", "d")], [("a", "b"), ("b", "c"), ("a", "d")])


def _fleet_file(folder: Path, ports: dict[str, int]) -> Path:
    path = folder / "fleet.toml"
    path.write_text(
        f'[defaults.apply]\nvia = "folder"\npath = "{folder}/{{broker}}/conf.d/topicloom.conf"\n'
        f'reload = "{SCRIPT} restart {folder} {{broker}}"\nseconds = 30\n[brokers]\n'
        + "".join(f'{name} = {{ host = "{LOOPBACK}", port = {port} }}\n' for name, port in ports.items())
    )
    return path


def _plans(folder: Path, fleet: Fleet) -> list[tuple[Plan, Path]]:
    interest = Interest.from_pairs(WANTED)
    found = []
    for number, links in enumerate(LINKS):
        plan = make_plan(interest, Overlay.from_links(interest, links), fleet)
        write_plan(plan, folder / f"plan{number}.json")
        found.append((plan, folder / f"plan{number}.json"))
    return found


def _require_as_planned(folder: Path, plan: Plan) -> None:
    for name, text in configurations(plan).items():
        held = sorted(path.name for path in (folder / name / "conf.d").iterdir())
        assert held in (["topicloom.conf"], []), f"{name} holds {held}"
        file = folder / name / "conf.d" / "topicloom.conf"
        has = file.read_text() if held else ""
        assert has == text or ("connection" not in has and "connection" not in text), f"{name} has another file"
    assert probe(plan, ["t", "u"], 30) == len(WANTED)


def main(kills: int, seed: int = 1) -> None:
    """Go from plan to plan and back, killing each run at a random moment; print what came of it."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ports = free_ports(list("abcd"))
        fleet_file = _fleet_file(folder, ports)
        plans = _plans(folder, Fleet.read(fleet_file))
        for name, port in ports.items():
            subprocess.run([SCRIPT, "new", folder, name, str(port)], check=True)
        killed, target = 0, 0
        began = time.monotonic()
        try:
            while killed < kills:
                plan, file = plans[target]
                command = [sys.executable, "-m", "topicloom", "apply", file, "-f", fleet_file, "--yes", "--older"]
                command += ["--state", folder / "state", "--quiet"]
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
                _require_as_planned(folder, plan)
                target = 1 - target
            print(
                f"killed {killed} times in {time.monotonic() - began:.0f} s; the fleet is as planned after each change"
            )
        finally:
            for name in ports:
                subprocess.run([SCRIPT, "stop", folder, name], check=False)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
