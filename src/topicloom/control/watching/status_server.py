"""The status of a fleet over HTTP: `/` for people, `/status.json`, and `/metrics` for Prometheus.

Nothing can be changed over it. On loopback anybody of the machine may look, under a name of loopback, so that no page
of another site can; elsewhere a token is needed.
"""

from __future__ import annotations

import hmac
import ipaddress
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from topicloom.control.watching.status_board import StatusBoard
from topicloom.errors import InputError


@contextmanager
def serving(board: StatusBoard, address: str, token: str | None) -> Iterator[str]:
    """Serve a board at HOST:PORT until the context ends; gives where that is."""
    host, port = _address(address)
    if not _is_loopback(host) and not token:
        raise InputError(f"{host} is no address of loopback alone, so looking there needs a token", "token_env")
    try:
        server = ThreadingHTTPServer((host, port), _handler(board, token))
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


def _handler(board: StatusBoard, token: str | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "topicloom"
        sys_version = ""

        def do_GET(self) -> None:
            if token is not None:
                given = self.headers.get("Authorization", "")
                if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                    self._answer(401, "text/plain", "a token is needed\n")
                    return
            elif not _is_loopback(self.headers.get("Host", "").rpartition(":")[0].strip("[]")):
                self._answer(403, "text/plain", "give an address of loopback\n")
                return
            if self.path == "/":
                self._answer(200, "text/html", board.as_page())
            elif self.path == "/status.json":
                self._answer(200, "application/json", board.as_json())
            elif self.path == "/metrics":
                self._answer(200, "text/plain; version=0.0.4", board.as_metrics())
            else:
                self._answer(404, "text/plain", "there are /, /status.json and /metrics\n")

        def _answer(self, status: int, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing is said of who looks."""

    return Handler
