"""Health of brokers by protocol, with a hold-down.

A broker works if it answers in its own protocol within a deadline. The kernel accepts connections for a process that
hangs, too, so an open port says nothing. Any answer counts, also a refusal: a login or a certificate that is wrong does
not make a broker gone.

A broker counts as gone once it has been silent for `down_seconds`, and as back once it has answered for `up_seconds`
without a break. Each further loss doubles the latter, up to an hour. A broker that is steady for that long begins anew.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from topicloom.brokers.dial import (
    Line,
    Login,
    Refusal,
    is_for_leafnodes,
    left,
    nats_greeting,
    reached,
    tls_context,
    wants_tls,
)
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.logins import password_of
from topicloom.errors import InputError
from topicloom.io.http import HttpClient, HttpError
from topicloom.model.fleet import Broker, Tls

_LONGEST_SECONDS = 3600.0


@dataclass
class _Broker:
    there: bool = True
    # Since when it is otherwise than decided, and when it was last decided.
    otherwise_since: float | None = None
    decided: float = 0.0
    losses: int = 0


class HoldDown:
    """Turns answers and silences into losses and returns."""

    def __init__(self, down_seconds: float = 3.0, up_seconds: float = 5.0) -> None:
        self._down_seconds = down_seconds
        self._up_seconds = up_seconds
        self._brokers: dict[str, _Broker] = {}

    def begin(self, name: str, *, there: bool) -> None:
        """Take it that a broker is there or not."""
        self._brokers[name] = _Broker(there)

    def counts_as_there(self, name: str) -> bool:
        """Whether a broker counts as there."""
        return self._brokers.setdefault(name, _Broker()).there

    def see(self, name: str, *, answers: bool, now: float) -> bool | None:
        """Take in whether a broker answers; True where it is back with that, False where it is gone, else None."""
        broker = self._brokers.setdefault(name, _Broker())
        if answers == broker.there:
            broker.otherwise_since = None
            if broker.there and now - broker.decided > self.needed_seconds(name):
                broker.losses = 0
            return None
        if broker.otherwise_since is None:
            broker.otherwise_since = now
        if now - broker.otherwise_since < self.needed_seconds(name):
            return None
        broker.there, broker.otherwise_since, broker.decided = answers, None, now
        broker.losses += not answers
        return answers

    def needed_seconds(self, name: str) -> float:
        """How long a broker must be otherwise before that counts."""
        broker = self._brokers[name]
        if broker.there:
            return self._down_seconds
        return min(self._up_seconds * 2.0 ** max(0, broker.losses - 1), _LONGEST_SECONDS)


_SECONDS = 2.0
# Certificates may be renewed while a fleet is followed.
_CERTIFICATES_SECONDS = 600.0


def answers(broker: Broker, target: str, management: str | None = None, seconds: float = _SECONDS) -> bool:
    """Whether a broker answers.

    Args:
        broker: the broker, with its port.
        target: its kind if it names none: Mosquitto must answer a CONNECT, NATS greet with INFO, RabbitMQ begin a
            connection.
        management: URL of RabbitMQ's management interface, which answers instead and logs nothing.
        seconds: the deadline.
    """
    try:
        return kind_of(broker, target).answers(broker, management, time.monotonic() + seconds)
    except Refusal as refusal:
        return refusal.what == "login"
    except (OSError, EOFError) as error:
        # An alert is an answer: only a process that works refuses.
        return isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason)


def over_line(broker: Broker, deadline: float, begins: Callable[[Line, Login | None], None]) -> bool:
    """Whether a connection to a broker begins as it should.

    `begins` gets the connection, and the login if it may be sent over it.
    """
    for trusted in (True, False):
        context = None if broker.tls is None else _context(broker.tls, trusted, _period())
        if broker.tls is not None and context is None:
            continue
        try:
            with reached(broker.host, broker.port or 0, deadline) as line:
                if context is not None:
                    line.secure(context, broker.host)
                begins(line, _login(broker) if trusted else None)
                return True
        except ssl.SSLCertVerificationError:
            # No login is sent there.
            continue
    return False


def _login(broker: Broker) -> Login | None:
    """The login of a broker, None if it has none or the password cannot be looked up."""
    if broker.credentials is None:
        return None
    try:
        return broker.credentials.username, password_of(broker)
    except InputError:
        return None


def greets(broker: Broker, deadline: float) -> bool:
    """Whether a NATS server sends INFO, which comes before TLS; at a port for clients it must answer PING, too."""
    with reached(broker.host, broker.port or 0, deadline) as line:
        info = nats_greeting(line)
        if is_for_leafnodes(info) or wants_tls(info):
            return True
        line.send(b"PING\r\n")
        return line.read_line().startswith((b"PONG", b"-ERR"))


def serves(url: str, deadline: float) -> bool:
    """Whether a web server answers, with any status."""
    try:
        HttpClient(url, seconds=left(deadline), context=_context(Tls(), False, _period())).request("GET", "api/")
    except HttpError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        return error.status is not None
    return True


def _period() -> int:
    return int(time.monotonic() // _CERTIFICATES_SECONDS)


@lru_cache(maxsize=1024)
def _context(tls: Tls, trusted: bool, _period: int) -> ssl.SSLContext | None:
    """How TLS is spoken; None if it is to be `trusted` and its files cannot be read on this machine."""
    try:
        return tls_context(tls, trusted=trusted)
    except OSError:
        return None
