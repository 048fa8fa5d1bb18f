"""HTTP requests to one server: no redirects, no proxies, a limit of size, and one deadline over a whole answer.

A login goes only to the server that was named. Errors are one line and show no secret.
"""

from __future__ import annotations

import base64
import json
import math
import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

LARGEST_BYTES = 64_000_000
_CHUNK_BYTES = 1 << 16
_REFUSED = (401, 403)

Login = tuple[str, str]


class HttpError(Exception):
    """A request that failed, as one line; `status` is that of the answer, None if there is no answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class HttpClient:
    """Requests to one server.

    Args:
        url: where the server is; paths are appended to it.
        seconds: the deadline of a request, from connecting to the last byte of the answer.
        login: gives a user and a password, or None; called for each request.
        token: sent as a bearer token.
        context: how to speak TLS; certificates are checked unless it says otherwise.
    """

    def __init__(
        self,
        url: str,
        *,
        seconds: float,
        login: Callable[[], Login | None] | None = None,
        token: str | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._seconds = seconds
        self._login = login
        self._token = token
        self._context = context

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the answer to a request; raise HttpError unless its status is 2xx."""
        where = self._where(path)
        deadline = time.monotonic() + self._seconds
        headers = {"Accept": "application/json", **self._authorization()}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            parts = urlsplit(self._url)
            connection = _connection(parts.scheme, parts.hostname or "", parts.port, self._context, deadline)
            try:
                connection.request(method, f"{parts.path}/{path}", body, headers)
                answer = connection.getresponse()
                if not 200 <= answer.status < 300:
                    raise HttpError(_refusal(where, answer.status), answer.status)
                return _read(answer, where)
            finally:
                connection.close()
        except TimeoutError:
            raise HttpError(f"{where} does not answer within {self._seconds:g} s") from None
        except OSError as error:
            raise HttpError(f"{where} does not answer ({error.strerror or type(error).__name__})") from error
        except (HTTPException, ValueError) as error:
            raise HttpError(f"{where} does not answer with HTTP ({type(error).__name__})") from error

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send JSON, and return the JSON of the answer, None if the answer is empty."""
        text = self.request(method, path, None if body is None else json.dumps(body).encode())
        return self._parsed(text, path) if text else None

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return self._parsed(self.request("GET", path), path)

    def objects(self, path: str) -> list[dict[str, Any]]:
        """Return the JSON at a path, which must be a list of objects."""
        return list_of_objects(self.get(path), self._where(path))

    def object(self, path: str) -> dict[str, Any]:
        """Return the JSON at a path, which must be an object."""
        answer = self.get(path)
        if not isinstance(answer, dict):
            raise HttpError(f"{self._where(path)} does not answer with a JSON object")
        return answer

    def _parsed(self, text: bytes, path: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise HttpError(f"{self._where(path)} does not answer with JSON") from None

    def _where(self, path: str) -> str:
        return f"{self._url}/{path.partition('?')[0]}"

    def _authorization(self) -> dict[str, str]:
        if self._token is not None:
            return {"Authorization": f"Bearer {self._token}"}
        login = None if self._login is None else self._login()
        if login is None:
            return {}
        return {"Authorization": f"Basic {base64.b64encode(':'.join(login).encode()).decode()}"}


def list_of_objects(answer: Any, where: str) -> list[dict[str, Any]]:
    """Return an answer if it is a list of objects; raise HttpError otherwise."""
    if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
        raise HttpError(f"{where} does not answer with a list of JSON objects")
    return answer


def _refusal(where: str, status: int) -> str:
    if status in _REFUSED:
        return f"{where} does not accept the login ({status}); look at credentials"
    return f"{where} answers with status {status}"


def _read(answer: HTTPResponse, where: str) -> bytes:
    parts, size = [], 0
    while part := answer.read1(_CHUNK_BYTES):
        parts.append(part)
        size += len(part)
        if size > LARGEST_BYTES:
            raise HttpError(f"{where} answers with more than {LARGEST_BYTES // 1_000_000} MB")
    if answer.length:
        raise IncompleteRead(b"".join(parts), answer.length)
    return b"".join(parts)


class _PlainSocket(socket.socket):
    """A socket of which all reads together have a deadline."""

    deadline = math.inf

    def recv_into(self, *given: Any) -> int:
        self.settimeout(_left(self.deadline))
        return super().recv_into(*given)


class _TlsSocket(ssl.SSLSocket):
    """The same with TLS."""

    deadline = math.inf

    def recv_into(self, *given: Any) -> int:
        if self.deadline < math.inf:
            self.settimeout(_left(self.deadline))
        return super().recv_into(*given)


def _connection(
    scheme: str, host: str, port: int | None, context: ssl.SSLContext | None, deadline: float
) -> HTTPConnection:
    """Return an open connection."""
    if scheme != "https":
        connection = HTTPConnection(host, port)
        connection.sock = _opened(host, connection.port, deadline)
        return connection
    context = context or ssl.create_default_context()
    context.sslsocket_class = _TlsSocket
    secure = HTTPSConnection(host, port, context=context)
    plain = _opened(host, secure.port, deadline)
    try:
        plain.settimeout(_left(deadline))
        wrapped = context.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise
    assert isinstance(wrapped, _TlsSocket)  # as the context was told
    wrapped.deadline = deadline
    secure.sock = wrapped
    return secure


def _opened(host: str, port: int, deadline: float) -> _PlainSocket:
    """Return a socket that is connected to the first address of a host that answers."""
    problem = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        opened = _PlainSocket(family, kind, protocol)
        opened.deadline = deadline
        try:
            opened.settimeout(_left(deadline))
            opened.connect(address)
            return opened
        except OSError as error:
            opened.close()
            problem = error
    raise problem


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
