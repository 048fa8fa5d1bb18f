"""A real NATS server that is told to reload: what it takes, and that `apply` notices what it does not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from following import wait_until_all_answer

from machine import NATS
from topicloom import Interest, Overlay
from topicloom.brokers import Plan, make_plan
from topicloom.brokers.deliver import driver_of, wait_until_taken
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.local import LOOPBACK, free_ports
from topicloom.brokers.plan_file import configuration_of

pytestmark = pytest.mark.broker("nats")

CONFIGURATION = """
listen: "127.0.0.1:{client}"
http: "127.0.0.1:{web}"
pid_file: "{home}/pid"
leafnodes {{
  listen: "127.0.0.1:{leaf}"
  reconnect: 1
  include "./remotes.conf"
}}
"""


@contextmanager
def running(home: Path, leaf: int, web: int, remotes: str) -> Iterator[subprocess.Popen[bytes]]:
    home.mkdir(exist_ok=True)
    (home / "remotes.conf").write_text(remotes)
    (client,) = free_ports(["client"], (leaf, web)).values()
    (home / "nats.conf").write_text(CONFIGURATION.format(client=client, web=web, leaf=leaf, home=home))
    process = subprocess.Popen([str(NATS), "-c", home / "nats.conf"], stderr=(home / "log").open("wb"))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_reload_by_signal_is_looked_after(tmp_path: Path) -> None:
    leafs = free_ports(list("ab"))
    webs = free_ports(["web a", "web b"], leafs.values())
    apply = {
        "via": "folder",
        "path": f"{tmp_path}/{{broker}}/remotes.conf",
        "reload": f"{NATS} --signal reload={tmp_path}/{{broker}}/pid",
        "seconds": 1.5,
    }
    tables = {
        name: {"host": LOOPBACK, "port": leafs[name], "apply": {"monitor": f"http://{LOOPBACK}:{webs[f'web {name}']}"}}
        for name in "ab"
    }
    fleet = fleet_from_tables({"defaults": {"apply": apply}, "brokers": tables})
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet, target="nats")
    alone = plan.bare

    def told(wanted: Plan) -> int | None:
        driver = driver_of(plan.broker["a"], fleet.deliveries["a"], tmp_path)
        driver.put(configuration_of(wanted, "a"))
        driver.reload()
        return wait_until_taken(wanted, plan.broker["a"], fleet.deliveries["a"]).up

    with ExitStack() as stack:
        stack.enter_context(running(tmp_path / "b", leafs["b"], webs["web b"], configuration_of(plan, "b")))
        begun = stack.enter_context(running(tmp_path / "a", leafs["a"], webs["web a"], configuration_of(plan, "a")))
        wait_until_all_answer(fleet, "nats")
        assert told(plan) == 1, "what it has already it takes"
        with pytest.raises(
            DeliveryFailed, match=r"^it has 1 links to other servers, and 0 by the plan \(nats-server 2"
        ):
            told(alone)
        begun.kill()
        begun.wait()
        with running(tmp_path / "a", leafs["a"], webs["web a"], configuration_of(alone, "a")):
            assert wait_until_taken(alone, plan.broker["a"], fleet.deliveries["a"]).up == 0
