"""RabbitMQ nodes on loopback, for tests: each a broker of its own, not a cluster."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from machine import RABBITMQ
from topicloom.deploy.proof.processes import LOOPBACK, free_ports

_PLUGINS = "[rabbitmq_management,rabbitmq_federation,rabbitmq_federation_management].\n"
_START_SECONDS = 120.0


class RabbitNodes:
    """Started nodes by name; leaving the context ends them."""

    def __init__(self, names: list[str], folder: Path) -> None:
        self.names = names
        self.ports = free_ports(names)
        self._web = free_ports(names)
        self._distribution = free_ports(names)
        (self._epmd_port,) = free_ports(["epmd"]).values()
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> RabbitNodes:
        try:
            for name in self.names:
                self._start(name)
            for name in self.names:
                self._wait(name)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stop()

    def url(self, name: str) -> str:
        """Where a node's management interface is."""
        return f"http://{LOOPBACK}:{self._web[name]}"

    def ask(self, name: str, path: str, body: Any = None, method: str | None = None) -> Any:
        """Ask a node's management interface; with a body it is a POST unless said otherwise."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url(name)}/api/{path}", data, method=method)
        request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{name}: {path}: {error.code} {error.read().decode()}") from None
        return json.loads(text) if text else None

    def _environment(self, name: str) -> dict[str, str]:
        home = self._folder / name
        return {
            **os.environ,
            "HOME": str(self._folder),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "RABBITMQ_NODENAME": f"{name}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution[name]),
            "RABBITMQ_MNESIA_BASE": str(home / "data"),
            "RABBITMQ_LOG_BASE": str(home / "log"),
            "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }

    def _start(self, name: str) -> None:
        home = self._folder / name
        home.mkdir()
        (home / "plugins").write_text(_PLUGINS)
        (home / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = {LOOPBACK}:{self.ports[name]}\n"
            f"management.tcp.ip = {LOOPBACK}\nmanagement.tcp.port = {self._web[name]}\n"
        )
        with (home / "out").open("wb") as out:
            process = subprocess.Popen(
                [str(RABBITMQ)], env=self._environment(name), stdout=out, stderr=out, start_new_session=True
            )
        self._running.append(process)

    def _wait(self, name: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.ask(name, "overview")
                return
            except (OSError, AssertionError):
                assert time.monotonic() < deadline, (self._folder / name / "out").read_text()[-2000:]
                time.sleep(0.3)

    def _stop(self) -> None:
        for process in self._running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # Erlang's port mapper starts with the first node. It has its own port here, and ends once no node is known.
        environment = {**os.environ, "ERL_EPMD_PORT": str(self._epmd_port), "ERL_EPMD_ADDRESS": LOOPBACK}
        for _ in range(50):
            ended = subprocess.run(["epmd", "-kill"], env=environment, capture_output=True, text=True, check=False)
            if "Killed" in ended.stdout:
                return
            time.sleep(0.1)
