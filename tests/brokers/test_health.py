"""Whether brokers work: real ones that run, hang and refuse, and listeners that are no brokers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from machine import NATS
from secure import certificate
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.health import answers
from topicloom.brokers.local import LOOPBACK, free_ports, mosquitto_path
from topicloom.model.fleet import Broker

PATIENCE_SECONDS = 20.0


def broker_at(port: int, **more: object) -> Broker:
    return fleet_from_tables({"brokers": {"b": {"host": LOOPBACK, "port": port, **more}}}).brokers["b"]


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def assert_noticed_when_it_hangs(process: subprocess.Popen[bytes], asked: Callable[[], bool]) -> None:
    until(asked)
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)  # on a busy machine it may still answer for a moment
    try:
        began = time.monotonic()
        assert not asked()
        assert time.monotonic() - began < 2
    finally:
        os.kill(process.pid, signal.SIGCONT)
    until(asked)


@contextmanager
def mosquitto(folder: Path, port: int, text: str = "allow_anonymous true\n") -> Iterator[subprocess.Popen[bytes]]:
    (folder / "conf").write_text(
        f"user root\nlog_dest file {folder}/log\nlog_type all\nlistener {port} {LOOPBACK}\n{text}"
    )
    with running(mosquitto_path(), "-c", folder / "conf") as process:
        yield process


@pytest.mark.broker("mosquitto")
def test_a_mosquitto_that_hangs(tmp_path: Path) -> None:
    (port,) = free_ports(["b"]).values()
    with mosquitto(tmp_path, port) as process:
        assert_noticed_when_it_hangs(process, lambda: answers(broker_at(port), "mosquitto", seconds=0.5))
        until(lambda: "DISCONNECT" in (tmp_path / "log").read_text())
    log = (tmp_path / "log").read_text().splitlines()
    connected = [line for line in log if " connected from " in line]
    assert all(" as topicloom-" in line and "(p2, c1, k10)" in line for line in connected)
    ids = [line.partition(" as ")[2].split()[0] for line in connected]
    assert len(set(ids)) == len(ids), "no client takes the place of another"


@pytest.mark.broker("mosquitto")
def test_a_login_that_is_refused_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(["b"]).values()
    login = {"username": "me", "password_env": "HEALTH_SECRET"}
    with mosquitto(tmp_path, port, "allow_anonymous false\n"):
        until(lambda: answers(broker_at(port), "mosquitto"))
        assert answers(broker_at(port, credentials=login), "mosquitto"), "without the password"
        monkeypatch.setenv("HEALTH_SECRET", "x" * 200)
        assert answers(broker_at(port, credentials=login), "mosquitto")
    assert "u'me'" in (tmp_path / "log").read_text() or "not authorised" in (tmp_path / "log").read_text()


@pytest.mark.broker("mosquitto")
@pytest.mark.openssl
def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, key = certificate(tmp_path)
    monkeypatch.setenv("HEALTH_SECRET", "secret")
    login = {"username": "me", "password_env": "HEALTH_SECRET"}
    (port,) = free_ports(["b"]).values()
    certificates = f"certfile {own}\nkeyfile {key}\n"
    with mosquitto(tmp_path, port, f"{certificates}allow_anonymous true\n") as process:
        right = broker_at(port, tls={"ca_file": own}, credentials=login)
        assert_noticed_when_it_hangs(process, lambda: answers(right, "mosquitto", seconds=0.5))
        assert "u'me'" in (tmp_path / "log").read_text()
        seen = len((tmp_path / "log").read_text())
        for tls in (True, {"ca_file": str(tmp_path / "none")}):
            assert answers(broker_at(port, tls=tls, credentials=login), "mosquitto")
        assert "u'me'" not in (tmp_path / "log").read_text()[seen:], (
            "no login is sent where the certificate is not trusted"
        )
        assert not answers(broker_at(port), "mosquitto"), "not without TLS"
    demanding = f"{certificates}cafile {own}\nrequire_certificate true\n"
    with mosquitto(tmp_path, port, demanding):
        until(lambda: answers(right, "mosquitto"))


@pytest.mark.broker("nats")
def test_a_nats_server_that_hangs(tmp_path: Path) -> None:
    ports = free_ports(["client", "leaf"])
    (tmp_path / "conf").write_text(
        f'listen: "{LOOPBACK}:{ports["client"]}"\nleafnodes {{ listen: "{LOOPBACK}:{ports["leaf"]}" }}\n'
        f'log_file: "{tmp_path}/log"\n'
    )
    with running(str(NATS), "-c", tmp_path / "conf") as process:
        for port in ports.values():
            assert_noticed_when_it_hangs(process, lambda: answers(broker_at(port), "nats", seconds=0.5))  # noqa: B023
    assert "[ERR]" not in (tmp_path / "log").read_text()


@contextmanager
def listening(say: Callable[[socket.socket], object] | None) -> Iterator[int]:
    """A port where a listener accepts, and says something or nothing."""
    with socket.create_server((LOOPBACK, 0)) as server:

        def serve() -> None:
            held = []
            while True:
                try:
                    accepted, _ = server.accept()
                except OSError:
                    return
                if say is None:
                    held.append(accepted)
                    continue
                with accepted:
                    accepted.recv(1)
                    say(accepted)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("target", ["mosquitto", "nats", "rabbitmq"])
def test_listeners_that_are_no_brokers(target: str) -> None:
    with listening(None) as port:
        assert not answers(broker_at(port), target, seconds=0.2)
        assert not answers(broker_at(port, tls=True), target, seconds=0.2)
        assert not answers(broker_at(port), target, f"http://{LOOPBACK}:{port}", seconds=0.2)
    for said in (b"", b"SSH-2.0-x\r\n", b"\x20", b"INFO"):
        with listening(lambda accepted, said=said: accepted.sendall(said)) as port:  # type: ignore[misc]
            assert not answers(broker_at(port), target, seconds=0.5)
            assert not answers(broker_at(port, tls=True), target, seconds=0.5)
    (port,) = free_ports(["b"]).values()
    assert not answers(broker_at(port), target)


def test_a_listener_that_drips_is_not_waited_for_longer() -> None:
    def drip(accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            for _ in range(100):
                accepted.sendall(b"I")
                time.sleep(0.1)

    with listening(lambda accepted: threading.Thread(target=drip, args=[accepted.dup()], daemon=True).start()) as port:
        began = time.monotonic()
        assert not answers(broker_at(port), "mosquitto", seconds=0.5)
        assert not answers(broker_at(port), "nats", seconds=0.5)
        assert time.monotonic() - began < 3
