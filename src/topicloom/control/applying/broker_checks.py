"""Whether a broker answers, its links are up, and messages come through."""

from __future__ import annotations

import json
import os
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable
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
from topicloom.errors import InputError

_LOOK_SECONDS = 0.1
_ROUND_SECONDS = 1.0
_CONNECT_SECONDS = 5.0
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
    _again(lambda: _require_links(broker, expected, delivery.seconds), delivery.seconds)
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


def _require_links(broker: Broker, expected: dict[str, Pair], seconds: float) -> None:
    """An error unless the broker says soon that these sessions are up."""
    deadline = time.monotonic() + seconds
    with Clients({broker.name: broker}, lambda *_: None, f"check-{os.getpid()}") as clients:
        clients.open(broker.name, [])
        clients.wait_until_subscribed()
        while missing := expected.keys() - clients.links_up[broker.name]:
            if time.monotonic() > deadline:
                others = ", ".join(sorted(expected[session][1] for session in missing))
                raise DeliveryFailed(f"its links are not up: to {others}")
            clients.serve(_LOOK_SECONDS)


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
