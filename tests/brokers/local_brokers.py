"""Real Mosquittos on loopback for tests, each in its folder, started and restarted by the script of the examples."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from following import wait_until_all_answer

from topicloom.brokers import Fleet
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.local import LOOPBACK, free_ports

SCRIPT = Path(__file__).parents[2] / "examples" / "local-fleet" / "broker"


class LocalBrokers:
    """Brokers by name; all of them answer inside the context, and leaving it ends them."""

    def __init__(self, folder: Path, names: str) -> None:
        self.folder = folder
        self.names = names
        self.ports = free_ports(list(names))
        self.tables: dict[str, Any] = {
            "defaults": {
                "apply": {
                    "via": "folder",
                    "path": f"{folder}/{{broker}}/conf.d/topicloom.conf",
                    "reload": f"{SCRIPT} restart {folder} {{broker}}",
                    "seconds": 20,
                }
            },
            "brokers": {name: {"host": LOOPBACK, "port": port} for name, port in self.ports.items()},
        }
        self.fleet = fleet_from_tables(self.tables)

    def __enter__(self) -> LocalBrokers:
        for name in self.names:
            subprocess.run([SCRIPT, "new", self.folder, name, str(self.ports[name])], check=True)
        wait_until_all_answer(self.fleet)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for name in self.names:
            self.kill(name)

    def with_seconds(self, seconds: float) -> Fleet:
        """The same fleet with another time limit."""
        apply = {**self.tables["defaults"]["apply"], "seconds": seconds}
        return fleet_from_tables({**self.tables, "defaults": {"apply": apply}})

    def process(self, name: str) -> int | None:
        """The broker's process, None where it does not run."""
        try:
            number = int((self.folder / name / "pid").read_text())
            os.kill(number, 0)
        except (FileNotFoundError, ProcessLookupError):
            return None
        return number

    def kill(self, name: str) -> None:
        number = self.process(name)
        if number is not None:
            os.kill(number, signal.SIGKILL)

    def restart(self, name: str) -> None:
        subprocess.run([SCRIPT, "restart", self.folder, name], check=True)

    def write_fleet(self, path: Path) -> Path:
        """The fleet as a file."""
        lines = ["[defaults.apply]"]
        lines += [f"{key} = {value!r}" for key, value in self.tables["defaults"]["apply"].items()]
        lines += ["[brokers]"]
        lines += [f'{name} = {{ host = "{LOOPBACK}", port = {port} }}' for name, port in self.ports.items()]
        path.write_text("\n".join(lines) + "\n")
        return path
