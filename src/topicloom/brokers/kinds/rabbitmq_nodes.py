"""RabbitMQ nodes on the loopback interface, each a broker of its own, and a queue at each, bound to what is wanted.

Everything goes by the management interface, so no client of AMQP is needed. Queues are bound as the plan says and no
further: federation passes on what is bound, so a queue that listens to more would change what it looks at.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds.rabbitmq import RabbitManagement, vhost_of
from topicloom.brokers.local import LOOPBACK, AnyClients, OnMessage, Processes, ending_with_owner, free_ports, installed
from topicloom.brokers.names import identifier
from topicloom.brokers.plan import Plan
from topicloom.errors import InputError
from topicloom.io.http import HttpError

_PLUGINS = "[rabbitmq_management,rabbitmq_federation,rabbitmq_federation_management].\n"
_CONFIGURATION = """\
listeners.tcp.1 = {host}:{port}
management.tcp.ip = {host}
management.tcp.port = {web}
"""
_START_SECONDS = 180.0
_ASK_SECONDS = 30.0
_QUEUE = "topicloom-proof"
# How many messages are fetched at once.
_FETCHED = 5000
# Of every new node.
_LOGIN = ("guest", "guest")


def rabbitmq_path() -> str:
    """The RabbitMQ to run: what Debian's command calls, as that one wants to be another user."""
    found = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server"))
    return str(found[-1]) if found else installed("rabbitmq-server", "RabbitMQ")


class RabbitProcesses(Processes):
    """RabbitMQ nodes by broker name, started together; definitions are put on them while they run."""

    # Messages go by the management interface.
    most_a_second = 60
    needs_topics = True

    def __init__(self, ports: dict[str, int]) -> None:
        super().__init__(ports)
        self._texts: dict[str, str] = {}
        taken = set(ports.values())
        self._web = free_ports(list(ports), taken)
        self._distribution = free_ports(list(ports), taken := {*taken, *self._web.values()})
        (self._mapper,) = free_ports(["epmd"], {*taken, *self._distribution.values()}).values()

    def _find_program(self) -> str:
        return rabbitmq_path()

    def __enter__(self) -> RabbitProcesses:
        super().__enter__()
        try:
            for name in self.ports:
                self._begin(name)
            for name in self.ports:
                self._wait_until_answering(name)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for name in list(self._running):
            self.stop(name)
        # Erlang's port mapper started with the first node, on a port of its own, and ends once it knows of none.
        mapper = shutil.which("epmd")
        for _ in range(50 if mapper else 0):
            ended = subprocess.run([str(mapper), "-kill"], env=self._mapping(), capture_output=True, check=False)
            if b"Killed" in ended.stdout or b"Cannot connect" in ended.stdout + ended.stderr:
                break
            time.sleep(0.1)
        super().__exit__(kind, error, where)

    def url(self, name: str) -> str:
        """Where the management interface of a node is."""
        return f"http://{LOOPBACK}:{self._web[name]}"

    def management(self, name: str) -> RabbitManagement:
        """The management interface of a node."""
        return RabbitManagement(self.url(name), lambda: _LOGIN, _ASK_SECONDS)

    def start(self, name: str, bridges: str) -> None:
        """Put definitions on a node."""
        self._texts[name] = bridges
        try:
            self.management(name).take(bridges)
        except HttpError as failure:
            raise InputError(f"broker '{name}': {failure}") from None

    def clients(self, plan: Plan, on_message: OnMessage) -> AnyClients:
        """Return clients, not connected yet."""
        return RabbitClients(self, on_message, plan)

    def links_down(self, plan: Plan, name: str, clients: AnyClients) -> list[Pair]:
        """Return all links of a node if one of them does not run by the definitions that it has."""
        try:
            down = self.management(name).links_down(self._texts[name])
        except HttpError as failure:
            raise InputError(f"broker '{name}': {failure}") from None
        return list(plan.links_of[name]) if down else []

    def let_go(self, name: str) -> None:
        """Nothing: a node takes other definitions while it runs."""

    def stop(self, name: str) -> None:
        """End a node with all its processes."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _mapping(self) -> dict[str, str]:
        return {**os.environ, "ERL_EPMD_PORT": str(self._mapper), "ERL_EPMD_ADDRESS": LOOPBACK}

    def _begin(self, name: str) -> None:
        home = self._folder / identifier(name)
        home.mkdir()
        (home / "plugins").write_text(_PLUGINS)
        settings = _CONFIGURATION.format(host=LOOPBACK, port=self.ports[name], web=self._web[name])
        (home / "rabbitmq.conf").write_text(settings)
        environment = {
            **self._mapping(),
            "HOME": str(self._folder),
            "RABBITMQ_NODENAME": f"node{list(self.ports).index(name)}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution[name]),
            "RABBITMQ_MNESIA_BASE": str(home / "data"),
            "RABBITMQ_LOG_BASE": str(home / "logs"),
            "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
            # The node then takes the place of the script that starts it, and ends with its owner.
            "RUNNING_UNDER_SYSTEMD": "true",
        }
        with (home / "log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                [*ending_with_owner(), self._program],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait_until_answering(self, name: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._running[name].poll() is None:
            try:
                self.management(name).ask("GET", "overview")
            except HttpError:
                time.sleep(0.2)
            else:
                return
        said = " ".join(self.log(name).split())[-500:] or "it said nothing"
        raise InputError(f"broker '{name}' did not start: {said}")


class RabbitClients:
    """A queue at each node, which is bound to what the node wants by `plan`, and emptied again and again."""

    def __init__(self, processes: RabbitProcesses, on_message: OnMessage, plan: Plan) -> None:
        self.plan = plan
        self._processes = processes
        self._on_message = on_message
        self._hosts: dict[str, str] = {}
        # By name of a message the exchange that it goes to, and its routing key.
        self._ways: dict[str, tuple[str, str]] = {}
        self.links_up: dict[str, set[str]] = {}

    def __enter__(self) -> RabbitClients:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._hosts.clear()

    def open(self, name: str, _topics: Iterable[tuple[str, int]]) -> None:
        """Make the queue of a node, and bind it as the plan says."""
        plan = self.plan
        self._hosts[name] = vhost = quote(vhost_of(plan.broker[name]), safe="")
        self._ask(name, "PUT", f"permissions/{vhost}/guest", {"configure": ".*", "write": ".*", "read": ".*"})
        with suppress(InputError):
            self._ask(name, "DELETE", f"queues/{vhost}/{_QUEUE}")
        self._ask(name, "PUT", f"queues/{vhost}/{_QUEUE}", {"durable": False, "auto_delete": False})
        self._bind(name, plan)

    def follow(self, plan: Plan, name: str | None = None) -> None:
        """Bind the queue of a node to what it wants by another plan, too; or all that are made from now on."""
        if name is None:
            self.plan = plan
        elif name in self._hosts:
            self._bind(name, plan)

    def _bind(self, name: str, plan: Plan) -> None:
        """Bind the queue of a node to what it wants by a plan, besides what it is bound to."""
        vhost = self._hosts[name]
        for route in plan.routes:
            exchange = quote(route.topic, safe="")
            for message in route.messages:
                self._ways[message.name] = (exchange, "" if route.filters is None else message.name)
            if name in route.members and not route.links:
                # A topic of one broker needs no definitions, and so has no exchange yet.
                kind = "fanout" if route.filters is None else "topic"
                self._ask(name, "PUT", f"exchanges/{vhost}/{exchange}", {"type": kind, "durable": True})
            for pattern in route.sides[0].get(name, ()):
                key = "" if route.filters is None else pattern
                self._ask(name, "POST", f"bindings/{vhost}/e/{exchange}/q/{_QUEUE}", {"routing_key": key})

    def close(self, name: str) -> None:
        """Let a node be."""
        self._hosts.pop(name)

    def publish(self, name: str, topic: str, payload: bytes, _qos: int) -> None:
        """Publish at a node."""
        exchange, key = self._ways[topic]
        body = {"properties": {}, "routing_key": key, "payload": payload.decode(), "payload_encoding": "string"}
        self._ask(name, "POST", f"exchanges/{self._hosts[name]}/{exchange}/publish", body)

    def serve(self, seconds: float) -> None:
        """Fetch what has come; wait where nothing has."""
        wish = {"count": _FETCHED, "ackmode": "ack_requeue_false", "encoding": "base64"}
        heard = False
        for name, vhost in self._hosts.items():
            for row in self._ask(name, "POST", f"queues/{vhost}/{_QUEUE}/get", wish):
                heard = True
                payload = row["payload"]
                raw = base64.b64decode(payload) if row["payload_encoding"] == "base64" else payload.encode()
                self._on_message(name, row["routing_key"] or row["exchange"], raw, time.perf_counter())
        if not heard:
            time.sleep(min(seconds, 0.05))

    def wait_until_subscribed(self) -> None:
        """Nothing: queues are bound when `open` returns."""

    def _ask(self, name: str, method: str, path: str, body: Any = None) -> Any:
        try:
            return self._processes.management(name).ask(method, path, body)
        except HttpError as failure:
            raise InputError(f"broker '{name}': {failure}") from None
