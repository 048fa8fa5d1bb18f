"""Ports for brokers: those that a process got are no other process's, though nobody listens there yet."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from topicloom.brokers import local
from topicloom.brokers.local import LOOPBACK, free_ports
from topicloom.errors import InputError

NAMES = [f"b{k}" for k in range(150)]
ASKING = f"from topicloom.brokers.local import free_ports; print(*free_ports({NAMES}).values())"


def test_no_two_processes_get_the_same() -> None:
    mine = free_ports(NAMES)
    assert list(mine) == NAMES
    assert len({*mine.values()}) == len(NAMES)
    # It holds them while it runs, and so does the other.
    theirs = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True, check=True).stdout
    assert len({*map(int, theirs.split())} - {*mine.values()}) == len(NAMES)


def test_none_is_given_twice_while_there_are_others() -> None:
    given = [port for _ in range(60) for port in free_ports(["a", "b"]).values()]
    assert len({*given}) == len(given)


def test_neither_those_taken_nor_those_that_somebody_listens_at() -> None:
    (port,) = free_ports(["a"]).values()
    first = port - port % 100
    with socket.create_server((LOOPBACK, port)):
        others = free_ports(NAMES[:80], taken=range(first, first + 50)).values()
        assert port not in others
        assert not {*others} & {*range(first, first + 50)}


def test_a_copy_of_a_process_gets_its_own() -> None:
    free_ports(["a"])
    held = {*local._held}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        free_ports(["a"])
        os.write(writer, str(*local._held).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reader, 20)) not in held
    os.close(reader)
    os.close(writer)


def test_more_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_PORTS", range(20_000, 20_200))
    monkeypatch.setattr(local, "_held", {})
    monkeypatch.setattr(local, "_given", set())
    assert len({*free_ports([str(k) for k in range(150)]).values()}) == 150
    assert len({*free_ports([str(k) for k in range(200)]).values()}) == 200
    with pytest.raises(InputError, match="no 201 ports from 20,000 to 20,199 are free on this machine"):
        free_ports([str(k) for k in range(201)])
