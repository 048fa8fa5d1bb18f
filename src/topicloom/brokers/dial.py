"""Connections to brokers, with a deadline over all that is sent and read, and logins by MQTT, NATS and AMQP."""

from __future__ import annotations

import json
import secrets
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from topicloom.model.fleet import Tls

Login = tuple[str, str]

_LINE_BYTES = 1 << 16


class Refusal(Exception):  # noqa: N818  it says what happened
    """What a broker refuses, `protocol`, `TLS` or `login`, and why."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(why)
        self.what = what


class Line:
    """A connection with a deadline over all that is sent and read."""

    def __init__(self, opened: socket.socket, deadline: float) -> None:
        self._socket = opened
        self._deadline = deadline

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Begin TLS."""
        self._socket.settimeout(left(self._deadline))
        self._socket = context.wrap_socket(self._socket, server_hostname=host)

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.settimeout(left(self._deadline))
        self._socket.sendall(data)

    def heard(self, seconds: float) -> bool:
        """Whether something comes, or the connection ends, within a time."""
        self._socket.settimeout(min(seconds, left(self._deadline)))
        try:
            return bool(self._socket.recv(1))
        except TimeoutError:
            return False

    def read(self, count: int) -> bytes:
        """Return so many bytes."""
        data = b""
        while len(data) < count:
            self._socket.settimeout(left(self._deadline))
            more = self._socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def read_line(self) -> bytes:
        """Return a line."""
        data = b""
        while not data.endswith(b"\n") and len(data) < _LINE_BYTES:
            data += self.read(1)
        return data

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


@contextmanager
def reached(host: str, port: int, deadline: float) -> Iterator[Line]:
    """Connect, and disconnect at the end."""
    line = Line(socket.create_connection((host, port), timeout=left(deadline)), deadline)
    try:
        yield line
    finally:
        line.close()


def left(deadline: float) -> float:
    """Return the seconds that are left; raise TimeoutError if there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def tls_context(tls: Tls, *, trusted: bool = True) -> ssl.SSLContext:
    """Return how TLS is spoken with a broker, without a look at its certificate unless it is to be `trusted`.

    Raises:
        OSError: a file of certificates cannot be read on this machine.
    """
    context = ssl.create_default_context(cafile=tls.ca_file if trusted else None)
    if trusted and tls.cert_file is not None:
        context.load_cert_chain(tls.cert_file, tls.key_file)
    if not trusted:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


_KEEPALIVE_SECONDS = 10
_CONNACK, _DISCONNECT = 0x20, b"\xe0\x00"
_CLEAN_SESSION, _WITH_LOGIN = 0x02, 0xC0
# The codes of MQTT 3.1.1.
_REFUSALS = (
    "accepted",
    "unacceptable protocol version",
    "client id rejected",
    "server unavailable",
    "bad user name or password",
    "not authorised",
)


def mqtt_login(line: Line, login: Login | None) -> None:
    """Log in by MQTT 3.1.1, and out again.

    Raises:
        Refusal: no CONNACK comes, or one that refuses.
    """
    texts = [f"topicloom-{secrets.token_hex(6)}", *(login or ())]
    payload = b"".join(len(text.encode()).to_bytes(2, "big") + text.encode() for text in texts)
    flags = _CLEAN_SESSION | (_WITH_LOGIN if login else 0)
    packet = b"\x00\x04MQTT\x04" + bytes([flags]) + _KEEPALIVE_SECONDS.to_bytes(2, "big") + payload
    line.send(b"\x10" + _mqtt_length(len(packet)) + packet)
    answer = line.read(4)
    if answer[0] != _CONNACK:
        raise Refusal("protocol", "answers, but not by MQTT")
    code = answer[3]
    if code:
        raise Refusal("login", _REFUSALS[code] if code < len(_REFUSALS) else f"code {code}")
    line.send(_DISCONNECT)


def _mqtt_length(size: int) -> bytes:
    """The length of an MQTT packet: seven bits a byte, the lowest first."""
    digits = bytearray()
    while True:
        size, digit = divmod(size, 128)
        digits.append(digit | (0x80 if size else 0))
        if not size:
            return bytes(digits)


def nats_greeting(line: Line) -> bytes:
    """Return the INFO of a NATS server, which comes before TLS.

    Raises:
        Refusal: something else comes.
    """
    info = line.read_line()
    if not info.startswith(b"INFO "):
        raise Refusal("protocol", "answers, but not by the protocol of NATS")
    return info


def is_for_leafnodes(info: bytes) -> bool:
    """Whether an INFO is that of a port for leafnodes."""
    return b'"leafnode_urls"' in info or b'"info_on_connect"' in info


def wants_tls(info: bytes) -> bool:
    """Whether a NATS server asks for TLS."""
    return b'"tls_required":true' in info


def nats_login(line: Line, login: Login | None) -> None:
    """Log in at a port for leafnodes, as a server would that subscribes to nothing.

    Raises:
        Refusal: the server says why.
    """
    hello = {"name": f"topicloom-{secrets.token_hex(6)}"} | dict(zip(("user", "pass"), login or (), strict=False))
    line.send(f"CONNECT {json.dumps(hello)}\r\nPING\r\n".encode())
    while not (answer := line.read_line()).startswith(b"PONG"):
        if answer.startswith(b"-ERR"):
            raise Refusal("login", answer[4:].decode(errors="replace").strip(" '\r\n").lower())


_AMQP = b"AMQP\x00\x00\x09\x01"
# Methods of the class Connection.
_START, _START_OK, _TUNE, _TUNE_OK, _OPEN, _OPEN_OK, _CLOSE = 10, 11, 30, 31, 40, 41, 50
_LARGEST_FRAME = 1 << 20
_METHOD, _FRAME_END = 1, b"\xce"
# A broker that refuses a login then says why, in place of closing the connection.
_CAPABILITIES = b"\x0ccapabilitiesF" + (31).to_bytes(4, "big") + b"\x1cauthentication_failure_closet\x01"


def amqp_greeting(line: Line) -> None:
    """Begin a connection by AMQP 0-9-1.

    Raises:
        Refusal: something else than Connection.Start comes.
    """
    line.send(_AMQP)
    _amqp_answer(line, _START)


def amqp_login(line: Line, login: Login, vhost: str) -> None:
    """Log in by AMQP 0-9-1, and open a virtual host.

    Raises:
        Refusal: the broker says why.
    """
    amqp_greeting(line)
    response = "\0".join(("", *login)).encode()
    sized = [len(part).to_bytes(4, "big") + part for part in (_CAPABILITIES, response)]
    _amqp_send(line, _START_OK, sized[0] + b"\x05PLAIN" + sized[1] + b"\x05en_US")
    limits = _amqp_answer(line, _TUNE)
    _amqp_send(line, _TUNE_OK, limits)
    name = vhost.encode()
    _amqp_send(line, _OPEN, bytes([len(name)]) + name + b"\x00\x00")
    _amqp_answer(line, _OPEN_OK)
    _amqp_send(line, _CLOSE, (200).to_bytes(2, "big") + b"\x00" + bytes(4))


def _amqp_send(line: Line, method: int, arguments: bytes) -> None:
    payload = b"\x00\x0a" + method.to_bytes(2, "big") + arguments
    line.send(bytes([_METHOD, 0, 0]) + len(payload).to_bytes(4, "big") + payload + _FRAME_END)


def _amqp_answer(line: Line, method: int) -> bytes:
    """The arguments of a method of the class Connection, which must come next."""
    head = line.read(7)
    size = int.from_bytes(head[3:], "big")
    if head[0] != _METHOD or size > _LARGEST_FRAME:
        raise Refusal("protocol", "answers, but not by AMQP 0-9-1")
    payload = line.read(size + 1)[:-1]
    came, arguments = payload[:4], payload[4:]
    if came == b"\x00\x0a" + _CLOSE.to_bytes(2, "big"):
        raise Refusal("login", arguments[3 : 3 + arguments[2]].decode(errors="replace"))
    if came != b"\x00\x0a" + method.to_bytes(2, "big"):
        raise Refusal("protocol", "answers, but not by AMQP 0-9-1")
    return arguments
