"""Real brokers on loopback with clients that come and go: what is collected is what the clients did."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from collecting import PATIENCE_SECONDS, until_collected
from machine import NATS
from topicloom.brokers import collect
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.local import LOOPBACK, free_ports, mosquitto_path


@contextmanager
def running(commands: dict[str, list[str]], ports: dict[str, int]) -> Iterator[None]:
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands.values()
    ]
    try:
        for port in ports.values():
            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                try:
                    socket.create_connection((LOOPBACK, port), timeout=1).close()
                    break
                except OSError:
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


@pytest.mark.broker("mosquitto")
def test_mosquittos(tmp_path: Path) -> None:
    ports = free_ports(["a", "b", "c"])
    commands = {}
    for name, port in ports.items():
        types = "".join(f"log_type {kind}\n" for kind in ("subscribe", "unsubscribe", "notice", "information", "error"))
        (tmp_path / f"{name}.conf").write_text(
            f"listener {port} {LOOPBACK}\nallow_anonymous true\nuser root\nlog_dest file {tmp_path / name}.log\n{types}"
        )
        commands[name] = [mosquitto_path(), "-c", str(tmp_path / f"{name}.conf")]
    fleet = fleet_from_tables(
        {
            "defaults": {"collect": {"log": f"{tmp_path}/{{broker}}.log"}},
            "brokers": {name: {"host": LOOPBACK, "port": port} for name, port in ports.items()},
        }
    )
    rng = random.Random(5)
    wanted: dict[tuple[str, str], set[str]] = {}
    clients: dict[tuple[str, str], tuple[Any, bool]] = {}
    found = None
    with running(commands, ports):
        for _ in range(4):
            for _ in range(25):
                who = (rng.choice("abc"), rng.choice(["c1", "c2 1 x", "pump", "topicloom-b-a-0"]))
                if who not in clients:
                    clean = rng.random() < 0.6
                    client = mqtt.Client(CallbackAPIVersion.VERSION2, who[1], clean_session=clean)
                    client.connect(LOOPBACK, ports[who[0]])
                    client.loop_start()
                    clients[who] = (client, clean)
                    wanted[who] = set() if clean else wanted.get(who, set())
                    continue
                client, clean = clients[who]
                topic = rng.choice(["t/#", "p 2 y", "$SYS/broker/uptime", "é/+"])
                if rng.random() < 0.2:
                    client.disconnect()
                    client.loop_stop()
                    del clients[who]
                    wanted[who] = set() if clean else wanted[who]
                elif topic in wanted[who]:
                    client.unsubscribe(topic)
                    wanted[who].remove(topic)
                else:
                    client.subscribe(topic, rng.randrange(3))
                    wanted[who].add(topic)
            expected = {
                (node, client, topic)
                for (node, client), topics in wanted.items()
                for topic in topics
                if not client.startswith("topicloom-") and not topic.startswith("$SYS")
            }
            found = until_collected(fleet, expected, found and found.collected, tmp_path)
        for client, _ in clients.values():
            client.loop_stop()


@pytest.mark.broker("mosquitto")
def test_bridges_made_by_hand_are_links_not_clients(tmp_path: Path) -> None:
    """Neither broker of a bridge counts what it subscribes to or brings; clients beside it count as before."""
    ports = free_ports(["a", "b"])
    commands = {}
    for name, port in ports.items():
        (tmp_path / f"{name}.conf").write_text(
            f"listener {port} {LOOPBACK}\nallow_anonymous true\nuser root\n"
            f"log_dest file {tmp_path / name}.log\nlog_type all\n"
        )
        commands[name] = [mosquitto_path(), "-c", str(tmp_path / f"{name}.conf")]
    with (tmp_path / "a.conf").open("a") as file:
        file.write(f"connection hand\naddress {LOOPBACK}:{ports['b']}\nremote_clientid far\nlocal_clientid near\n")
        file.write("topic # both 1\nrestart_timeout 1\n")
    fleet = fleet_from_tables(
        {
            "defaults": {"collect": {"log": f"{tmp_path}/{{broker}}.log"}},
            "brokers": {name: {"host": LOOPBACK, "port": port} for name, port in ports.items()},
        }
    )
    found, clients = None, {}
    with running(commands, ports):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while found is None or found.collected.bridges != {"a": ("near",), "b": ("far",)}:
            assert time.monotonic() < deadline
            found = collect(fleet, found and found.collected)
        for name, topic in (("a", "x/#"), ("b", "x/1")):
            client = mqtt.Client(CallbackAPIVersion.VERSION2, f"client {name}")
            client.connect(LOOPBACK, ports[name])
            client.loop_start()
            client.subscribe(topic, 1)
            clients[name] = client
        clients["b"].publish("x/1", b"1", 1).wait_for_publish(5)
        expected = {("a", "client a", "x/#"), ("b", "client b", "x/1"), ("b", "publishers", "x/1")}
        found = until_collected(fleet, expected, found.collected, tmp_path)
        for _ in range(100):
            if "Received PUBLISH from near" in (tmp_path / "a.log").read_text():
                break
            time.sleep(0.05)
        else:
            raise AssertionError("the bridge brings nothing")
        until_collected(fleet, expected, found.collected, tmp_path)
        for client in clients.values():
            client.loop_stop()


class NatsClient:
    """Says what clients of NATS say."""

    def __init__(self, port: int, name: str) -> None:
        self._socket = socket.create_connection((LOOPBACK, port), timeout=5)
        self._socket.recv(4096)
        self.say(f'CONNECT {{"verbose":false,"name":"{name}"}}', "PING")

    def say(self, *lines: str) -> None:
        self._socket.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def close(self) -> None:
        self._socket.close()


@pytest.mark.broker("nats")
def test_nats_servers(tmp_path: Path) -> None:
    ports, web, leaf = (free_ports(["hub", "far"]) for _ in range(3))
    (tmp_path / "hub.conf").write_text(f"leafnodes {{ host: {LOOPBACK}, port: {leaf['hub']} }}\n")
    (tmp_path / "far.conf").write_text(
        f'leafnodes {{ remotes = [{{ url: "nats-leaf://{LOOPBACK}:{leaf["hub"]}" }}] }}\n'
    )
    commands = {
        name: [NATS, "-a", LOOPBACK, "-p", str(port), "-m", str(web[name]), "-c", str(tmp_path / f"{name}.conf")]
        for name, port in ports.items()
    }
    fleet = fleet_from_tables(
        {
            "brokers": {
                name: {"host": LOOPBACK, "port": port, "collect": {"nats": f"http://{LOOPBACK}:{web[name]}"}}
                for name, port in ports.items()
            }
        }
    )
    with running(commands, {**ports, **{f"web {name}": port for name, port in web.items()}}):
        one, two, ours = (
            NatsClient(ports["hub"], "one"),
            NatsClient(ports["far"], "two"),
            NatsClient(ports["far"], "topicloom-x"),
        )
        one.say("SUB a.> 1", "SUB q.x group 2", "SUB _INBOX.1 3", "SUB a.> 4")
        two.say("SUB a.b 1")
        ours.say("SUB > 1")
        expected = {("hub", "one", "a.>"), ("hub", "one", "q.x"), ("far", "two", "a.b")}
        found = until_collected(fleet, expected, None, tmp_path)
        while len(found.collected.bridges) < 2:  # the leaf node may still be connecting
            found = until_collected(fleet, expected, None, tmp_path)
        assert [(name, len(bridges)) for name, bridges in found.collected.bridges.items()] == [("far", 1), ("hub", 1)]
        one.say("UNSUB 2", "SUB z 5")
        two.close()
        expected = {("hub", "one", "a.>"), ("hub", "one", "z")}
        found = until_collected(fleet, expected, found.collected, tmp_path)
        one.close()
        ours.close()
        until_collected(fleet, set(), found.collected, tmp_path)
