"""The HTTP client: where a login goes, and answers that are slow, large, or something else."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from secure import certificate
from topicloom.brokers.health import answers
from topicloom.io import http
from topicloom.io.http import HttpClient, HttpError
from topicloom.model.fleet import Broker

Serve = Callable[[socket.socket], None]


def _asked(taken: socket.socket) -> bytes:
    """A request with its body, which may come in a packet of its own."""
    text = taken.recv(65_536)
    while b"Content-Length: " in text and text.endswith(b"\r\n\r\n"):
        text += taken.recv(65_536)
    return text


@contextmanager
def serving(serve: Serve, *, asks: bool = True) -> Iterator[tuple[str, list[bytes]]]:
    """A server on loopback that takes connections one after the other: its URL, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    taken, _ = server.accept()
                except OSError:
                    return
                with taken, suppress(OSError):
                    if asks:
                        asked.append(_asked(taken))
                    serve(taken)

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        server.shutdown(socket.SHUT_RDWR)


def saying(text: bytes) -> Serve:
    return lambda taken: taken.sendall(text)


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def dripping(taken: socket.socket) -> None:
    """A header that never ends, a byte at a time: each read is in time, all of them are not."""
    taken.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(200):
        taken.sendall(b"x")
        time.sleep(0.05)


def dripping_body(taken: socket.socket) -> None:
    taken.sendall(b"HTTP/1.1 200 OK\r\n\r\n[")
    for _ in range(200):
        taken.sendall(b" ")
        time.sleep(0.05)


def test_what_is_sent_and_what_comes_back() -> None:
    with serving(saying(ok(b'{"a": [1]}'))) as (url, asked):
        client = HttpClient(f"{url}/api/", seconds=5, login=lambda: ("me", "secret"))
        assert client.object("things?x=%2F") == {"a": [1]}
        assert client.send("PUT", "things", {"b": 1}) == {"a": [1]}
    first, second = asked
    assert first.startswith(b"GET /api/things?x=%2F HTTP/1.1\r\n")
    assert b"Authorization: Basic bWU6c2VjcmV0\r\n" in first
    assert second.startswith(b"PUT /api/things HTTP/1.1\r\n")
    assert second.endswith(b'\r\n\r\n{"b": 1}')


def test_an_empty_answer() -> None:
    with serving(saying(b"HTTP/1.1 204 No Content\r\n\r\n")) as (url, _):
        assert HttpClient(url, seconds=5).send("DELETE", "thing") is None


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with serving(saying(ok(b"{}"))) as (other, asked):
        moved = b"HTTP/1.1 %d Moved\r\nLocation: %b/x\r\nContent-Length: 0\r\n\r\n" % (status, other.encode())
        with serving(saying(moved)) as (url, _), pytest.raises(HttpError, match=f"answers with status {status}$"):
            HttpClient(url, seconds=5, token="secret").get("x")
    assert asked == []


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(saying(ok(b"[]"))) as (url, _):
        assert HttpClient(url, seconds=5).objects("") == []


@pytest.mark.parametrize("serve", [dripping, dripping_body, lambda taken: time.sleep(2)])
def test_the_deadline_is_over_the_whole_answer(serve: Serve) -> None:
    began = time.monotonic()
    with serving(serve) as (url, _), pytest.raises(HttpError, match=r"/x does not answer within 0\.5 s$"):
        HttpClient(url, seconds=0.5).get("x?y")
    assert time.monotonic() - began < 1.5


def test_answers_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_BYTES", 1_000_000)
    with serving(saying(ok(b" " * 1_100_000))) as (url, _), pytest.raises(HttpError, match=r"more than 1 MB$"):
        HttpClient(url, seconds=5).get("x")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", r"does not accept the login \(401\); look at credentials$"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "answers with status 500$"),
        (b"nonsense\r\n\r\n", r"does not answer with HTTP \(BadStatusLine\)$"),
        (b"", r"does not answer \(RemoteDisconnected\)$"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[]", r"does not answer with HTTP \(IncompleteRead\)$"),
        (ok(b"[" * 100_000), "does not answer with JSON$"),
        (ok(b"3"), "does not answer with a JSON object$"),
    ],
)
def test_other_answers_are_one_line(answer: bytes, problem: str) -> None:
    with serving(saying(answer)) as (url, _), pytest.raises(HttpError, match=problem) as failed:
        HttpClient(url, seconds=5, login=lambda: ("me", "secret")).object("x")
    assert "\n" not in str(failed.value)
    assert "secret" not in str(failed.value)


def test_nobody_there() -> None:
    with pytest.raises(HttpError, match=r"^http://127\.0\.0\.1:1/x does not answer \(Connection refused\)$") as failed:
        HttpClient("http://127.0.0.1:1", seconds=5).get("x")
    assert failed.value.status is None


@pytest.mark.openssl
def test_tls(tmp_path: Path) -> None:
    own, key = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)

    def with_tls(serve: Serve) -> Serve:
        def served(taken: socket.socket) -> None:
            with context.wrap_socket(taken, server_side=True) as secure:
                secure.recv(65_536)
                serve(secure)

        return served

    trusting = ssl.create_default_context(cafile=own)
    with serving(with_tls(saying(ok(b"{}"))), asks=False) as (url, _):
        there = url.replace("http://127.0.0.1", "https://localhost")
        assert HttpClient(there, seconds=5, context=trusting).get("x") == {}
        with pytest.raises(HttpError, match="certificate verify failed"):
            HttpClient(there, seconds=5).get("x")
        assert answers(Broker("b", "localhost", 1), "rabbitmq", there)
    with serving(with_tls(dripping), asks=False) as (url, _):
        there = url.replace("http://127.0.0.1", "https://localhost")
        with pytest.raises(HttpError, match=r"does not answer within 0\.5 s$"):
            HttpClient(there, seconds=0.5, context=trusting).get("x")
        assert not answers(Broker("b", "localhost", 1), "rabbitmq", there, seconds=0.5)
