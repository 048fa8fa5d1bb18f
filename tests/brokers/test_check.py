"""`check`: what stands in the way of a fleet, in the words of real brokers."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from machine import NATS
from secure import certificate, passwords
from topicloom import Interest, Overlay
from topicloom.brokers import make_plan
from topicloom.brokers.check import RIGHT, UNKNOWN, WRONG, check_fleet, require_ready
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kinds.rabbitmq_nodes import RabbitProcesses
from topicloom.brokers.local import LOOPBACK, free_ports, mosquitto_path
from topicloom.errors import InputError

PATIENCE_SECONDS = 20.0
NOBODY = 65_534


def found(brokers: dict[str, dict[str, Any]], target: str = "mosquitto", seconds: float = 5) -> dict[str, list[str]]:
    """What was checked at each broker: names of checks, and of those that are not right the state and why."""
    fleet = fleet_from_tables({"brokers": {name: {"host": LOOPBACK, **table} for name, table in brokers.items()}})
    rows: dict[str, list[str]] = {name: [] for name in brokers}
    for one in check_fleet(fleet, target, seconds=seconds):
        if one.check != "delivery":
            rows[one.broker].append(one.check if one.state == RIGHT else f"{one.check} {one.state}: {one.why}")
    return rows


@contextmanager
def running(*command: str | Path, ports: dict[str, int]) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            for port in ports.values():
                while True:
                    try:
                        socket.create_connection((LOOPBACK, port)).close()
                        break
                    except OSError:
                        assert time.monotonic() < deadline
                        time.sleep(0.05)
            yield
        finally:
            process.kill()


def login(folder: Path, password: str) -> dict[str, str]:
    (folder / password).write_text(password)
    return {"username": "me", "password_file": f"{folder}/{password}"}


@pytest.mark.broker("mosquitto")
@pytest.mark.openssl
def test_mosquittos(tmp_path: Path) -> None:
    own, other = (certificate(tmp_path, name)[0] for name in ("own", "other"))
    ports = free_ports(["open", "login", "tls", "demanding"])
    tls = f"certfile {own}\nkeyfile {tmp_path}/own.key\n"
    (tmp_path / "conf").write_text(
        "user root\nper_listener_settings true\n"
        f"listener {ports['open']} {LOOPBACK}\nallow_anonymous true\n"
        f"listener {ports['login']} {LOOPBACK}\npassword_file {passwords(tmp_path, 'me', 'right')}\n"
        f"listener {ports['tls']} {LOOPBACK}\nallow_anonymous true\n{tls}"
        f"listener {ports['demanding']} {LOOPBACK}\nallow_anonymous true\n{tls}cafile {own}\nrequire_certificate true\n"
    )
    right, wrong = login(tmp_path, "right"), login(tmp_path, "wrong")
    all_right = ["name", "port", "protocol", "login"]
    ours = {"cert_file": own, "key_file": f"{tmp_path}/own.key"}
    with running(mosquitto_path(), "-c", tmp_path / "conf", ports=ports):
        for broker, said in (
            ({"port": ports["open"]}, all_right),
            ({"port": ports["login"], "credentials": right}, all_right),
            (
                {"port": ports["login"], "credentials": wrong},
                [*all_right[:3], "login wrong: refuses the login: not authorised"],
            ),
            ({"port": ports["login"]}, [*all_right[:3], "login wrong: refuses the login: not authorised"]),
            ({"port": ports["tls"], "tls": {"ca_file": own}}, ["name", "port", "TLS", "protocol", "login"]),
            (
                {"port": ports["tls"], "tls": {"ca_file": other}},
                ["name", "port", "TLS wrong: has a certificate that is not trusted here: self-signed certificate"],
            ),
            (
                {"port": ports["tls"], "tls": {"ca_file": "/none.pem"}},
                ["name", "port", "TLS not looked at: /none.pem cannot be read here (No such file or directory)"],
            ),
            (
                {"port": ports["open"], "tls": True},
                ["name", "port", "TLS wrong: closes the connection without an answer"],
            ),
            ({"port": ports["tls"]}, ["name", "port", "protocol wrong: closes the connection without an answer"]),
            (
                {"port": ports["demanding"], "tls": {"ca_file": own}},
                ["name", "port", "TLS wrong: refuses TLS: tlsv13 alert certificate required"],
            ),
            (
                {"port": ports["demanding"], "tls": {"ca_file": own, **ours}},
                ["name", "port", "TLS", "protocol", "login"],
            ),
        ):
            assert [row.replace("self signed", "self-signed") for row in found({"a": broker})["a"]] == said


def test_names_and_ports() -> None:
    (closed,) = free_ports(["closed"]).values()
    with socket.create_server((LOOPBACK, 0)) as silent:
        port = silent.getsockname()[1]
        began = time.monotonic()
        rows = found(
            {
                "closed": {"port": closed},
                "silent": {"port": port},
                "unknown": {"host": "no-such-host.invalid"},
                "same": {"host": "localhost", "port": port},
                "apart": {"port": closed + 1, "accepts": False},
            },
            seconds=0.5,
        )
        assert time.monotonic() - began < 5, "brokers are asked at once, each within its deadline"
    assert rows["closed"] == ["name", "port wrong: does not answer: Connection refused"]
    assert rows["silent"][:3] == ["name", "port", "protocol wrong: does not answer within 0.5 s"]
    (why,) = rows["unknown"]
    assert why.startswith("name wrong: no-such-host.invalid cannot be resolved: ")
    assert rows["silent"][3:] == [f"address wrong: is at the same address as 'same': {LOOPBACK}:{port}"]
    assert rows["apart"] == ["port not looked at: it accepts no connections"]


def test_listeners_that_are_no_brokers() -> None:
    for target, said in (
        ("mosquitto", b"\x30\x00\x00\x00"),
        ("nats", b"SSH-2.0\r\n"),
        ("rabbitmq", b"HTTP/1.1 400 \r\n"),
    ):
        with socket.create_server((LOOPBACK, 0)) as server:
            accepted: list[socket.socket] = []

            def serve(said: bytes = said, accepted: list[socket.socket] = accepted) -> None:
                accepted.append(server.accept()[0])
                accepted[0].sendall(said)

            with _serving(serve):
                row = found({"a": {"port": server.getsockname()[1]}}, target, seconds=2)["a"][-1]
            accepted[0].close()
        assert row.startswith("protocol wrong: answers, but not by "), row


@contextmanager
def _serving(serve: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=serve)
    thread.start()
    yield
    thread.join()


@pytest.mark.broker("nats")
@pytest.mark.openssl
def test_nats_servers(tmp_path: Path) -> None:
    own, _ = certificate(tmp_path)
    ports = free_ports(["client", "leaf", "tls"])
    login_ = "authorization { user: me, password: right }"
    (tmp_path / "plain").write_text(
        f'listen: "{LOOPBACK}:{ports["client"]}"\n'
        f'leafnodes {{ listen: "{LOOPBACK}:{ports["leaf"]}"\n {login_} }}\nlog_file: "{tmp_path}/log"\n'
    )
    other = free_ports(["client"], set(ports.values()))["client"]
    (tmp_path / "secure").write_text(
        f'listen: "{LOOPBACK}:{other}"\nleafnodes {{ listen: "{LOOPBACK}:{ports["tls"]}"\n'
        f' tls {{ cert_file: "{own}", key_file: "{tmp_path}/own.key" }} }}\n'
    )
    right, wrong = login(tmp_path, "right"), login(tmp_path, "wrong")
    plain = {name: ports[name] for name in ("client", "leaf")}
    with (
        running(str(NATS), "-c", tmp_path / "plain", ports=plain),
        running(str(NATS), "-c", tmp_path / "secure", ports={"tls": ports["tls"]}),
    ):
        for broker, said in (
            ({"port": ports["leaf"], "credentials": right}, ["name", "port", "protocol", "login"]),
            (
                {"port": ports["leaf"], "credentials": wrong},
                ["name", "port", "protocol", "login wrong: refuses the login: authorization violation"],
            ),
            (
                {"port": ports["client"], "credentials": right},
                ["name", "port", "protocol wrong: is a port for clients; give the one for leafnodes, usually 7422"],
            ),
            ({"port": ports["tls"], "tls": {"ca_file": own}}, ["name", "port", "TLS", "protocol", "login"]),
            (
                {"port": ports["tls"]},
                ["name", "port", "protocol wrong: asks for TLS; give it tls in the fleet file"],
            ),
        ):
            assert found({"a": broker}, "nats")["a"] == said
    assert "Leafnode connection closed: Client Closed" in (tmp_path / "log").read_text()


@pytest.mark.broker("rabbitmq")
def test_a_rabbitmq(tmp_path: Path) -> None:
    with RabbitProcesses(free_ports(["a"])) as nodes:
        port, url = nodes.ports["a"], nodes.url("a")
        assert found({"a": {"port": port}}, "rabbitmq")["a"] == ["name", "port", "protocol", "login"]
        wrong = {"port": port, "credentials": login(tmp_path, "wrong")}
        (said,) = found({"a": wrong}, "rabbitmq")["a"][3:]
        assert said.startswith("login wrong: refuses the login: ACCESS_REFUSED - Login was refused using")
        (said,) = found({"a": {"port": port, "vhost": "none"}}, "rabbitmq")["a"][3:]
        assert said == "login wrong: refuses the login: NOT_ALLOWED - vhost none not found"
        guest = {"username": "guest", "password_file": login(tmp_path, "guest")["password_file"]}
        for credentials, state in ((guest, "management"), (login(tmp_path, "wrong"), "management wrong: ")):
            way = {"via": "rabbitmq", "url": url, "credentials": credentials}
            (said,) = found({"a": {"port": port, "apply": way}}, "rabbitmq")["a"][4:]
            assert said.startswith(state)


@contextmanager
def _no_root() -> Iterator[None]:
    """Give up what root may while it goes on."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_folders_and_commands() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(mode=0o555)
        (folder / "open").mkdir()
        (folder / "open").chmod(0o777)
        ways: dict[str, dict[str, str]] = {
            "right": {"via": "folder", "path": f"{folder}/open/x.conf", "reload": "true"},
            "closed": {"via": "folder", "path": f"{folder}/closed/x.conf"},
            "missing": {"via": "folder", "path": f"{folder}/none/x.conf", "reload": "no-such-program {broker}"},
            "owned": {"via": "folder", "path": f"{folder}/open/x.conf", "owner": "nobody-at-all"},
            "command": {"via": "command", "put": "no-such-program {file}", "get": "cat x", "reload": "true"},
        }
        brokers = {
            name: {"host": LOOPBACK, "port": number, "apply": {**way, "check": "nothing"}}
            for number, (name, way) in enumerate(ways.items(), 1)
        }
        fleet = fleet_from_tables({"brokers": brokers})
        with _no_root():
            checked = check_fleet(fleet)
        rows = {
            name: [(one.check, one.state, one.why) for one in checked if one.broker == name and one.state != UNKNOWN]
            for name in ways
        }
        no_program = "command no-such-program not found on this machine"
        assert rows == {
            "right": [("folder", RIGHT, ""), ("reload", RIGHT, "")],
            "closed": [("folder", WRONG, f"{folder}/closed: cannot be written to (Permission denied)")],
            "missing": [
                ("folder", WRONG, f"{folder}/none: cannot be written to (No such file or directory)"),
                ("reload", WRONG, no_program),
            ],
            "owned": [("folder", WRONG, "user nobody-at-all not found on this machine")],
            "command": [("put", WRONG, no_program), ("get", RIGHT, ""), ("reload", RIGHT, "")],
        }
        assert sorted(folder.rglob("*")) == [folder / "closed", folder / "open"], "nothing is left behind"


def test_what_apply_needs(tmp_path: Path) -> None:
    (closed,) = free_ports(["closed"]).values()
    good = {"via": "folder", "path": f"{tmp_path}/{{broker}}.conf"}
    bad = {"via": "command", "put": "no-such-program {file}"}
    refused = "port: does not answer: Connection refused"
    for apply, problem in (
        (good, refused),
        (good | {"check": "port"}, refused),
        (good | {"check": "nothing"}, ""),
        (bad | {"check": "nothing"}, "put: command no-such-program not found on this machine"),
        (bad, f"{refused} (and 1 more; see 'topicloom check')"),
    ):
        tables = {"a": {"host": LOOPBACK, "port": closed, "apply": apply}, "b": {"host": "b", "accepts": False}}
        fleet = fleet_from_tables({"brokers": tables})
        interest = Interest.from_pairs([("a", "t"), ("b", "t")])
        plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet)
        require_ready(fleet, plan, ["a"], ["a"])
        require_ready(fleet, plan, [], [])
        if problem:
            with pytest.raises(InputError, match=rf"^broker 'a': {re.escape(problem)}$"):
                require_ready(fleet, plan, ["a"], [])
        else:
            require_ready(fleet, plan, ["a", "b"], [])


def test_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text('#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n')
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    way = {"via": "ssh", "check": "nothing", "path": f"{tmp_path}/x.conf", "reload": "sudo-of-mine restart {broker}"}
    broken = {**way, "path": f"{tmp_path}/none/x.conf", "reload": "true"}
    fleet = fleet_from_tables({"brokers": {"a": {"host": "a", "apply": way}, "b": {"host": "b", "apply": broken}}})
    rows = [(one.broker, one.check, one.state, one.why) for one in check_fleet(fleet) if one.state != UNKNOWN]
    assert [row[:3] for row in rows] == [
        ("a", "folder", RIGHT),
        ("a", "reload", WRONG),
        ("b", "folder", WRONG),
        ("b", "reload", RIGHT),
    ]
    assert rows[1][3].startswith("command sudo-of-mine not found there (ssh ended with status 127")
    assert "none" in rows[2][3]
