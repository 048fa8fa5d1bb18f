"""Whether a broker answers, its links are up, and messages come through."""

from __future__ import annotations

import json
import os
import socket
import ssl
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from http.client import HTTPException

from topicloom.control.drivers.base import DeliveryFailed, Driver
from topicloom.control.drivers.management_driver import ManagementDriver
from topicloom.control.drivers.registry import values_of
from topicloom.deploy.planning.broker_names import quoted
from topicloom.deploy.planning.delivery import LINKS, NOTHING, Delivery, filled
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.proof.clients import Clients
from topicloom.deploy.proof.delivery_tally import DeliveryTally
from topicloom.deploy.targets.mosquitto import session_name
from topicloom.deploy.targets.secrets import password_of
from topicloom.errors import InputError

_LOOK_SECONDS = 0.1
_ROUND_SECONDS = 1.0
_CONNECT_SECONDS = 5.0
# Brokers that are asked why a link to them is not up.
_ASKED = 3
# MQTT 3.1.1: the answer to a login, of which the last byte says why it is refused, and flags of a login.
_CONNACK_BYTES = 4
_REFUSALS = (
    "accepted",
    "unacceptable protocol version",
    "client id rejected",
    "server unavailable",
    "bad user name or password",
    "not authorised",
)
_CLEAN_SESSION, _WITH_LOGIN = 0x02, 0xC0
_KEEPALIVE_SECONDS = 60
# How long the alert of a refused certificate is waited for.
_ALERT_SECONDS = 1.0
# How long duplicates of probes are waited for: on loopback they come within milliseconds of the first.
_DUPLICATE_SECONDS = 0.5


def wait_until_taken(plan: Plan, broker: Broker, delivery: Delivery, driver: Driver) -> int:
    """Wait until a broker answers and, where that is asked for, all links that it opens by a plan are up.

    Gives how many links were looked at; an error where it takes too long.
    """
    if delivery.check == NOTHING:
        return 0
    if isinstance(driver, ManagementDriver):
        if delivery.check == LINKS:
            _again(driver.require_links, delivery.seconds)
        return len(plan.links_of.get(broker.name, ())) if delivery.check == LINKS else 0
    _again(lambda: _require_listening(broker), delivery.seconds)
    if delivery.check == LINKS and plan.target == "nats" and delivery.monitor is not None:
        url = filled(delivery.monitor, values_of(broker)).rstrip("/")
        _again(lambda: _require_leafnodes(plan, broker, url), delivery.seconds)
        return sum(link[0] == broker.name for link in plan.links_of.get(broker.name, ()))
    if delivery.check != LINKS or plan.target != "mosquitto":
        return 0
    expected = {
        session_name(link, plan.lines_of_link[link]): link
        for link in plan.links_of.get(broker.name, ())
        if link[0] == broker.name
    }
    _again(lambda: _require_links(plan, broker, expected, delivery.seconds), delivery.seconds)
    return len(expected)


def _again(look: Callable[[], object], seconds: float) -> None:
    """Look until there is no error; the last one where it takes too long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            look()
            return
        except (DeliveryFailed, InputError, OSError) as error:
            if time.monotonic() > deadline:
                reason = getattr(error, "strerror", None) or error
                raise DeliveryFailed(f"{reason}, after {seconds:g} s") from None
            time.sleep(_LOOK_SECONDS)


def _require_listening(broker: Broker) -> None:
    try:
        socket.create_connection((broker.host, broker.port or 0), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise DeliveryFailed(f"{broker.host}:{broker.port} does not answer ({error.strerror or error})") from None


def _require_leafnodes(plan: Plan, broker: Broker, url: str) -> None:
    """An error unless the server has the links that it opens by a plan and no others, by the ports they lead to."""
    try:
        with urllib.request.urlopen(f"{url}/leafz", timeout=_CONNECT_SECONDS) as answer:
            leafs = json.load(answer).get("leafs") or []
    except (OSError, HTTPException, ValueError, AttributeError) as error:
        raise DeliveryFailed(f"{url} does not tell of leafnodes ({getattr(error, 'reason', error)})") from None
    opened = [plan.broker[link[1]].port for link in plan.links_of.get(broker.name, ()) if link[0] == broker.name]
    known = {other.port for other in plan.brokers}
    found = Counter(leaf["port"] for leaf in leafs if leaf.get("port") in known)
    if found != Counter(opened):
        raise DeliveryFailed(
            f"it has {found.total()} links to other servers, and {len(opened)} by the plan "
            "(nats-server 2.9 takes other remotes only when it restarts)"
        )


def _require_links(plan: Plan, broker: Broker, expected: dict[str, Pair], seconds: float) -> None:
    """An error unless the broker says soon that these sessions are up."""
    deadline = time.monotonic() + seconds
    with Clients({broker.name: broker}, lambda *_: None, f"check-{os.getpid()}") as clients:
        clients.open(broker.name, [])
        clients.wait_until_subscribed()
        while missing := expected.keys() - clients.links_up[broker.name]:
            if time.monotonic() > deadline:
                others = sorted(expected[session][1] for session in missing)
                reasons = [reason for name in others[:_ASKED] if (reason := login_refusal(plan.broker[name]))]
                why = f" ({'; '.join(reasons)})" if reasons else ""
                raise DeliveryFailed(f"its links are not up: to {', '.join(others)}{why}")
            clients.serve(_LOOK_SECONDS)


def login_refusal(broker: Broker) -> str | None:
    """Why a broker refuses a login from here, with the credentials and certificates of its links.

    None if it accepts the login. By socket, as the MQTT client keeps the reasons of TLS to itself.
    """
    name = quoted(broker.name)
    try:
        answer = _answer_to_login(broker)
    except ssl.SSLCertVerificationError as error:
        return f"the certificate of {name} is not trusted here: {error.verify_message}"
    except ssl.SSLError as error:
        return f"{name} refuses TLS: {(error.reason or str(error)).lower().replace('_', ' ')}"
    except InputError as error:
        return str(error)
    except OSError as error:
        return f"{name} does not answer here: {error.strerror or error}"
    if len(answer) < _CONNACK_BYTES:
        return f"{name} closes the connection without an answer"
    code = answer[-1]
    reason = _REFUSALS[code] if code < len(_REFUSALS) else f"code {code}"
    return f"{name} refuses the login: {reason}" if code else None


def _answer_to_login(broker: Broker) -> bytes:
    """The first bytes that a broker answers to a login by MQTT 3.1.1."""
    texts, flags = [f"topicloom-login-{os.getpid()}"], _CLEAN_SESSION
    if broker.credentials is not None:
        texts += [broker.credentials.username, password_of(broker)]
        flags |= _WITH_LOGIN
    fields = b"".join(len(text.encode()).to_bytes(2, "big") + text.encode() for text in texts)
    body = b"\x00\x04MQTT\x04" + bytes([flags]) + _KEEPALIVE_SECONDS.to_bytes(2, "big") + fields
    # Seven bits of the length a byte, the lowest first; the highest bit says that more follow.
    low, high = len(body) % 128, len(body) // 128
    packet = b"\x10" + (bytes([low + 128, high]) if high else bytes([low])) + body
    with ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((broker.host, broker.port or 0), _CONNECT_SECONDS))
        if broker.tls is not None:
            context = ssl.create_default_context(cafile=broker.tls.ca_file)
            if broker.tls.cert_file is not None:
                context.load_cert_chain(broker.tls.cert_file, broker.tls.key_file)
            connection = stack.enter_context(context.wrap_socket(connection, server_hostname=broker.host))
            # A refused certificate of ours shows after the handshake, and is lost if something is sent before.
            connection.settimeout(_ALERT_SECONDS)
            with suppress(TimeoutError):
                return connection.recv(_CONNACK_BYTES)
            connection.settimeout(_CONNECT_SECONDS)
        connection.sendall(packet)
        return connection.recv(_CONNACK_BYTES)


def probe(plan: Plan, topics: Iterable[str], seconds: float) -> int:
    """Publish a message from every publisher of some topics, and wait until it has come to every subscriber.

    Gives how many messages were published; an error if some do not arrive in time, or arrive more than once.
    """
    wanted = set(topics)
    part = replace(plan, routes=tuple(route for route in plan.routes if route.topic in wanted))
    names = sorted({name for route in part.routes for name in (*route.subscribers, *route.publishers)})
    tally = DeliveryTally(part, b"", 0)

    def arrive(broker: str, _topic: str, payload: bytes, now: float) -> None:
        tally.arrive(broker, payload, now)

    deadline = time.monotonic() + seconds
    with Clients(plan.broker, arrive, f"probe-{os.getpid()}") as clients:
        for name in names:
            heard = [(one.name, route.qos) for route in part.routes for one in route.messages if name in one.wanting]
            try:
                clients.open(name, heard)
            except OSError as error:
                raise DeliveryFailed(f"{quoted(name)} cannot be asked ({error.strerror or error})") from None
        clients.wait_until_subscribed()
        for round_ in range(1_000_000):
            tally = DeliveryTally(part, b"topicloom-probe-%d-%d" % (os.getpid(), round_), 0)
            while (message := tally.next_message()) is not None:
                broker, name, qos, payload = message
                clients.publish(broker, name, payload, qos)
            until = time.monotonic() + _ROUND_SECONDS
            while not tally.complete and time.monotonic() < until:
                clients.serve(_LOOK_SECONDS)
            if tally.complete:
                _require_once(tally, clients)
                break
            if time.monotonic() > deadline:
                counts = tally.counts()
                raise DeliveryFailed(f"{counts.lost} of {counts.expected} probes did not arrive, after {seconds:g} s")
    return tally.messages


def _require_once(tally: DeliveryTally, clients: Clients) -> None:
    """An error if a probe arrives again within a short time."""
    until = time.monotonic() + _DUPLICATE_SECONDS
    while time.monotonic() < until:
        clients.serve(_LOOK_SECONDS)
    repeated = tally.repeated()
    if repeated:
        (topic, source, broker), times = repeated[0]
        often = "twice" if times == 2 else f"at least {times} times"
        more = f" (and {len(repeated) - 1} more)" if len(repeated) > 1 else ""
        raise DeliveryFailed(
            f"{quoted(topic)} published at {quoted(source)} arrived {often} at {quoted(broker)}{more}; "
            "look for bridges that are not of the plan"
        )
