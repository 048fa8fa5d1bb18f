"""Known defects of `collect` and `watch`, each as a test that fails until it is mended."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_http import FakeServer
from folder_fleets import FIRST, FolderFleet
from test_watching import JOIN, WANTED, Watched, lines, made

from topicloom import Interest
from topicloom.brokers import collect
from topicloom.brokers import watch as controlling
from topicloom.brokers.apply import StepDone, propose
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.deliver import wait_until_taken
from topicloom.brokers.feed import CollectedFeed, LineFeed
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kind import LinkState
from topicloom.brokers.kinds.rabbitmq import RabbitManagement
from topicloom.brokers.local import LOOPBACK
from topicloom.brokers.moves import MoveStep
from topicloom.brokers.plan import make_plan
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Controller, watch
from topicloom.io.http import HttpError
from topicloom.model.demand import Demand, wishes_for
from topicloom.model.events import Event
from topicloom.model.overlay import Overlay
from topicloom.views import changes
from topicloom.views.view import Note


def test_a_late_event_is_told(tmp_path: Path) -> None:
    watched = Watched(tmp_path)

    def happen(turn: int) -> None:
        if turn < 2:
            with watched.events.open("a") as file:
                file.write(lines((Event(5, "leave", "f"), Event(4, "leave", "e"))[turn]))

    controller = watched.turns(3, happening=happen)
    assert controller.decisions.last_event == 5
    assert any("event 4" in text for text in watched.said)


def renamed(events: Path) -> None:
    events.rename(events.with_suffix(".1"))
    events.write_text(lines(Event(2, "leave", "b")))


def truncated(events: Path) -> None:
    events.write_text(lines(Event(2, "leave", "b")))


def gone_for_a_moment(events: Path) -> None:
    events.rename(events.with_suffix(".1"))


@pytest.mark.parametrize("rotate", [renamed, truncated, gone_for_a_moment])
def test_a_rotated_file_of_events(tmp_path: Path, rotate: Callable[[Path], None]) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(lines(JOIN))
    feed = LineFeed(str(path))
    assert feed()[0] == [JOIN]
    rotate(path)
    found = feed()[0]
    if not path.exists():
        path.write_text(lines(Event(2, "leave", "b")))
    assert [*found, *feed()[0]] == [Event(2, "leave", "b")]


def test_brokers_that_are_not_asked_keep_their_first_subscriptions(tmp_path: Path) -> None:
    log, clock = tmp_path / "a.log", [0.0]
    log.write_text("1793491200: New client connected from 10.1.0.7:5 as app (p2, c1, k60).\n1793491201: app 1 t\n")
    brokers = {"a": {"host": "a", "collect": {"log": str(log)}}, "b": {"host": "b"}}
    known = Demand({"a": wishes_for("t", "sub"), "b": wishes_for("t", "sub")})
    feed = CollectedFeed(
        fleet_from_tables({"brokers": brokers}), made(tmp_path / "kept"), known, 0, 30, lambda: clock[0]
    )
    assert feed() == ([], [])
    clock[0] = 31.0
    assert feed() == ([], [])


def test_a_broker_that_hangs_holds_no_turn_up_and_one_that_is_away_is_not_asked(tmp_path: Path) -> None:
    answers = threading.Event()

    def answer(_path: str) -> tuple[int, bytes]:
        answers.wait(30)
        return 200, b"[]"

    log = tmp_path / "b.log"
    log.write_text("1793491200: New client connected from 10.1.0.7:5 as app (p2, c1, k60).\n1793491201: app 1 t\n")
    known = Demand({name: wishes_for("t", "sub") for name in "abc"})
    with FakeServer(answer) as server, ThreadPoolExecutor() as pool:
        asked = {"a": {"nats": server.url}, "b": {"log": str(log)}, "c": {"log": str(tmp_path / "none")}}
        fleet = fleet_from_tables({"brokers": {name: {"host": name, "collect": asked[name]} for name in asked}})
        feed = CollectedFeed(fleet, made(tmp_path / "kept"), known, 0, 30, away=lambda: {"c"}, pool=pool)
        began = time.monotonic()
        assert [feed() for _ in range(3)] == [([], [])] * 3
        assert time.monotonic() - began < 5
        answers.set()
        while not (found := feed())[1]:
            time.sleep(0.01)
    events, (problem,) = found
    assert events == [], "all want what they wanted"
    assert problem.startswith("a cannot be asked: "), "c is not asked"


def test_a_jump_of_the_clock_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, silent = Watched.looked_at(tmp_path, monkeypatch)
    jump, looks = [0.0], [0]
    clock = SimpleNamespace(time=lambda: time.time() + jump[0], monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr(controlling, "time", clock)

    def after(_controller: Controller, _now: float) -> None:
        looks[0] += 1
        if looks[0] == 2:
            silent.add("b")
        elif looks[0] == 3:
            jump[0] = 3600.0

    with opened(watched.fleet.state) as state:
        fleet = watched.fleet.fleet
        decisions = Decisions(state, fleet.constraints, Demand.from_interest(Interest.from_pairs(WANTED)))
        controller = Controller(
            fleet, decisions, state, lambda: ([], []), watched.allowance, watched.settings, watched.said.append
        )
        controller.settings = type(watched.settings)(apply=True, every_seconds=0.01, down_seconds=30)
        watch(controller, until=lambda: looks[0] > 4, after=after)
        decisions.close()
    assert "b is gone" not in watched.said


Answer = Callable[[str], tuple[int, bytes]]
BINDINGS = [{"source": "news", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": ""}]
EXCHANGES = [{"name": "news", "vhost": "/", "type": "fanout", "message_stats": {"publish_in": 9}}]


@contextmanager
def serving(answer: Answer, elsewhere: str = "") -> Iterator[tuple[str, list[str | None]]]:
    """A server on loopback: its URL, and the logins that came; what it answers with 302 is elsewhere."""
    logins: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            logins.append(self.headers.get("Authorization"))
            status, body = answer(self.path.partition("?")[0])
            self.send_response(status)
            if elsewhere:
                self.send_header("Location", elsewhere)
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self) -> None:
            self.do_GET()

        def log_message(self, *_given: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_address[1]}", logins
        server.shutdown()


@pytest.mark.parametrize("status", [401, 500])
def test_federation_links_that_cannot_be_asked_are_a_problem(status: int) -> None:
    def answer(path: str) -> tuple[int, bytes]:
        if path.endswith("federation-links"):
            return status, b""
        return 200, json.dumps(BINDINGS if path.endswith("bindings") else EXCHANGES).encode()

    with serving(answer) as (url, _):
        found = collect(fleet_from_tables({"brokers": {"b": {"host": "b", "collect": {"rabbitmq": url}}}}))
    assert str(status) in found.problems["b"]


def test_links_that_cannot_be_looked_at_are_not_up() -> None:
    def answer(path: str) -> tuple[int, bytes]:
        return (404, b"") if "federation-links" in path else (200, b"[]")

    with serving(answer) as (url, _):
        delivery = {"via": "rabbitmq", "url": url}
        fleet = fleet_from_tables({"defaults": {"apply": delivery}, "brokers": {n: {"host": n} for n in "ab"}})
        interest = Interest.from_pairs([("a", "t"), ("b", "t")])
        plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet, target="rabbitmq")
        state = LinkState(None, None, "enable rabbitmq_federation_management")
        assert wait_until_taken(plan, plan.broker["a"], fleet.deliveries["a"]) == state
    done = StepDone(1, 1, MoveStep("a", "plan", None), state, 0, 0.5)
    (note,) = changes.step(done).blocks
    assert note == Note("1 of 1  a: file put, links not looked at (enable rabbitmq_federation_management) (0.500 s)")


def test_links_that_nobody_looked_at_are_null(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    done = fleet.apply(fleet.plan(FIRST))
    with opened(tmp_path / "other") as state:
        proposal = propose(state, fleet.plan(FIRST))
    assert [row["links_up"] for row in changes.ended(proposal, done, "").data()["done"]] == [None] * len(done)


def test_a_login_goes_only_where_it_belongs() -> None:
    with (
        serving(lambda _: (200, b"[]")) as (other, sent),
        serving(lambda _: (302, b""), f"{other}/api/nodes") as (url, _),
        suppress(HttpError),
    ):
        RabbitManagement(url, lambda: ("me", "secret"), 5).ask("GET", "nodes")
    assert sent == []


def test_an_answer_that_is_no_json() -> None:
    with serving(lambda _: (200, b"<html>")) as (url, _), pytest.raises(HttpError):
        RabbitManagement(url, lambda: None, 5).ask("GET", "nodes")


def test_a_broker_that_lost_its_bridges_gets_them_again(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    first = watched.turns()
    (watched.fleet.files / "a.conf").write_text("")
    watched.turns(100)
    watched.assert_applied(first)
