"""Real Mosquittos on loopback, each in its folder, as `examples/local-fleet/broker` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.health import answers
from topicloom.brokers.local import LOOPBACK, free_ports

_SCRIPT = Path(__file__).parents[1] / "examples" / "local-fleet" / "broker"


class LocalFleet:
    """Brokers that run in `folder`, a folder below it each, and the `tables` of their fleet file."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = names
        self._ports = free_ports(names)
        apply = {
            "via": "folder",
            "path": f"{folder}/{{broker}}/conf.d/topicloom.conf",
            "reload": f"{_SCRIPT} restart {folder} {{broker}}",
            "seconds": 30,
        }
        brokers = {name: {"host": LOOPBACK, "port": port} for name, port in self._ports.items()}
        self.tables: dict[str, Any] = {"defaults": {"apply": apply}, "brokers": brokers}
        self.fleet = fleet_from_tables(self.tables)

    def start(self) -> None:
        """Make all brokers and start them; they answer when this returns."""
        for name in self.names:
            self._run("new", name, str(self._ports[name]))
        while not all(answers(broker, "mosquitto") for broker in self.fleet.brokers.values()):
            time.sleep(0.01)

    def restart(self, name: str) -> None:
        """Start a broker again."""
        self._run("restart", name)

    def kill(self, name: str) -> None:
        """End a broker at once; nobody answers for it any more when this returns."""
        os.kill(int((self.folder / name / "pid").read_text()), signal.SIGKILL)
        while answers(self.fleet.brokers[name], "mosquitto"):
            time.sleep(0.01)

    def stop(self) -> None:
        """End all brokers."""
        for name in self.names:
            subprocess.run([_SCRIPT, "stop", self.folder, name], check=False)

    def write(self, path: Path) -> Path:
        """The fleet file."""
        lines = ["[defaults.apply]", *(f"{key} = {value!r}" for key, value in self.tables["defaults"]["apply"].items())]
        lines += ["[brokers]"]
        lines += [f'{name} = {{ host = "{LOOPBACK}", port = {port} }}' for name, port in self._ports.items()]
        path.write_text("\n".join(lines) + "\n")
        return path

    def _run(self, command: str, name: str, *more: str) -> None:
        subprocess.run([_SCRIPT, command, self.folder, name, *more], check=True)


@contextmanager
def local_fleet(names: Sequence[str]) -> Iterator[LocalFleet]:
    """Running brokers of these names; leaving the context ends them and removes their files."""
    with tempfile.TemporaryDirectory() as folder:
        fleet = LocalFleet(Path(folder) / "fleet", names)
        try:
            fleet.start()
            yield fleet
        finally:
            fleet.stop()
