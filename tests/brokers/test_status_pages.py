"""The pages that people see where a controller listens: the explorer, which follows the fleet and never troubles it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_status import asked
from test_watching import JOIN, LEAVE, Watched, lines

from browser import Visitor
from topicloom import InputError
from topicloom.brokers.watch import StatusBoard
from topicloom.views.explorer import Explored, Explorer
from topicloom.views.network_views import fleet_now, read_status
from topicloom.views.page import nothing_read
from topicloom.views.pages import page
from topicloom.views.status import serving
from topicloom.views.watched_fleet import WatchedFleet

DRAWN = "[...document.querySelectorAll('.drawing')].every(box => box.figure)"


@pytest.mark.browser
def test_the_explorer_follows_a_fleet(browser: Visitor, tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    board = StatusBoard()
    pages = WatchedFleet(watched.fleet.fleet, lambda: board.decided, board.as_table)
    with serving(board, "127.0.0.1:0", None, pages.answer) as url:
        assert "Nothing was looked at yet" in asked(f"{url}/")[1]
        board.update(watched.turns(), 1.0)
        # Kernels may have to be compiled first, which no browser waits for.
        begin = pages.answer("/", {})
        assert begin is not None
        pages.answer(begin.to, {})
        browser.open(f"{url}/")
        browser.wait(DRAWN)
        assert "A network of 6 nodes" in browser.page.inner_text(".answer")
        before = browser.page.url
        watched.events.write_text(lines(JOIN))
        board.update(watched.turns(), 2.0)
        assert "The fleet has changed since" in asked(before.replace("network", "since"))[1]
        browser.run("document.querySelector('.network').choose('node', 5)")
        browser.wait("document.querySelector('.answer').innerText.includes('Node f')")
        browser.open(f"{url}/")
        assert browser.page.url != before
        assert "A network of 7 nodes" in browser.page.inner_text(".answer")
        browser.open(browser.page.url.replace("network", "time"))
        browser.page.wait_for_selector("text=event 1: join of g")
        watched.events.write_text(lines(JOIN, LEAVE))
        board.update(watched.turns(), 3.0)
        browser.page.wait_for_selector("text=leave of b")
        browser.wait(DRAWN)
        assert browser.run("topicloom.part(document.querySelector('.drawing').figure, 'support').data.y") == [1, 1, 1]
        assert browser.run("Bokeh.documents.length") == 2
        assert browser.complaints == []
        assert [address for address in browser.requests if not address.startswith(url)] == []


def test_networks_of_the_past_are_forgotten(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    board = StatusBoard()
    board.update(watched.turns(), 1.0)
    pages = WatchedFleet(watched.fleet.fleet, lambda: board.decided, board.as_table)
    assert pages.answer("/", {}) == pages.answer("/", {})
    revision, overlay = board.decided or (0, None)
    shown = pages.answer(f"/{revision}/network", {})
    assert shown is not None
    assert b"6 nodes" in shown.data
    # What takes work is nobody's to ask of a controller.
    for name in ("what-if", "trade-off", "report", "job", "x", ""):
        assert pages.answer(f"/{revision}/{name}", {"number": "1"}) is None
    for later in range(1, 6):
        board.decided = (revision + later, overlay)
        pages.answer("/", {})
    gone = pages.answer(f"/{revision}/network", {})
    assert gone is not None
    assert gone.to == "/"


def test_the_explorer_asks_with_a_token(tmp_path: Path) -> None:
    board = StatusBoard()
    board.update(Watched(tmp_path).turns(), 1.0)
    with serving(board, "127.0.0.1:0", "secret") as url:
        explorer = Explorer(
            Explored(nothing_read()), lambda question, named: [], live=lambda: read_status(url, "secret")
        )
        told = fleet_now(explorer, "")
        assert "brokers" in told["facts"]
        assert "html" not in fleet_now(explorer, told["known"])
        views = page(explorer, "time", {})
        assert "Time</a>" in views
        assert "Report</a>" not in views
        with pytest.raises(InputError, match=r"does not accept the login \(401\)"):
            read_status(url)
    with pytest.raises(InputError, match="does not answer"):
        read_status(url, "secret")


def test_a_page_that_fails_is_one_line(tmp_path: Path) -> None:
    said: list[str] = []

    def broken(path: str, given: object) -> None:
        raise ZeroDivisionError("by\nnothing")

    with serving(StatusBoard(), "127.0.0.1:0", None, broken, said.append) as url:
        assert asked(f"{url}/") == (500, "the page cannot be made; the log says why\n")
        assert asked(f"{url}/metrics")[0] == 200
    assert said == ["the page / cannot be made (ZeroDivisionError: by\nnothing)"]
