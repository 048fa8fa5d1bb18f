"""What the explorer's server answers, and what it refuses."""

from __future__ import annotations

import http.client
import json
import random
from typing import Any
from urllib.parse import urlsplit

import pytest

from topicloom.views.server import MOST_BODY_BYTES

FUZZED = 80


def request(
    address: str, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    """Status and body of an answer; underscores in the names of headers stand for hyphens."""
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answered = connection.getresponse()
        return answered.status, answered.read()
    finally:
        connection.close()


def token_of(address: str) -> str:
    return urlsplit(address).path


def test_the_token_opens(address: str) -> None:
    status, body = request(address, token_of(address) + "network")
    assert (status, b"<!DOCTYPE html>" in body) == (200, True)


@pytest.mark.parametrize("path", ["/", "/network", "/wrong/network", "//network", "/../network", "/wrong/ask?key=0:"])
def test_without_its_token_nothing_is_answered(address: str, path: str) -> None:
    status, body = request(address, path)
    assert status == 403
    assert b"<" not in body


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_are_refused(address: str, method: str, headers: dict[str, str]) -> None:
    assert request(address, token_of(address) + "what-if", method=method, body=b"{}", **headers)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "../subs.parquet",
        "..%2f..%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "subs.parquet",
        "export?job=1&name=../../etc/passwd",
    ],
)
def test_no_file_is_reached(address: str, path: str) -> None:
    status, body = request(address, token_of(address) + path)
    assert status in (400, 403, 404)
    assert b"root:" not in body
    assert b"PAR1" not in body


def test_large_bodies_are_refused(address: str) -> None:
    big = b'{"overlay": 0, "killed": "' + b"x" * MOST_BODY_BYTES + b'"}'
    try:
        status = request(address, token_of(address) + "what-if", method="POST", body=big)[0]
    except (ConnectionError, http.client.HTTPException):
        status = 0
    assert status in (0, 400, 413)
    assert request(address, token_of(address) + "network")[0] == 200


def junk(draw: random.Random) -> Any:
    """A value that a form would not send."""
    values: list[Any] = [
        None,
        -1,
        10**30,
        1e308,
        "",
        "x" * 500,
        "\x00",
        "é\ud800",
        [],
        [[]],
        {},
        {"a": {}},
        True,
        "0",
        "gm",
    ]
    return draw.choice(values)


def fuzzed(draw: random.Random, token: str) -> tuple[str, str, bytes | None]:
    """A request of any shape: method, path and body."""
    names = [
        "network",
        "what-if",
        "trade-off",
        "time",
        "papers",
        "ask",
        "find",
        "job",
        "export",
        "data",
        "stop",
        "",
        "x",
    ]
    names += ["load", "live"]
    keys = [
        "overlay",
        "part",
        "key",
        "kind",
        "number",
        "text",
        "job",
        "name",
        "reaction",
        "algorithm",
        "parameters",
        "killed",
        "added",
        "topics",
        "forbidden",
    ]
    words = [
        "0",
        "1",
        "-1",
        "99999999999999999999",
        "0:",
        "0:group-1",
        "0:topic-3.topic-1",
        "node",
        "topic",
        "link",
        "%00",
        "%ff",
        "../",
        "a" * 300,
        "",
    ]
    query = "&".join(f"{draw.choice(keys)}={draw.choice(words)}" for _ in range(draw.randrange(5)))
    path = f"{draw.choice([token, token, token, '/'])}{draw.choice(names)}?{query}"
    if draw.random() < 0.5:
        return "GET", path, None
    body = draw.choice(
        [
            json.dumps(
                {draw.choice(keys): junk(draw) for _ in range(draw.randrange(6))}
                | {"overlay": draw.choice([0, 1, junk(draw)])}
            ).encode(),
            bytes(draw.randrange(256) for _ in range(draw.randrange(60))),
            b"[" * 20_000,
        ]
    )
    return draw.choice(["POST", "POST", "PUT", "DELETE", "OPTIONS"]), path, body


@pytest.mark.slow
def test_whatever_is_asked_is_answered_in_a_line(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(17)
    for _ in range(FUZZED):
        method, path, body = fuzzed(draw, token_of(address))
        status, answered = request(address, path, method=method, body=body)
        assert status < 500, (method, path, body, answered)
        assert b"Traceback" not in answered
    assert capfd.readouterr().err == ""
    assert request(address, token_of(address) + "network")[0] == 200
