"""The server of the explorer, and which requests it refuses.

Which requests are answered: with the token in the address, to this host, from nowhere else.

A page of another site could make a browser ask a server on loopback, under a name of its own that leads there. It
knows no token, its name is not ours, and the browser says where it comes from.

The explorer over HTTP, on loopback alone: pages, answers to clicks and questions, files to take away.

The token is the first part of every address, so whatever a page asks for has it too. Nothing is written, and no
request names a file: what there is was read when the explorer started.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from topicloom.errors import InputError
from topicloom.views.explorer import Explorer
from topicloom.views.pages import answer_to, begin, first_address, progress, whole_number
from topicloom.views.web_reply import Reply, line_of

# More than any question has. Addresses hold a name or two, which may be long.
MOST_BODY_BYTES = 256 * 1024
MOST_HEADER_BYTES = 64 * 1024

_OURS = ("same-origin", "none")


@dataclass(frozen=True)
class Guard:
    """Knows the token and the port."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may call this server."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def refusal(self, token: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is not answered; None where it is."""
        if headers.get("Host", "").lower() not in self.hosts:
            return "give the address that topicloom explore printed"
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "the address lacks its token; give the one that topicloom explore printed"
        origin = headers.get("Origin")
        if origin is not None and origin.lower() not in [f"http://{host}" for host in self.hosts]:
            return "another site asks"
        if headers.get("Sec-Fetch-Site", "none").lower() not in _OURS:
            return "another site asks"
        return None


# How long a request may take to arrive, and how long a question is waited for before it is asked after.
_ARRIVING_SECONDS = 10
_AT_ONCE_SECONDS = 0.4
_LOOK_SECONDS = 0.01


class _Handler(RequestHandler):
    """Answers what the guard lets pass. Work is done in threads, so that others are answered meanwhile."""

    def initialize(self, explorer: Explorer, guard: Guard) -> None:
        self.explorer, self.guard = explorer, guard

    def set_default_headers(self) -> None:
        for name, value in {"Server": "topicloom", **line_of("").headers}.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        refusal = self.guard.refusal(self.path_args[0], self.request.headers)
        if refusal is not None:
            raise HTTPError(403, reason=refusal)

    async def get(self, token: str, name: str) -> None:
        """A page, or what one asks for."""
        if not name:
            self.redirect(f"/{token}/{first_address(self.explorer)}")
            return
        given = {key: self.get_query_argument(key) for key in self.request.query_arguments}
        loop = asyncio.get_running_loop()
        reply = await loop.run_in_executor(None, answer_to, self.explorer, name, given)
        if reply is None:
            raise HTTPError(404, reason="there is nothing of that name")
        self._send(reply)

    async def post(self, token: str, name: str) -> None:
        """A question; or that one is no longer asked."""
        if name == "stop":
            self.explorer.jobs.find(whole_number({"job": self.get_query_argument("job", "")}, "job")).watch.stop()
            self._send_json({})
            return
        try:
            given = json.loads(self.request.body)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise InputError("a question is a JSON object")
        job = begin(self.explorer, name, given)
        for _ in range(round(_AT_ONCE_SECONDS / _LOOK_SECONDS)):
            if self.explorer.jobs.find(job).ended:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        self._send_json(progress(self.explorer, job))

    def _send_json(self, value: Any) -> None:
        self._send(Reply("application/json", json.dumps(value).encode()))

    def _send(self, reply: Reply) -> None:
        if reply.to:
            self.redirect(reply.to)
            return
        for name, value in reply.headers.items():
            self.set_header(name, value)
        self.finish(reply.data)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """One line of text; nothing of the inside is told."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, InputError):
            self.set_status(400)
            text = str(error)
        else:
            text = getattr(error, "reason", None) or self._reason
        self._send(line_of(text))

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Only what should not have happened is told on stderr."""
        if not isinstance(error, InputError | HTTPError):
            super().log_exception(kind, error, trace)


def _application(explorer: Explorer, guard: Guard) -> Application:
    handed = {"explorer": explorer, "guard": guard}
    return Application([(r"/([^/]*)/?(.*)", _Handler, handed)], log_function=lambda handler: None)


async def _serve(explorer: Explorer, port: int, ready: Callable[[str], None], ended: asyncio.Event) -> None:
    try:
        sockets = bind_sockets(port, "127.0.0.1")
    except OSError as error:
        raise InputError(f"cannot listen on port {port} ({error.strerror})", "port") from None
    guard = Guard(secrets.token_urlsafe(18), sockets[0].getsockname()[1])
    # What is wrong with a request is its sender's business.
    logging.getLogger("tornado.general").setLevel(logging.CRITICAL)
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    server = HTTPServer(
        _application(explorer, guard),
        max_body_size=MOST_BODY_BYTES,
        max_header_size=MOST_HEADER_BYTES,
        body_timeout=_ARRIVING_SECONDS,
        idle_connection_timeout=60,
    )
    server.add_sockets(sockets)
    ready(f"http://127.0.0.1:{guard.port}/{guard.token}/")
    try:
        await ended.wait()
    finally:
        server.stop()
        await server.close_all_connections()
        explorer.jobs.close()


def serve(explorer: Explorer, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is told the address. Port 0 is any that is free."""

    async def forever() -> None:
        await _serve(explorer, port, ready, asyncio.Event())

    asyncio.run(forever())


@contextmanager
def serving(explorer: Explorer) -> Iterator[str]:
    """Serve in a thread until the context ends; gives the address."""
    address: list[str] = []
    started = threading.Event()
    ended = asyncio.Event()
    loop = asyncio.new_event_loop()

    def ready(given: str) -> None:
        address.append(given)
        started.set()

    thread = threading.Thread(target=lambda: loop.run_until_complete(_serve(explorer, 0, ready, ended)), daemon=True)
    thread.start()
    started.wait(30)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
