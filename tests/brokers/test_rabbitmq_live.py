"""RabbitMQ: three real nodes take definitions live, every message arrives once, and all is cleared again.

What is bound at one of them is collected. All tests have the same nodes, as starting one takes five seconds.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from plans import fleet_of

from collecting import until_collected
from topicloom import Interest, Overlay
from topicloom.brokers import Plan, collect, make_plan
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.health import answers
from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.kinds.rabbitmq import KIND, ManagementDriver
from topicloom.brokers.kinds.rabbitmq_nodes import RabbitProcesses
from topicloom.brokers.live import LiveFleet, LiveWatch, on_loopback
from topicloom.brokers.live_change import change_running
from topicloom.brokers.local import LOOPBACK, free_ports
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.present import drift_of
from topicloom.model.fleet import Broker, Credentials, Delivery

pytestmark = pytest.mark.broker("rabbitmq")

# Each in the middle once, a relay, a name with everything a pattern could take for itself, and the longest name.
SUBSCRIPTIONS = {
    "news": "abc",
    "relayed": "ac",
    "pair": "bc",
    "own": "a",
    "a.b*(c)+[d]^$|\\ é#": "ab",
    "x" * 80: "abc",
}
# Filters that overlap, on one tree: a broker in the middle that wants less than the one behind it, and one that only
# publishes; and a topic that matches none of them.
FILTERS = [
    ("a", "s.#", "sub"),
    ("a", "s.*.t", "sub"),
    ("b", "s.*.t", "sub"),
    ("c", "s.1.t", "pub"),
    ("c", "s.2", "pub"),
    ("a", "u", "both"),
    ("b", "u", "both"),
]
LINKS = [("a", "b"), ("b", "c")]


@pytest.fixture(scope="module")
def nodes() -> Iterator[RabbitProcesses]:
    """Three nodes."""
    with RabbitProcesses(free_ports(list("abc"))) as running:
        yield running


def test_what_is_bound_is_collected(nodes: RabbitProcesses, tmp_path: Path) -> None:
    """In a virtual host, so that it is alone."""
    ask = nodes.management("a").ask
    settings = {
        "rabbitmq": nodes.url("a"),
        "credentials": {"username": "guest", "password_file": f"{tmp_path}/guest"},
    }
    (tmp_path / "guest").write_text("guest\n")
    fleet = fleet_from_tables({"brokers": {"a": {"host": LOOPBACK, "vhost": "its own", "collect": settings}}})
    ask("PUT", "vhosts/its%20own")
    ask("PUT", "permissions/its%20own/guest", {"configure": ".*", "write": ".*", "read": ".*"})
    for exchange, kind in (("news", "fanout"), ("alarms", "topic")):
        ask("PUT", f"exchanges/its%20own/{exchange}", {"type": kind, "durable": True})
    for queue in ("q1", "q2"):
        ask("PUT", f"queues/its%20own/{queue}", {"durable": True})
        ask("POST", f"bindings/its%20own/e/news/q/{queue}", {"routing_key": ""})
    ask("POST", "bindings/its%20own/e/alarms/q/q1", {"routing_key": "*.fire"})
    expected = {("a", "q1", "news"), ("a", "q2", "news"), ("a", "q1", "*.fire")}
    found = until_collected(fleet, expected, None, tmp_path)
    ask("DELETE", f"bindings/its%20own/e/alarms/q/q1/{quote('*.fire', safe='')}")
    ask("DELETE", "queues/its%20own/q2")
    found = until_collected(fleet, {("a", "q1", "news")}, found.collected, tmp_path)
    (tmp_path / "guest").write_text("wrong\n")
    refused = collect(fleet, found.collected)
    assert "does not accept the login (401)" in refused.problems["a"]
    assert "wrong" not in refused.problems["a"]


def test_a_node_that_hangs_does_not_answer(nodes: RabbitProcesses) -> None:
    broker = Broker("a", LOOPBACK, nodes.ports["a"])
    assert answers(broker, "rabbitmq")
    assert answers(broker, "rabbitmq", nodes.url("a"))
    deadline = time.monotonic() + 30
    while "os_pid" not in (about := nodes.management("a").ask("GET", "nodes")[0]):
        assert time.monotonic() < deadline, about
        time.sleep(0.2)
    os.kill(int(about["os_pid"]), signal.SIGSTOP)
    try:
        assert not answers(broker, "rabbitmq", seconds=0.5)
        assert not answers(broker, "rabbitmq", nodes.url("a"), seconds=0.5)
    finally:
        os.kill(int(about["os_pid"]), signal.SIGCONT)
    assert answers(broker, "rabbitmq", seconds=20)


def test_every_message_arrives_once(nodes: RabbitProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RABBITMQ_PASSWORD", "guest")
    interest = Interest.from_pairs([(name, topic) for topic, names in SUBSCRIPTIONS.items() for name in names])
    overlay = Overlay.from_links(interest, LINKS)
    plan = make_plan(interest, overlay, fleet_of("abc"), target="rabbitmq", relays=True)
    assert plan.route["relayed"].relays == ("b",)
    plan = on_loopback(plan, nodes.ports)
    proven(plan, nodes, None)
    drivers = {name: driver(nodes, name) for name in "abc"}
    clear(plan, nodes, drivers)
    changed(plan, nodes)
    filtered = Interest.from_roles(FILTERS, filters="amqp")
    hosts = fleet_of("abc", defaults={"vhost": "plant 1/é"})
    other = make_plan(filtered, Overlay.from_links(filtered, LINKS), hosts, target="rabbitmq")
    proven(on_loopback(other, nodes.ports), nodes, "c")


def proven(plan: Plan, nodes: RabbitProcesses, kill: str | None) -> None:
    """Everything arrives once, also after a broker was killed; filters are bound, and a queue gets a message once."""
    fleet = LiveFleet(plan, nodes, LiveWatch())
    with fleet.clients:
        proof = fleet.proof(40, kill)
    assert proof.perfect
    assert proof.counts.delivered == proof.counts.expected > 40
    assert (proof.mending is None) == (kill is None)


def changed(plan: Plan, nodes: RabbitProcesses) -> None:
    """From a chain with one broker in the middle to one with another, while messages flow: none comes twice."""
    interest = Interest.from_pairs([(name, "news") for name in "abc"])
    first, second = (
        make_plan(interest, Overlay.from_links(interest, links), fleet_of("abc"), target="rabbitmq")
        for links in (LINKS, [("a", "b"), ("a", "c")])
    )
    ports = {broker.name: broker.port or 0 for broker in plan.brokers}
    counts = change_running(on_loopback(first, ports), on_loopback(second, ports), nodes).counts
    assert (counts.doubled, counts.unwanted) == (0, 0)
    assert counts.delivered > counts.expected // 2, "before and after everything comes"


def delivery(nodes: RabbitProcesses, name: str) -> Delivery:
    return Delivery("rabbitmq", url=nodes.url(name), credentials=Credentials("guest", password_env="RABBITMQ_PASSWORD"))


def driver(nodes: RabbitProcesses, name: str) -> ManagementDriver:
    return ManagementDriver(delivery(nodes, name), Broker(name, name))


def clear(plan: Plan, nodes: RabbitProcesses, drivers: dict[str, ManagementDriver]) -> None:
    """A plan without topics leaves nothing of ours but exchanges, and what others have stays; links are waited for."""

    def require_links(by: Plan, name: str) -> None:
        assert KIND.links(by, by.broker[name], delivery(nodes, name)).up is not None

    for name, text in configurations(plan).items():
        drivers[name].put(text)
        require_links(plan, name)
        assert drift_of(plan, plan.broker[name], drivers[name].get()[drivers[name].place]) is None
    nodes.management("b").ask("DELETE", "parameters/federation-upstream/%2F/topicloom-a")
    found = drift_of(plan, plan.broker["b"], drivers["b"].get()[drivers["b"].place])
    assert found is not None
    nowhere = replace(plan.broker["a"], port=free_ports(["x"])["x"])
    lost = replace(plan, brokers=(nowhere, *plan.brokers[1:]))
    drivers["b"].put(configurations(lost)["b"])
    with pytest.raises(DeliveryFailed, match=r"^its links are not up: .* from topicloom-a and \d more$"):
        require_links(lost, "b")
    nodes.management("a").ask("PUT", "policies/%2F/theirs", {"pattern": "^x$", "definition": {"max-length": 7}})
    bare = plan.bare
    for name, text in configurations(bare).items():
        drivers[name].put(text)
        require_links(bare, name)
        assert nodes.management(name).ask("GET", "parameters") == []
        left = [row["name"] for row in nodes.management(name).ask("GET", "policies")]
        assert drivers[name].get() == {}
        assert left == (["theirs"] if name == "a" else [])
