"""Mosquitto processes on the loopback interface, in a folder of their own, that never outlive their owner."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.proof.loopback_ports import LOOPBACK
from topicloom.errors import InputError
from topicloom.files.temporary import scratch_folder

_START_SECONDS = 10.0
_STOP_SECONDS = 5.0
# Mosquitto's default.
_QUEUED = 1000

# Started by root, Mosquitto would change its user, which would undo that it ends with its owner.
_MAIN = """\
listener {port} {host}
allow_anonymous true
persistence {lasting}
persistence_location {home}/
max_queued_messages {queued}
user root
set_tcp_nodelay true
log_dest stderr
log_type error
log_type warning
include_dir {folder}
"""


def mosquitto_path() -> str:
    """The Mosquitto to run; an error where there is none."""
    return installed("mosquitto", "Mosquitto")


def installed(program: str, called: str) -> str:
    """The path of a broker's program; an error where it is not there."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise InputError(f"{called} is not installed; on Debian or Ubuntu: sudo apt install {program}")
    return found


def on_ports(ports: Mapping[str, int]) -> dict[str, Broker]:
    """Brokers of these names on loopback."""
    return {name: Broker(name, LOOPBACK, port) for name, port in ports.items()}


class Processes:
    """Mosquitto processes by broker name; leaving the context ends them and removes their files.

    With `lasting` what waits for clients and links survives a restart, and is never dropped.
    """

    def __init__(self, ports: dict[str, int], *, lasting: bool = False) -> None:
        self.ports = ports
        self._lasting = lasting
        self._program = self._find_program()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._folder = Path()
        self._cleaning = ExitStack()

    def _find_program(self) -> str:
        return mosquitto_path()

    def __enter__(self) -> Processes:
        self._folder = self._cleaning.enter_context(scratch_folder("live"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()
        self._cleaning.close()

    def start(self, name: str, bridges: str) -> None:
        """Start a broker with these bridge sections, and wait until it listens."""
        home = self._folder / identifier(name)
        home.mkdir(parents=True, exist_ok=True)
        command = self._set_up(name, home, bridges)
        with (home / "log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                [*ending_with_owner(), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the owner, who ends them in order
            )
        self._wait_until_listening(name)

    def _set_up(self, name: str, home: Path, bridges: str) -> list[str]:
        """Write a broker's files, and give the command that starts it."""
        (home / "conf.d").mkdir(exist_ok=True)
        (home / "conf.d" / "bridges.conf").write_text(bridges, encoding="utf-8")
        main = home / "mosquitto.conf"
        text = _MAIN.format(
            port=self.ports[name],
            host=LOOPBACK,
            folder=home / "conf.d",
            home=home,
            lasting=str(self._lasting).lower(),
            queued=0 if self._lasting else _QUEUED,
        )
        main.write_text(text, encoding="utf-8")
        return [self._program, "-c", str(main)]

    def let_go(self, name: str) -> None:
        """Make ready to start a broker with another configuration."""
        self.stop(name)

    def stop(self, name: str) -> None:
        """End a broker."""
        process = self._running.pop(name)
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        """What a broker said since it was last started."""
        return (self._folder / identifier(name) / "log").read_text(encoding="utf-8", errors="replace")

    def _wait_until_listening(self, name: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._running[name].poll() is None:
            try:
                socket.create_connection((LOOPBACK, self.ports[name]), timeout=1).close()
            except OSError:
                time.sleep(0.005)
            else:
                return
        said = " ".join(self.log(name).split()) or "it said nothing"
        raise InputError(f"broker '{name}' did not start: {said}")


def ending_with_owner() -> list[str]:
    """The words before a command that end it when this process is killed; none where the system has no such tool."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []
