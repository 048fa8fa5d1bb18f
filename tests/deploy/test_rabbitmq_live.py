"""RabbitMQ: three real nodes take the definitions live, every message arrives once, and all is cleared again."""

from __future__ import annotations

import base64
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pandas
import pytest

from rabbitmq_nodes import RabbitNodes
from topicloom import Interest, Overlay
from topicloom.control.drivers.management_driver import ManagementDriver
from topicloom.deploy import Fleet, Plan, make_plan
from topicloom.deploy.planning.delivery import Delivery
from topicloom.deploy.planning.logins import Credentials
from topicloom.deploy.proof.processes import LOOPBACK
from topicloom.deploy.targets.render import configurations

pytestmark = pytest.mark.broker("rabbitmq")

# Each in the middle once, a relay, a name with everything a pattern could take for itself, and the longest name.
LONG = "x" * 80
SUBSCRIPTIONS = {
    "news": "abc",
    "relayed": "ac",
    "pair": "bc",
    "own": "a",
    "a.b*(c)+[d]^$|\\ é#": "ab",
    LONG: "abc",
}
MESSAGES = 20

# Filters that overlap, on one tree: a broker in the middle that wants less than the one behind it, and one that only
# publishes. Who binds what, and who publishes what.
FILTERS = [
    ("a", "s.#", "sub"),
    ("a", "s.*.t", "sub"),
    ("b", "s.*.t", "sub"),
    ("c", "s.1.t", "pub"),
    ("c", "s.2", "pub"),
]
NAMES = {"s.1.t": "ab", "s.2": "a"}


def test_every_message_arrives_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RABBITMQ_PASSWORD", "guest")
    interest = Interest.from_pairs([(name, topic) for topic, names in SUBSCRIPTIONS.items() for name in names])
    overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c")])
    with RabbitNodes(["a", "b", "c"], tmp_path) as nodes:
        fleet = Fleet.from_tables({"brokers": {name: {"host": LOOPBACK, "port": nodes.ports[name]} for name in "abc"}})
        plan = make_plan(interest, overlay, fleet, target="rabbitmq", relays=True)
        assert plan.route["relayed"].relays == ("b",)
        for name, text in configurations(plan).items():
            management(nodes, name).put(text)
        for topic, names in SUBSCRIPTIONS.items():
            for name in names:
                listen(nodes, name, topic)
        wait_for_links(nodes, 2 * sum(len(route.links) for route in plan.routes))
        # Links are up before the bindings of the far end have come through.
        for topic, names in SUBSCRIPTIONS.items():
            wait_until_through(nodes, topic, names)
        for topic, names in SUBSCRIPTIONS.items():
            for source in names:
                for number in range(MESSAGES):
                    publish(nodes, source, topic, f"{source} {number}")
        time.sleep(2)
        for topic, names in SUBSCRIPTIONS.items():
            expected = Counter(f"{source} {number}" for source in names for number in range(MESSAGES))
            for name in names:
                found = Counter(drain(nodes, name, topic))
                assert {text: count for text, count in found.items() if not text.startswith("probe")} == expected
        clear(nodes, plan)
        deliver_by_filters(nodes, overlay.to_pandas(), fleet)


def management(nodes: RabbitNodes, name: str) -> ManagementDriver:
    login = Credentials("guest", password_env="RABBITMQ_PASSWORD")
    return ManagementDriver(Delivery("rabbitmq", url=nodes.url(name), credentials=login), name)


def clear(nodes: RabbitNodes, plan: Plan) -> None:
    """A plan without topics leaves nothing of ours but exchanges, and what others have stays."""
    nodes.ask("a", "policies/%2F/theirs", {"pattern": "^x$", "definition": {"max-length": 7}}, "PUT")
    for name, text in configurations(replace(plan, links=(), routes=())).items():
        management(nodes, name).put(text)
        assert nodes.ask(name, "parameters") == []
        assert [row["name"] for row in nodes.ask(name, "policies")] == (["theirs"] if name == "a" else [])


def deliver_by_filters(nodes: RabbitNodes, links: pandas.DataFrame, fleet: Fleet) -> None:
    """A message reaches a queue once, however many of its filters match, and no queue that none of them matches."""
    interest = Interest.from_roles(FILTERS, filters="amqp")
    overlay = Overlay.from_links(interest, zip(links.source, links.target, strict=True))
    plan = make_plan(interest, overlay, fleet, target="rabbitmq")
    for name, text in configurations(plan).items():
        management(nodes, name).put(text)
    (exchange,) = interest.topic_names
    for name, filter_, role in FILTERS:
        if role == "sub":
            listen(nodes, name, exchange, filter_)
    deadline = time.monotonic() + 30
    for name, wanting in NAMES.items():
        for broker in wanting:
            while not drain(nodes, broker, exchange):
                assert time.monotonic() < deadline, f"{name} does not reach {broker}"
                publish(nodes, "c", exchange, "probe", name)
                time.sleep(0.2)
    for name in NAMES:
        for number in range(MESSAGES):
            publish(nodes, "c", exchange, f"{name} {number}", name)
    time.sleep(2)
    for broker in "ab":
        found = Counter(text for text in drain(nodes, broker, exchange) if text != "probe")
        assert found == Counter(
            f"{name} {n}" for name, all_ in NAMES.items() if broker in all_ for n in range(MESSAGES)
        )


def listen(nodes: RabbitNodes, name: str, topic: str, filter_: str = "") -> None:
    queue = quote(f"q-{topic}", safe="")
    nodes.ask(name, f"queues/%2F/{queue}", {"durable": False, "auto_delete": False}, "PUT")
    nodes.ask(name, f"bindings/%2F/e/{quote(topic, safe='')}/q/{queue}", {"routing_key": filter_})


def publish(nodes: RabbitNodes, name: str, topic: str, text: str, key: str = "") -> None:
    payload = base64.b64encode(text.encode()).decode()
    message = {"properties": {}, "routing_key": key, "payload": payload, "payload_encoding": "base64"}
    nodes.ask(name, f"exchanges/%2F/{quote(topic, safe='')}/publish", message)


def drain(nodes: RabbitNodes, name: str, topic: str) -> list[str]:
    wish = {"count": 10_000, "ackmode": "ack_requeue_false", "encoding": "auto"}
    return [row["payload"] for row in nodes.ask(name, f"queues/%2F/{quote(f'q-{topic}', safe='')}/get", wish)]


def wait_for_links(nodes: RabbitNodes, expected: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        links = [row for name in nodes.names for row in nodes.ask(name, "federation-links")]
        if len(links) == expected and all(row["status"] == "running" for row in links):
            return
        assert time.monotonic() < deadline, links
        time.sleep(0.3)


def wait_until_through(nodes: RabbitNodes, topic: str, names: str) -> None:
    deadline = time.monotonic() + 30
    for source in names:
        for name in names:
            number = 0
            while not any(text.startswith(f"probe {source}") for text in drain(nodes, name, topic)):
                assert time.monotonic() < deadline, f"{topic!r} from {source} does not reach {name}"
                publish(nodes, source, topic, f"probe {source} {number}")
                number += 1
                time.sleep(0.2)
