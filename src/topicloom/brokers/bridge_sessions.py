"""Sessions of bridges, made ready before their bridge comes and forgotten when it does not come back.

A bridge with `cleansession false` has a session at the other broker, which keeps for it what comes while it is away,
and one at its own. Whoever connects under their names can make them before the bridge exists: from then on brokers keep
the link's messages, and the bridge finds them when it starts. So a topic whose old links are gone loses nothing until
its new ones are there. What came over the old links after that is delivered twice.

What was published before the sessions were ready, and is still on its way over old links when these end, is lost. So
they stay for `UNDER_WAY_SECONDS` more. Without that wait 11 of 19,560 deliveries of QoS 2, at 200 messages a second
and topic on a busy machine, were lost, all published at most 0.16 s before the first old link went.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from topicloom.brokers.diff import topic_families
from topicloom.brokers.kind import Pair
from topicloom.brokers.kinds.mosquitto import local_session_name, session_name
from topicloom.brokers.local import connect, mqtt_library
from topicloom.brokers.plan import Line, Plan
from topicloom.errors import InputError
from topicloom.model.fleet import Broker

_SECONDS = 5.0
# How long a message may be under way over old links before it is lost with them.
UNDER_WAY_SECONDS = 0.5
Sessions = Mapping[Pair, tuple[Line, ...]]


def new_sessions(old: Plan, new: Plan) -> Sessions:
    """The links of a plan whose sessions another plan has not, with what they carry."""
    had = {session_name(link, lines) for link, lines in old.lines_of_link.items()}
    return {link: lines for link, lines in new.lines_of_link.items() if session_name(link, lines) not in had}


def first_needed(old: Plan, new: Plan, steps: Sequence[tuple[str, bool]]) -> dict[int, list[Pair]]:
    """For each step the new links that must be ready before it, as it takes links from a topic that they will carry.

    Args:
        old: the plan that the fleet has.
        new: the plan that it gets.
        steps: brokers in the order of the change, each with whether it gets its new file or goes without links.
    """
    needed: dict[int, list[Pair]] = {}
    family = topic_families(old, new)
    broken = [{family[topic] for topic in _broken(old, new, broker, has_new=has_new)} for broker, has_new in steps]
    for link in new_sessions(old, new):
        topics = {family[route.topic] for route in new.routes_of_link[link]}
        for number, (broker, _) in enumerate(steps):
            if broker == link[0] or not topics.isdisjoint(broken[number]):
                needed.setdefault(number, []).append(link)
                break
    return needed


def _broken(old: Plan, new: Plan, broker: str, *, has_new: bool) -> Iterator[str]:
    """The topics of links that a broker opens by the old plan, and not, or with other sessions, by the new one."""
    gone = new_sessions(new, old)
    for link in old.links_of.get(broker, ()):
        if link[0] == broker and (link in gone or not has_new):
            yield from (route.topic for route in old.routes_of_link[link])


def prepare_link(brokers: Mapping[str, Broker], link: Pair, lines: Sequence[Line]) -> None:
    """Let both brokers of a link keep, from now on, what it is to carry."""
    for broker, name, wanted in _ends(brokers, link, lines):
        if wanted:
            _session(broker, name, wanted)


def let_arrive() -> None:
    """Wait until what was under way when sessions were made ready has come over the old links."""
    time.sleep(UNDER_WAY_SECONDS)


def forget_link(brokers: Mapping[str, Broker], link: Pair, lines: Sequence[Line]) -> None:
    """Let those of a link's two brokers that are given forget it, where it is gone or carries other topics.

    Both are asked before there is an error: a broker that keeps messages for a link which is gone would send them, old
    as they are by then, when it comes back.
    """
    refused = []
    for broker, name, _ in _ends(brokers, link, lines):
        try:
            _session(broker, name, [])
        except InputError as error:
            refused.append(error)
    if refused:
        raise refused[0]


def _ends(
    brokers: Mapping[str, Broker], link: Pair, lines: Sequence[Line]
) -> Iterator[tuple[Broker, str, list[tuple[str, int]]]]:
    """The sessions of a link at given brokers: where each is, what it is called, and what it keeps."""
    here = [(line.pattern, line.qos) for line in lines if line.direction != "in"]
    there = [(line.pattern, line.qos) for line in lines if line.direction != "out"]
    names = local_session_name(link, lines), session_name(link, lines)
    for broker, name, wanted in zip(link, names, (here, there), strict=True):
        if broker in brokers:
            yield brokers[broker], name, wanted


def _session(broker: Broker, name: str, wanted: Sequence[tuple[str, int]]) -> None:
    """Make a session with these subscriptions, or end it where there are none."""
    mqtt = mqtt_library()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, clean_session=not wanted, protocol=mqtt.MQTTv311)
    waiting = [1 + len(wanted)]

    def on_connect(_client: Any, _data: Any, _flags: Any, code: Any, _properties: Any) -> None:
        waiting[0] -= not code.is_failure
        for begin in range(0, len(wanted), 100):
            client.subscribe(list(wanted[begin : begin + 100]))

    def on_subscribe(_client: Any, _data: Any, _mid: int, codes: list[Any], _properties: Any) -> None:
        waiting[0] -= sum(not code.is_failure for code in codes)

    client.on_connect, client.on_subscribe = on_connect, on_subscribe
    # What comes meanwhile is not acknowledged, so it stays for the bridge.
    client.manual_ack_set(True)
    # A broker sends a bridge nothing back that came from it, and remembers that with its subscriptions.
    client.enable_bridge_mode()
    try:
        connect(client, broker)
    except OSError as error:
        raise InputError(f"broker '{broker.name}' does not answer ({error.strerror or error})") from None
    deadline = time.monotonic() + _SECONDS
    while waiting[0] > 0:
        if client.loop(0.05) != mqtt.MQTT_ERR_SUCCESS or time.monotonic() > deadline:
            raise InputError(f"broker '{broker.name}' does not let the session {name} log in and subscribe")
    client.disconnect()
