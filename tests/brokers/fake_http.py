"""A server on loopback that answers as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class FakeServer:
    """Answers each path with what `answer` gives for it: a status and bytes; leaving the context ends it."""

    def __init__(self, answer: Callable[[str], tuple[int, bytes]]) -> None:
        self.asked: list[tuple[str, str | None]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append((self.path, self.headers.get("Authorization")))
                status, body = answer(self.path)
                self.send_response(status)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def answering(answers: dict[str, Any]) -> Callable[[str], tuple[int, bytes]]:
    """JSON by path, without its query."""

    def answer(path: str) -> tuple[int, bytes]:
        found = answers.get(path.partition("?")[0].lstrip("/"))
        return (404, b"{}") if found is None else (200, json.dumps(found).encode())

    return answer


def slow(_path: str) -> tuple[int, bytes]:
    """No answer for a second."""
    time.sleep(1)
    return 200, b"{}"
