"""NATS servers on the loopback interface, and a client at each, which speaks NATS' protocol of text lines."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds.nats import leafnodes
from topicloom.brokers.local import LOOPBACK, AnyClients, OnMessage, Processes, free_ports, installed, on_ports
from topicloom.brokers.plan import Plan
from topicloom.errors import InputError
from topicloom.io.http import HttpClient, HttpError
from topicloom.model.fleet import Broker

_CONNECT_SECONDS = 10.0
_CHUNK = 1 << 16
_HELLO = {"verbose": False, "pedantic": False, "name": "topicloom-proof", "lang": "python", "version": "1"}
_MAIN = """\
listen: "{host}:{port}"
http: "{host}:{web}"
leafnodes {{
  listen: "{host}:{leaf}"
  reconnect: 1
  include "./remotes.conf"
}}
"""


class NatsProcesses(Processes):
    """NATS servers by broker name, each with a port for clients, one for leafnodes and one for monitoring."""

    carries_patterns = False

    def __init__(self, ports: dict[str, int], leaf_ports: dict[str, int], *, lasting: bool = False) -> None:
        super().__init__(ports, lasting=lasting)
        self._leaf_ports = leaf_ports
        self._web = free_ports(list(ports), {*ports.values(), *leaf_ports.values()})

    def linked(self, name: str) -> set[str]:
        """Return the servers to which a server has opened links."""
        url = f"http://{LOOPBACK}:{self._web[name]}"
        try:
            ports = {leaf["port"] for leaf in leafnodes(HttpClient(url, seconds=_CONNECT_SECONDS))}
        except HttpError as error:
            raise InputError(f"broker '{name}': {error}") from None
        return {other for other, port in self._leaf_ports.items() if port in ports}

    @property
    def link_ports(self) -> dict[str, int]:
        """The ports of leafnodes."""
        return self._leaf_ports

    def clients(self, _plan: Plan, on_message: OnMessage) -> AnyClients:
        """Return clients, not connected yet."""
        made = LastingNatsClients if self._lasting else NatsClients
        return made(on_ports(self.ports), on_message)

    def links_down(self, plan: Plan, name: str, clients: AnyClients) -> list[Pair]:
        """Return the links that a server should open by a plan, and that are not up."""
        linked = self.linked(name)
        return [link for link in plan.opened_by(name) if link[1] not in linked]

    def _find_program(self) -> str:
        return installed("nats-server", "NATS")

    def _set_up(self, name: str, home: Path, bridges: str) -> list[str]:
        (home / "remotes.conf").write_text(bridges, encoding="utf-8")
        main = home / "nats.conf"
        ports = {"port": self.ports[name], "leaf": self._leaf_ports[name], "web": self._web[name]}
        text = _MAIN.format(host=LOOPBACK, **ports)
        main.write_text(text, encoding="utf-8")
        return [self._program, "-c", str(main)]


class NatsClients:
    """Connected clients by broker name; leaving the context disconnects them."""

    def __init__(self, brokers: Mapping[str, Broker], on_message: OnMessage) -> None:
        self._brokers = brokers
        self._on_message = on_message
        self._sockets: dict[str, socket.socket] = {}
        self._read: dict[str, bytes] = {}
        self._unsent: dict[str, bytearray] = {}
        self._waiting: set[str] = set()
        self._selector = selectors.DefaultSelector()
        self.links_up: dict[str, set[str]] = {}

    def __enter__(self) -> NatsClients:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for name in list(self._sockets):
            self.close(name)
        self._selector.close()

    def open(self, name: str, topics: Iterable[tuple[str, int]]) -> None:
        """Connect to a server, and subscribe to topics; NATS has no quality of service."""
        broker = self._brokers[name]
        opened = socket.create_connection((broker.host, broker.port or 0), timeout=_CONNECT_SECONDS)
        opened.setblocking(False)
        lines = [f"CONNECT {json.dumps(_HELLO)}"]
        lines += [f"SUB {topic} {number}" for number, (topic, _) in enumerate(topics, 1)]
        self._sockets[name] = opened
        self._read[name], self._unsent[name] = b"", bytearray()
        self._waiting.add(name)
        self._selector.register(opened, selectors.EVENT_READ, name)
        self._send(name, "".join(f"{line}\r\n" for line in (*lines, "PING")).encode())

    def close(self, name: str) -> None:
        """Disconnect from a server, which may be gone already."""
        opened = self._sockets.pop(name)
        self._selector.unregister(opened)
        opened.close()

    def follow(self, plan: Plan, name: str | None = None) -> None:
        """Nothing: topics are where they are wanted."""

    def publish(self, name: str, topic: str, payload: bytes, _qos: int) -> None:
        """Publish at a server."""
        self._send(name, b"PUB %b %d\r\n%b\r\n" % (topic.encode(), len(payload), payload))

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""
        for name in self._sockets:
            self._send(name, b"")
        for key, _ in self._selector.select(seconds):
            name = key.data
            try:
                chunk = self._sockets[name].recv(_CHUNK)
            except ConnectionError:
                chunk = b""
            if chunk:
                self._read[name] = self._heard(name, self._read[name] + chunk)
            else:
                self._lose(name)

    def _lose(self, name: str) -> None:
        """A server has closed the connection of its client."""
        raise InputError("a server closed the connection of its client; see its log")

    def wait_until_subscribed(self) -> None:
        """Serve until every server has taken every subscription."""
        deadline = time.monotonic() + _CONNECT_SECONDS
        while self._waiting:
            if time.monotonic() > deadline:
                raise InputError(f"no answer within {_CONNECT_SECONDS:.0f} s from {', '.join(sorted(self._waiting))}")
            self.serve(0.05)

    def _send(self, name: str, data: bytes) -> None:
        unsent = self._unsent[name]
        unsent += data
        with suppress(BlockingIOError):
            del unsent[: self._sockets[name].send(unsent) if unsent else 0]

    def _heard(self, name: str, data: bytes) -> bytes:
        """Handle all that is complete, and give the rest."""
        now = time.perf_counter()
        while True:
            line, end, rest = data.partition(b"\r\n")
            if not end:
                return data
            word, *words = line.split(b" ")
            if word == b"MSG":
                size = int(words[-1])
                if len(rest) < size + 2:
                    return data
                self._on_message(name, words[0].decode(), rest[:size], now)
                rest = rest[size + 2 :]
            elif word == b"PING":
                self._send(name, b"PONG\r\n")
            elif word == b"PONG":
                self._waiting.discard(name)
            elif word == b"-ERR":
                raise InputError(f"broker '{name}' refused: {b' '.join(words).decode(errors='replace')}")
            data = rest


class LastingNatsClients(NatsClients):
    """Clients that come back when their server does, with their subscriptions and with what they published meanwhile.

    As those of applications do; what a server had for one that was away is lost, as NATS keeps nothing.
    """

    def __init__(self, brokers: Mapping[str, Broker], on_message: OnMessage) -> None:
        super().__init__(brokers, on_message)
        self._topics: dict[str, list[tuple[str, int]]] = {}
        self._later: dict[str, bytearray] = {}

    def open(self, name: str, topics: Iterable[tuple[str, int]]) -> None:
        """Connect to a server, and subscribe to topics, from now on whenever it is there."""
        self._topics[name] = list(topics)
        super().open(name, self._topics[name])

    def publish(self, name: str, topic: str, payload: bytes, _qos: int) -> None:
        """Publish at a server, once it is there."""
        if name in self._later:
            self._later[name] += b"PUB %b %d\r\n%b\r\n" % (topic.encode(), len(payload), payload)
        else:
            super().publish(name, topic, payload, _qos)

    def serve(self, seconds: float) -> None:
        """Handle what comes, and wait at most so long for it."""
        for name in list(self._later):
            with suppress(OSError):
                super().open(name, self._topics[name])
                self._send(name, bytes(self._later.pop(name)))
        super().serve(seconds)

    def _lose(self, name: str) -> None:
        self.close(name)
        self._waiting.discard(name)
        self._later[name] = bytearray()

    def _send(self, name: str, data: bytes) -> None:
        if name in self._sockets:
            # Where it is gone, reading notices that, too.
            with suppress(ConnectionError):
                super()._send(name, data)
