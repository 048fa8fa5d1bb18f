"""Rendered bridges log in: with the password they were given, over TLS they can check."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from secure import certificate, passwords
from topicloom import Interest, Overlay
from topicloom.brokers import make_plan
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.local import LOOPBACK, Clients, Processes, free_ports, on_ports
from topicloom.brokers.plan_file import configurations

pytestmark = [
    pytest.mark.broker("mosquitto"),
    pytest.mark.openssl,
]

PASSWORD = 'two words #1 "quoted" %41 é'


def comes_up(tmp_path: Path, password: str, *, tls: bool, known: bool = True) -> bool:
    """Whether the bridge of a to b comes up, when b wants a password and perhaps TLS."""
    own, key = certificate(tmp_path) if tls else ("", "")
    (tmp_path / "secret").write_text(password + "\n")
    ports = free_ports(["a", "b", "strict"])
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    broker: dict[str, object] = {"host": LOOPBACK, "port": ports["strict"]}
    broker["credentials"] = {"username": "bridge", "password_file": str(tmp_path / "secret")}
    if tls:
        broker["tls"] = {"ca_file": own} if known else True
    fleet = fleet_from_tables({"brokers": {"a": {"host": LOOPBACK}, "b": broker}})
    plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet)
    strict = f"password_file {passwords(tmp_path, 'bridge', PASSWORD)}\nlistener {ports['strict']} {LOOPBACK}\n"
    if tls:
        strict += f"certfile {own}\nkeyfile {key}\n"
    with Processes(ports) as processes, Clients(on_ports(ports), lambda *_: None) as clients:
        processes.start("b", strict)
        processes.start("a", configurations(plan)["a"])
        clients.open("a", [])
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline and not clients.links_up["a"]:
            clients.serve(0.05)
        return bool(clients.links_up["a"])


@pytest.mark.parametrize("tls", [False, True])
def test_the_right_password_is_taken(tmp_path: Path, tls: bool) -> None:
    assert comes_up(tmp_path, PASSWORD, tls=tls)


def test_a_wrong_password_is_not(tmp_path: Path) -> None:
    assert not comes_up(tmp_path, f"{PASSWORD}x", tls=False)


def test_an_unknown_certificate_is_not_trusted(tmp_path: Path) -> None:
    assert not comes_up(tmp_path, PASSWORD, tls=True, known=False)
