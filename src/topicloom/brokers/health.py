"""Health of brokers by protocol, with a hold-down.

Who is there and who is gone, without following every flap.

A broker counts as gone once it has been silent for `down_seconds`, and as back once it has answered for `up_seconds`
without a break. Each further loss doubles the latter, up to an hour; what is steady for as long as that is forgiven.

Whether a broker works: it answers in its own protocol within a deadline.

A process that hangs still has its connections accepted by the kernel, so an open port says nothing. Any answer counts,
a refusal too: a login or a certificate that is wrong does not make a broker gone.
"""

from __future__ import annotations

import secrets
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

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
_LINE_BYTES = 1 << 16
_CONNACK, _DISCONNECT = 0x20, b"\xe0\x00"
_KEEPALIVE_SECONDS = 10
_AMQP = b"AMQP\x00\x00\x09\x01"
# Type and channel of a frame, its size, and the class and method of Connection.Start.
_AMQP_START = slice(7, 11), b"\x00\x0a\x00\x0a"


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
    except (OSError, EOFError) as error:
        # An alert is an answer: only a process that works refuses.
        return isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason)


def over_line(broker: Broker, deadline: float, begins: Callable[[Line, Broker | None], bool]) -> bool:
    """Whether a connection to a broker begins as it should.

    `begins` gets the connection, and the broker if a login may be sent over it.
    """
    for trusted in (True, False):
        context = None if broker.tls is None else _context(broker.tls, trusted, _period())
        if broker.tls is not None and context is None:
            continue
        try:
            with _reached(broker.host, broker.port or 0, context, deadline) as line:
                return begins(line, broker if trusted else None)
        except ssl.SSLCertVerificationError:
            # No login is sent there.
            continue
    return False


def connects(line: Line, broker: Broker | None) -> bool:
    """Whether MQTT's CONNECT is answered; with the login of a broker if that is given and can be looked up."""
    flags, texts = 0x02, [f"topicloom-{secrets.token_hex(6)}"]
    if broker is not None and broker.credentials is not None:
        try:
            texts += [broker.credentials.username, password_of(broker)]
            flags |= 0xC0
        except InputError:
            texts = texts[:1]
    payload = b"".join(len(text.encode()).to_bytes(2, "big") + text.encode() for text in texts)
    packet = b"\x00\x04MQTT\x04" + bytes([flags]) + _KEEPALIVE_SECONDS.to_bytes(2, "big") + payload
    line.send(b"\x10" + _length(len(packet)) + packet)
    if line.read(4)[0] != _CONNACK:
        return False
    line.send(_DISCONNECT)
    return True


def _length(size: int) -> bytes:
    """The length of an MQTT packet: seven bits a byte, the lowest first."""
    digits = bytearray()
    while True:
        size, digit = divmod(size, 128)
        digits.append(digit | (0x80 if size else 0))
        if not size:
            return bytes(digits)


def greets(broker: Broker, deadline: float) -> bool:
    """Whether a NATS server sends INFO, which comes before TLS; at a port for clients it must answer PING, too."""
    with _reached(broker.host, broker.port or 0, None, deadline) as line:
        info = line.read_line()
        if not info.startswith(b"INFO ") or b'"leafnode_urls"' in info or b'"tls_required":true' in info:
            return info.startswith(b"INFO ")
        line.send(b"PING\r\n")
        return line.read_line().startswith((b"PONG", b"-ERR"))


def begins(line: Line, _broker: Broker | None) -> bool:
    """Whether AMQP's header is answered by Connection.Start."""
    line.send(_AMQP)
    place, start = _AMQP_START
    return line.read(place.stop)[place] == start


def serves(url: str, deadline: float) -> bool:
    """Whether a web server answers, with any status."""
    try:
        HttpClient(url, seconds=_left(deadline), context=_context(Tls(), False, _period())).request("GET", "api/")
    except HttpError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        return error.status is not None
    return True


class Line:
    """A connection with a deadline over all that is sent and read."""

    def __init__(self, opened: socket.socket, deadline: float) -> None:
        self._socket = opened
        self._deadline = deadline

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.settimeout(_left(self._deadline))
        self._socket.sendall(data)

    def read(self, count: int) -> bytes:
        """So many bytes."""
        data = b""
        while len(data) < count:
            self._socket.settimeout(_left(self._deadline))
            more = self._socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def read_line(self) -> bytes:
        """A line."""
        data = b""
        while not data.endswith(b"\n") and len(data) < _LINE_BYTES:
            data += self.read(1)
        return data


@contextmanager
def _reached(host: str, port: int, context: ssl.SSLContext | None, deadline: float) -> Iterator[Line]:
    with socket.create_connection((host, port), timeout=_left(deadline)) as plain:
        if context is None:
            yield Line(plain, deadline)
            return
        plain.settimeout(_left(deadline))
        with context.wrap_socket(plain, server_hostname=host) as secure:
            yield Line(secure, deadline)


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _period() -> int:
    return int(time.monotonic() // _CERTIFICATES_SECONDS)


@lru_cache(maxsize=1024)
def _context(tls: Tls, trusted: bool, _period: int) -> ssl.SSLContext | None:
    """How TLS is spoken; None if it is to be `trusted` and its files cannot be read on this machine."""
    try:
        context = ssl.create_default_context(cafile=tls.ca_file if trusted else None)
        if trusted and tls.cert_file is not None:
            context.load_cert_chain(tls.cert_file, tls.key_file)
    except OSError:
        return None
    if not trusted:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
