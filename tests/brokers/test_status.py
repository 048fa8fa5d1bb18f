"""The status of a fleet: numbers, JSON and a page, and who may look."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from test_watching import JOIN, Watched, lines

from topicloom import InputError
from topicloom.brokers.watch import StatusBoard
from topicloom.views.status import serving


def asked(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def board(folder: Path) -> StatusBoard:
    watched = Watched(folder)
    watched.events.write_text(lines(JOIN))
    made = StatusBoard()
    controller = watched.turns(2)
    controller.problems = ("<script>alert(1)</script>",)
    controller.silent = frozenset("a")
    made.update(controller, 1.0)
    return made


def test_numbers_json_and_a_page(tmp_path: Path) -> None:
    with serving(board(tmp_path), "127.0.0.1:0", None) as url:
        status, text = asked(f"{url}/metrics")
        assert status == 200
        assert "topicloom_brokers 7\n" in text
        assert "topicloom_support 1.0\n" in text
        assert "# TYPE topicloom_decisions_total counter\n" in text
        told = json.loads(asked(f"{url}/status.json")[1])
        assert told["brokers"] == list("abcdefg")
        assert told["links_down"] == [link for link in told["links"] if "a" in link] != []
        page = asked(f"{url}/")[1]
        assert "event 1: join of g" in page
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert asked(f"{url}/else")[0] == 404
        assert asked(f"{url}/metrics", Host="evil.example:80")[0] == 403


def test_tokens(tmp_path: Path) -> None:
    empty = StatusBoard()
    with pytest.raises(
        InputError, match=r"^0\.0\.0\.0 is no address of loopback alone, so looking there needs a token$"
    ):
        serving(empty, "0.0.0.0:0", None).__enter__()
    with pytest.raises(
        InputError, match=r"^an address to listen on is HOST:PORT, such as 127\.0\.0\.1:9500, not '9500'$"
    ):
        serving(empty, "9500", None).__enter__()
    with serving(empty, "127.0.0.1:0", "secret") as url:
        assert asked(f"{url}/")[0] == 401
        assert asked(f"{url}/", Authorization="Bearer wrong")[0] == 401
        status, page = asked(f"{url}/", Authorization="Bearer secret")
        assert status == 200
        assert "Nothing was looked at yet." in page
