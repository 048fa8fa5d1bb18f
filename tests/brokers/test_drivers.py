"""Drivers: files whole or not at all, names that look dangerous, commands that fail, hang or print a lot."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from topicloom import InputError
from topicloom.brokers.deliver import driver_of, private_folder
from topicloom.brokers.fleet_file import delivery_from
from topicloom.brokers.kind import DeliveryFailed
from topicloom.model.fleet import Broker

BROKER = Broker("b", "host", 1883)
NASTY = Broker("../$(touch x); -rf\n'", "host", 1883)


def driver(tmp_path: Path, broker: Broker = BROKER, **table: Any) -> Any:
    return driver_of(broker, delivery_from(table, "apply"), tmp_path / "state")


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ssh that runs what it is given in a shell of this machine, as sshd would, and notes its arguments."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/said\nshift 4\nexec sh -c "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path / "said"


@pytest.mark.parametrize("broker", [BROKER, NASTY])
def test_a_folder(tmp_path: Path, broker: Broker) -> None:
    one = driver(
        tmp_path, broker, via="folder", path=f"{tmp_path}/{{broker}}.conf", reload=f"touch {tmp_path}/{{port}}"
    )
    one.put("first\n")
    one.put("second\n")
    one.reload()
    (file,) = tmp_path.glob("*.conf")
    assert file.read_text() == "second\n"
    assert (tmp_path / "1883").exists()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([file.name, "1883"])


@pytest.mark.parametrize("broker", [BROKER, NASTY])
def test_ssh(tmp_path: Path, ssh: Path, broker: Broker) -> None:
    one = driver(
        tmp_path,
        broker,
        via="ssh",
        path=f"{tmp_path}/it's {{broker}}.conf",
        destination="me@there",
        mode="640",
        reload=f"cd {tmp_path} && echo {{broker}} > reloaded",
    )
    one.put("secret\n")
    one.reload()
    (file,) = tmp_path.glob("*.conf")
    assert file.read_text() == "secret\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (tmp_path / "reloaded").read_text().strip() in file.name
    said = ssh.read_text()
    assert "me@there" in said
    assert "secret" not in said
    assert not list(tmp_path.glob(".*part")), "nothing is left beside it"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("broker", [BROKER, NASTY])
def test_any_command(tmp_path: Path, broker: Broker) -> None:
    code = "import shutil, sys, os; shutil.copy(sys.argv[1], sys.argv[2]); print(oct(os.stat(sys.argv[1]).st_mode))"
    put = f'{sys.executable} -c "{code}" {{file}} "{tmp_path}/with space {{broker}}"'
    one = driver(tmp_path, broker, via="command", put=put, reload=f"touch {tmp_path}/{{broker}}.done")
    one.put("secret\n")
    one.reload()
    (file,) = tmp_path.glob("with space*")
    assert file.read_text() == "secret\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(list(tmp_path.glob("*.done"))) == 1
    assert not private_folder(tmp_path / "state").exists(), "nothing with a password is left"


def test_a_command_that_fails_hangs_or_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DeliveryFailed, match=r"^false ended with status 1: it said nothing$"):
        driver(tmp_path, via="command", put="false {file}").put("")
    began = time.monotonic()
    with pytest.raises(DeliveryFailed, match=r"^sh did not end within 0\.2 s$"):
        driver(tmp_path, via="command", put="sh -c 'sleep 60; true' {file}", seconds=0.2).put("")
    assert time.monotonic() - began < 10
    with pytest.raises(DeliveryFailed, match=r"^command no-such-command not found on this"):
        driver(tmp_path, via="command", put="no-such-command {file}").put("")
    assert not private_folder(tmp_path / "state").exists()


def test_a_command_may_leave_a_broker_running(tmp_path: Path) -> None:
    """What it leaves behind holds its output open, which nobody waits for."""
    began = time.monotonic()
    pid = tmp_path / "pid"
    one = driver(tmp_path, via="folder", path=f"{tmp_path}/f", reload=f"sh -c 'sleep 30 & echo $! > {pid}'", seconds=20)
    one.reload()
    assert time.monotonic() - began < 10
    os.kill(int(pid.read_text()), 9)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({}, "via must be folder, ssh, command, rabbitmq, and says how a file gets to the broker"),
        ({"via": "pigeon"}, "via must be folder, ssh, command, rabbitmq, and says how a file gets to the broker"),
        ({"via": "folder"}, "has no path, which folder needs"),
        (
            {"via": "folder", "path": "p", "put": "x"},
            "unknown key 'put' for folder; known are via, path, reload, owner, mode, monitor, seconds, check",
        ),
        ({"via": "folder", "path": "{node}"}, "path: knows no {node}; known are {broker}, {host}, {port}"),
        ({"via": "command", "put": "scp x"}, "put: has no {file}, which stands for the file to put"),
        ({"via": "command", "put": "scp 'x {file}"}, "put: has a quote that is not closed"),
        ({"via": "folder", "path": "p", "seconds": 0}, "seconds must be a number above 0, at most 86400"),
        ({"via": "folder", "path": "p", "mode": 640}, "mode must be text of three octal digits, such as '640'"),
        ({"via": "folder", "path": "p", "check": "all"}, "check must be links, port, nothing"),
        ({"via": "ssh", "path": "p", "destination": "-oProxyCommand=x"}, "destination must be HOST or USER@HOST"),
        (
            {"via": "rabbitmq", "url": "http://guest:guest@h:15672"},
            "url must be http:// or https://, with no login in it",
        ),
    ],
)
def test_what_a_fleet_file_cannot_say(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        delivery_from(table, "here")
    assert str(refused.value) == f"here: {problem}"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            b"HTTP/1.0 200 OK\r\n\r\n<html>",
            r"^http://127\.0\.0\.1:\d+/api/policies/%2F does not answer with JSON$",
        ),
        (b"nonsense\r\n\r\n", r"^http://127\.0\.0\.1:\d+/api/policies/%2F does not answer with HTTP"),
    ],
)
def test_a_management_interface_that_is_something_else(tmp_path: Path, answer: bytes, problem: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            asked, _ = server.accept()
            with asked:
                asked.recv(4096)
                asked.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        one = driver(tmp_path, via="rabbitmq", url=f"http://127.0.0.1:{server.getsockname()[1]}", seconds=5)
        with pytest.raises(DeliveryFailed, match=problem):
            one.put('{"vhosts": [{"name": "/"}]}')
        serving.join()
