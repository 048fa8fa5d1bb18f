"""Brokers and clients on loopback.

Ports that no other process that looks for some gets too; Mosquitto processes in a folder of their own, which never
outlive their owner; and MQTT clients, one at every broker of a fleet, served by one loop in the thread that calls
`serve`. Clients hear which links of their broker are up. Lasting ones come back with their broker, and find what came
meanwhile.
"""

from __future__ import annotations

import os
import random
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds.mosquitto import session_name
from topicloom.brokers.logins import password_of
from topicloom.brokers.names import identifier
from topicloom.errors import InputError
from topicloom.io.whole import scratch_folder
from topicloom.model.fleet import Broker

if TYPE_CHECKING:
    from topicloom.brokers.plan import Plan

LOOPBACK = "127.0.0.1"
_PORTS = range(10_000, 20_000)
# A process holds so many at once.
_PART = 100

# By its first port: what holds a part, until the process that it belongs to ends.
_held: dict[int, socket.socket] = {}
_given: set[int] = set()
_holder = 0


def free_ports(names: Sequence[str], taken: Collection[int] = ()) -> dict[str, int]:
    """A loopback port for each name that nobody has, nor is to have, below those that systems give to clients.

    A client that keeps trying a broker that is down would sooner or later get the broker's own port, and be connected
    with itself; the broker could not come back then. Nor could it if another fleet got its port while it is down.
    """
    free = (port for port in _ports_held() if port not in taken and _can_bind(port))
    found = dict(zip(names, free, strict=False))
    if len(found) < len(names):
        raise InputError(f"no {len(names):,} ports from {_PORTS[0]:,} to {_PORTS[-1]:,} are free on this machine")
    _given.update(found.values())
    return found


def _ports_held() -> Iterator[int]:
    """The ports of the parts that this process holds, and then of others, which it holds from then on.

    Those that it has given to somebody already, who may not listen yet, come last.
    """
    global _holder
    if os.getpid() != _holder:  # a copy of a process does not hold what that one holds
        _held.clear()
        _given.clear()
        _holder = os.getpid()
    parts = range(_PORTS.start, _PORTS.stop, _PART)
    for again in (False, True):
        for first in sorted(random.sample(parts, len(parts)), key=lambda first: first not in _held):
            if first in _held or _hold(first):
                ports = [port for port in range(first, first + _PART) if (port in _given) == again]
                yield from random.sample(ports, len(ports))


def _hold(first: int) -> bool:
    """Hold a part, if nobody does, by its first port of UDP, which no broker uses."""
    holding = socket.socket(type=socket.SOCK_DGRAM)
    try:
        holding.bind((LOOPBACK, first))
    except OSError:
        holding.close()
        return False
    _held[first] = holding
    return True


def _can_bind(port: int) -> bool:
    with socket.socket() as trying:
        try:
            trying.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


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

    # How many messages a second brokers and clients take lightly.
    most_a_second = 1000
    # Whether a link carries just its patterns; else all of their topic that a client behind it asks for.
    carries_patterns = True
    # Whether clients can be only where a plan has topics.
    needs_topics = False

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

    @property
    def link_ports(self) -> dict[str, int]:
        """The ports that links come in at, which may be other ones than those of clients."""
        return self.ports

    def clients(self, _plan: Plan, on_message: OnMessage) -> AnyClients:
        """Return clients, not connected yet."""
        made = LastingClients if self._lasting else Clients
        return made(on_ports(self.ports), on_message)

    def links_down(self, plan: Plan, name: str, clients: AnyClients) -> list[Pair]:
        """Return the links that a broker should open by a plan, and that are not up."""
        up = clients.links_up[name]
        return [link for link in plan.opened_by(name) if session_name(link, plan.lines_of_link[link]) not in up]

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


# Called with the broker's name, the topic, the payload, and when it came.
OnMessage = Callable[[str, str, bytes, float], None]

_LINK_STATES = "$SYS/broker/connection/+/state"
_CONNECT_SECONDS = 10.0
# More than are ever under way, so that the client itself holds nothing back.
_INFLIGHT = 1000
_KEEPALIVE_SECONDS = 600


def mqtt_library() -> Any:
    """The module of the MQTT client; an error where it is not installed."""
    try:
        import paho.mqtt.client
    except ImportError:
        raise InputError("the MQTT client is not installed: pip install 'topicloom[live]'") from None
    return paho.mqtt.client


def connect(client: Any, broker: Broker) -> None:
    """Connect a client to a broker as the fleet file says; the password is looked up now."""
    if broker.credentials is not None:
        client.username_pw_set(broker.credentials.username, password_of(broker))
    if broker.tls is not None:
        try:
            client.tls_set(broker.tls.ca_file, broker.tls.cert_file, broker.tls.key_file)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"broker '{broker.name}': its certificates cannot be read here ({reason})") from None
    client.connect(broker.host, broker.port, keepalive=_KEEPALIVE_SECONDS)


class AnyClients(Protocol):
    """Clients by broker name, of whatever protocol; leaving the context disconnects them."""

    links_up: dict[str, set[str]]

    def __enter__(self) -> AnyClients:
        """Return these."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None, /
    ) -> None:
        """Disconnect all."""

    def open(self, name: str, topics: Iterable[tuple[str, int]], /) -> None:
        """Connect to a broker and subscribe to topics, each with its quality of service."""

    def close(self, name: str) -> None:
        """Disconnect from a broker, which may be gone already."""

    def follow(self, plan: Plan, name: str | None = None) -> None:
        """Take part in another plan, at a broker that has it now or wherever is connected next."""

    def publish(self, name: str, topic: str, payload: bytes, qos: int, /) -> None:
        """Publish at a broker."""

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""

    def wait_until_subscribed(self) -> None:
        """Serve until every broker has every subscription."""


class Clients:
    """Connected clients by broker name; leaving the context disconnects them. `purpose` is part of their ids."""

    # Whether brokers keep what comes for a client while it is away.
    lasting = False

    def __init__(self, brokers: Mapping[str, Broker], on_message: OnMessage, purpose: str = "proof") -> None:
        self._mqtt = mqtt_library()
        self._brokers = brokers
        self._purpose = purpose
        self._on_message = on_message
        self._clients: dict[str, Any] = {}
        self._selector = selectors.DefaultSelector()
        self._subscribed: dict[str, int] = {}
        self._refusal: str | None = None
        self.links_up: dict[str, set[str]] = {}

    def __enter__(self) -> Clients:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for name in list(self._clients):
            self.close(name)
        self._selector.close()

    def open(self, name: str, topics: Iterable[tuple[str, int]]) -> None:
        """Connect to a broker, and subscribe to topics, each with its quality of service."""
        mqtt = self._mqtt
        client = mqtt.Client(
            mqtt.CallbackAPIVersion.VERSION2,
            f"topicloom-{self._purpose}-{identifier(name)}",
            clean_session=not self.lasting,
            protocol=mqtt.MQTTv311,
        )
        client.max_inflight_messages_set(_INFLIGHT)
        wanted = [(_LINK_STATES, 0), *topics]
        acknowledged = 0

        def on_message(_client: Any, _data: Any, message: Any) -> None:
            now = time.perf_counter()
            topic = message.topic
            if topic.startswith("$SYS/"):
                self._hear_link(name, topic, message.payload)
            else:
                self._on_message(name, topic, message.payload, now)

        def on_subscribe(_client: Any, _data: Any, _mid: int, codes: list[Any], _properties: Any) -> None:
            nonlocal acknowledged
            acknowledged += len(codes)
            self._subscribed[name] = len(wanted) - acknowledged

        def on_connect(_client: Any, _data: Any, _flags: Any, code: Any, _properties: Any) -> None:
            if code.is_failure:
                self._refusal = f"broker '{name}' refuses the login: {code}"
                return
            # A packet must stay small however many topics there are.
            for begin in range(0, len(wanted), 100):
                client.subscribe(wanted[begin : begin + 100])

        client.on_message, client.on_subscribe, client.on_connect = on_message, on_subscribe, on_connect
        connect(client, self._brokers[name])
        self._clients[name] = client
        self._subscribed[name] = len(wanted)
        self.links_up[name] = set()
        self._selector.register(client.socket(), selectors.EVENT_READ, client)

    def close(self, name: str) -> None:
        """Disconnect from a broker, which may be gone already."""
        client = self._clients.pop(name)
        del self._subscribed[name], self.links_up[name]
        if client.socket() is not None:
            self._selector.unregister(client.socket())
        client.disconnect()

    def follow(self, plan: Plan, name: str | None = None) -> None:
        """Nothing: topics are where they are wanted."""

    def publish(self, name: str, topic: str, payload: bytes, qos: int) -> None:
        """Publish at a broker."""
        self._clients[name].publish(topic, payload, qos)

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""
        for client in self._clients.values():
            if client.want_write():
                client.loop_write()
        for key, _ in self._selector.select(seconds):
            key.data.loop_read()
            if key.data.socket() is None:
                self._forget(key.data)
                self._lose(key.data)

    def _forget(self, client: Any) -> None:
        """Let go of the socket that a client had, which it may have closed by itself; nothing where that was done."""
        for key in list(self._selector.get_map().values()):
            if key.data is client:
                self._selector.unregister(key.fileobj)

    def _lose(self, client: Any) -> None:
        """A broker has closed the connection of a client."""
        raise InputError(self._refusal or "a broker closed the connection of its client; see its log")

    def wait_until_subscribed(self) -> None:
        """Serve until every broker has acknowledged every subscription."""
        deadline = time.monotonic() + _CONNECT_SECONDS
        while any(self._subscribed.values()):
            if time.monotonic() > deadline:
                late = ", ".join(name for name, open_ in self._subscribed.items() if open_)
                raise InputError(f"no answer to subscriptions within {_CONNECT_SECONDS:.0f} s from {late}")
            self.serve(0.05)

    def _hear_link(self, name: str, topic: str, payload: bytes) -> None:
        session = topic.split("/")[3]
        if payload == b"1":
            self.links_up[name].add(session)
        else:
            self.links_up[name].discard(session)


class LastingClients(Clients):
    """Clients whose sessions last; a broker that restarts is connected to again at once."""

    lasting = True

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""
        lost = {name: client for name, client in self._clients.items() if client.socket() is None}
        # All before any is connected again, which may get the number of a socket that another one had.
        for name, client in lost.items():
            self.links_up[name].clear()
            self._forget(client)
        for client in lost.values():
            with suppress(OSError):
                client.reconnect()
            # It may have lost the broker again while it said hello.
            if client.socket() is not None:
                self._selector.register(client.socket(), selectors.EVENT_READ, client)
        super().serve(seconds)

    def is_connected(self, name: str) -> bool:
        """Whether a client has its broker."""
        return bool(self._clients[name].is_connected())

    def _lose(self, client: Any) -> None:
        """It is connected to again when it is next served."""
