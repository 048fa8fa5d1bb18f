"""MQTT clients, one at every broker of a fleet, served by one loop.

Each client subscribes to the given topics by their names and hears which links of its broker are up. Everything runs
in the thread that calls `serve`.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.targets.secrets import password_of
from topicloom.errors import InputError

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
