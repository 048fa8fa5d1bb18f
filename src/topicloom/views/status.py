"""The status of a fleet over HTTP: `/` for people, `/status.json`, and `/metrics` for Prometheus.

People see a small page, or whatever pages are handed in. Nothing can be changed over it. On loopback anybody of the
machine may look, under a name of loopback, so that no page of another site can; elsewhere a token is needed.
"""

from __future__ import annotations

import hmac
import ipaddress
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from topicloom.brokers.watch import StatusBoard
from topicloom.errors import InputError, printable
from topicloom.views.view import Fact, Note, On, View
from topicloom.views.web_reply import Reply, line_of

# What is at a path, for who asks with these arguments; None where there is nothing.
Pages = Callable[[str, Mapping[str, str]], Reply | None]

# How long a request may take to arrive, and an answer to be taken.
_SECONDS = 30
_SMALL_PAGE = "default-src 'none'; style-src 'unsafe-inline'"


def said(text: str, at: float) -> View:
    """A line that a controller says, with the time."""
    return View(
        "said",
        "Said",
        (
            Fact("at", round(at, 3), on=On.DATA),
            Fact("said", text, on=On.DATA),
            Note(printable(f"{datetime.fromtimestamp(at):%H:%M:%S}  {text}")),
        ),
    )


@contextmanager
def serving(
    board: StatusBoard,
    address: str,
    token: str | None,
    pages: Pages | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[str]:
    """Serve a board at HOST:PORT until the context ends; gives where that is.

    `pages` are those that people see instead of the small one; `tell` hears a line where one cannot be made.
    """
    host, port = _address(address)
    if not _is_loopback(host) and not token:
        raise InputError(f"{host} is no address of loopback alone, so looking there needs a token", "token_env")
    try:
        server = _QuietServer((host, port), _handler(board, token, pages or _small_page(board), tell))
    except OSError as error:
        raise InputError(f"cannot listen on {address} ({error.strerror})") from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"an address to listen on is HOST:PORT, such as 127.0.0.1:9500, not '{text}'")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who goes away before all was said is not our business."""


def _small_page(board: StatusBoard) -> Pages:
    def page(path: str, given: Mapping[str, str]) -> Reply | None:
        return Reply("text/html", board.as_page().encode(), policy=_SMALL_PAGE) if path == "/" else None

    return page


def _handler(
    board: StatusBoard, token: str | None, pages: Pages, tell: Callable[[str], None]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "topicloom"
        sys_version = ""
        timeout = _SECONDS

        def do_GET(self) -> None:
            if token is not None:
                given = self.headers.get("Authorization", "")
                if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                    self._send(401, line_of("a token is needed"))
                    return
            elif not _is_loopback(self.headers.get("Host", "").rpartition(":")[0].strip("[]")):
                self._send(403, line_of("give an address of loopback"))
                return
            self._send(*self._answer())

        def _answer(self) -> tuple[int, Reply]:
            """What is asked for; whatever goes wrong is told in a line, and the fleet is followed as before."""
            try:
                if self.path == "/status.json":
                    return 200, Reply("application/json", board.as_json().encode())
                if self.path == "/metrics":
                    return 200, Reply("text/plain; version=0.0.4", board.as_metrics().encode())
                asked = urlsplit(self.path)
                reply = pages(asked.path, dict(parse_qsl(asked.query)))
            except InputError as error:
                return 400, line_of(str(error))
            except Exception as error:
                tell(f"the page {self.path[:80]} cannot be made ({type(error).__name__}: {error})")
                return 500, line_of("the page cannot be made; the log says why")
            if reply is None:
                return 404, line_of("there are /, /status.json and /metrics")
            return 302 if reply.to else 200, reply

        def _send(self, status: int, reply: Reply) -> None:
            self.send_response(status)
            if reply.to:
                self.send_header("Location", reply.to)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.data)))
            self.end_headers()
            self.wfile.write(reply.data)

        def log_message(self, *_: object) -> None:
            """Nothing is said of who looks."""

    return Handler
