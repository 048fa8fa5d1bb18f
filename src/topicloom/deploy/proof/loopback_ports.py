"""Ports on loopback for brokers, which no other process that looks for some gets too."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Collection, Iterator, Sequence

from topicloom.errors import InputError

LOOPBACK = "127.0.0.1"
_PORTS = range(10_000, 20_000)
# A process holds so many at once.
_PART = 100

# By its first port: what holds a part, until the process that it belongs to ends.
_held: dict[int, socket.socket] = {}
_given: set[int] = set()
_holder = 0


def free_ports(names: Sequence[str], taken: Collection[int] = ()) -> dict[str, int]:
    """A loopback port for each name that nobody has, nor is to have, below those that systems give to clients.

    A client that keeps trying a broker that is down would sooner or later get the broker's own port, and be connected
    with itself; the broker could not come back then. Nor could it if another fleet got its port while it is down.
    """
    free = (port for port in _ports_held() if port not in taken and _can_bind(port))
    found = dict(zip(names, free, strict=False))
    if len(found) < len(names):
        raise InputError(f"no {len(names):,} ports from {_PORTS[0]:,} to {_PORTS[-1]:,} are free on this machine")
    _given.update(found.values())
    return found


def _ports_held() -> Iterator[int]:
    """The ports of the parts that this process holds, and then of others, which it holds from then on.

    Those that it has given to somebody already, who may not listen yet, come last.
    """
    global _holder
    if os.getpid() != _holder:  # a copy of a process does not hold what that one holds
        _held.clear()
        _given.clear()
        _holder = os.getpid()
    parts = range(_PORTS.start, _PORTS.stop, _PART)
    for again in (False, True):
        for first in sorted(random.sample(parts, len(parts)), key=lambda first: first not in _held):
            if first in _held or _hold(first):
                ports = [port for port in range(first, first + _PART) if (port in _given) == again]
                yield from random.sample(ports, len(ports))


def _hold(first: int) -> bool:
    """Hold a part, if nobody does, by its first port of UDP, which no broker uses."""
    holding = socket.socket(type=socket.SOCK_DGRAM)
    try:
        holding.bind((LOOPBACK, first))
    except OSError:
        holding.close()
        return False
    _held[first] = holding
    return True


def _can_bind(port: int) -> bool:
    with socket.socket() as trying:
        try:
            trying.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
