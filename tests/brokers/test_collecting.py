"""Collecting from what brokers answer: what counts, what is left out, what is said of those that cannot be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_http import FakeServer, answering, slow
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from topicloom import InputError, Interest
from topicloom.brokers import Collected, Collection, Fleet, collect, interest_of
from topicloom.brokers.fleet_file import fleet_from_tables

NOW = 1_790_000_000_000_000
# Those that answers are looked at by.
KEYS = [
    "connections",
    "subscriptions_list",
    "total",
    "cid",
    "subject",
    "leafs",
    "data",
    "meta",
    "count",
    "topic",
    "name",
]


def fleet(**sources: dict[str, Any]) -> Fleet:
    return fleet_from_tables({"brokers": {name: {"host": name, "collect": each} for name, each in sources.items()}})


def rows(collected: Collected) -> list[tuple[str, str, str, str]]:
    return [(r["node"], r["client"], r["role"], r["topic"]) for r in collected.to_arrow().to_pylist()]


# As EMQX documents the answer of GET /api/v5/subscriptions.
EMQX_PAGES = [
    {
        "meta": {"page": 1, "limit": 1000, "hasnext": True, "count": 4},
        "data": [
            {"topic": "t/a", "qos": 0, "node": "emqx@10.0.0.1", "clientid": "c1", "nl": 0, "rap": 0, "rh": 0},
            {"topic": "$SYS/brokers", "qos": 0, "node": "emqx@10.0.0.1", "clientid": "c1", "nl": 0, "rap": 0, "rh": 0},
        ],
    },
    {
        "meta": {"page": 2, "limit": 1000, "hasnext": False, "count": 4},
        "data": [
            {"topic": "$share/g/t/+", "qos": 1, "node": "emqx@10.0.0.2", "clientid": "c2", "nl": 0, "rap": 0, "rh": 0},
            {"topic": "t/a", "qos": 1, "node": "emqx@10.0.0.2", "clientid": "topicloom-x", "nl": 0, "rap": 0, "rh": 0},
        ],
    },
]


def test_pages_of_emqx_from_a_recorded_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(path: str) -> tuple[int, bytes]:
        assert path.startswith("/api/v5/subscriptions?page=")
        return 200, json.dumps(EMQX_PAGES[int(path.partition("page=")[2].partition("&")[0]) - 1]).encode()

    monkeypatch.setenv("EMQX_SECRET", "s3cret")
    login = {"username": "key", "password_env": "EMQX_SECRET"}
    with FakeServer(answer) as server:
        found = collect(fleet(b={"emqx": server.url, "credentials": login}), now_us=NOW)
        fewer = collect(fleet(b={"emqx": server.url, "ignore_clients": ["*2"]}), now_us=NOW)
    assert rows(found.collected) == [("b", "c2", "sub", "$share/g/t/+"), ("b", "c1", "sub", "t/a")]
    assert rows(fewer.collected) == [("b", "c1", "sub", "t/a")]
    assert server.asked[0][1] == "Basic a2V5OnMzY3JldA=="


DEFINITIONS = {
    "exchanges": [
        {"name": "news", "vhost": "/", "type": "fanout"},
        {"name": "alarms", "vhost": "/", "type": "topic"},
        {"name": "federation: news -> b", "vhost": "/", "type": "x-federation-upstream"},
    ],
    "bindings": [
        {"source": "", "vhost": "/", "destination": "q1", "destination_type": "queue", "routing_key": "q1"},
        {"source": "news", "vhost": "/", "destination": "q1", "destination_type": "queue", "routing_key": ""},
        {"source": "news", "vhost": "/", "destination": "federation: news -> b", "destination_type": "exchange"},
        {"source": "alarms", "vhost": "/", "destination": "q2", "destination_type": "queue", "routing_key": "*.fire"},
        {"source": "amq.topic", "vhost": "/", "destination": "q2", "destination_type": "queue", "routing_key": "a.#"},
        {"source": "amq.rabbitmq.trace", "vhost": "/", "destination": "q2", "routing_key": "#"},
        {"source": "news", "vhost": "other", "destination": "q3", "destination_type": "queue", "routing_key": ""},
    ],
    "parameters": [
        {"component": "federation-upstream", "vhost": "/", "name": "hand", "value": {"uri": "amqp://c"}},
        {"component": "federation-upstream", "vhost": "/", "name": "topicloom-d", "value": {"uri": "amqp://d"}},
        {"component": "federation-upstream", "vhost": "other", "name": "far", "value": {"uri": "amqp://e"}},
    ],
}


def said_filters(found: Collection, folder: Path) -> str | None:
    """What the file of what was collected says of filters, and every reader heeds."""
    found.collected.write(folder)
    interest = Interest.read(folder / "subscriptions.parquet")
    assert interest.filters == interest_of(found.collected).filters == found.collected.filters
    return interest.filters


def test_files_say_whose_wildcards_topics_have(tmp_path: Path) -> None:
    def mqtt(*lines: str) -> dict[str, str]:
        (tmp_path / "b.log").write_text("".join(f"1790000000: {line}\n" for line in lines))
        return {"log": str(tmp_path / "b.log")}

    (tmp_path / "definitions.json").write_text(json.dumps(DEFINITIONS))
    amqp = {"definitions": str(tmp_path / "definitions.json")}
    assert said_filters(collect(fleet(b=mqtt("x 1 t/1")), now_us=NOW), tmp_path) is None
    assert said_filters(collect(fleet(b=mqtt("x 1 t/1", "x 1 t/#")), now_us=NOW), tmp_path) == "mqtt"
    assert said_filters(collect(fleet(b=mqtt("x 1 $share/g/t")), now_us=NOW), tmp_path) == "mqtt"
    assert said_filters(collect(fleet(b=amqp), now_us=NOW), tmp_path) == "amqp"
    # Where kinds are mixed, no protocol is that of all topics.
    both = collect(fleet(b=amqp, c=mqtt("x 1 t/#")), now_us=NOW).collected
    both.write(tmp_path)
    with pytest.raises(InputError, match=r"has a wildcard of (nats or amqp|mqtt|amqp); give filters"):
        Interest.read(tmp_path / "subscriptions.parquet")


def test_definitions_of_rabbitmq(tmp_path: Path) -> None:
    (tmp_path / "definitions.json").write_text(json.dumps(DEFINITIONS))
    found = collect(fleet(b={"definitions": str(tmp_path / "definitions.json")}), now_us=NOW)
    assert rows(found.collected) == [
        ("b", "q2", "sub", "*.fire"),
        ("b", "q2", "sub", "a.#"),
        ("b", "q1", "sub", "news"),
    ]
    assert found.notes == (("b", "virtual hosts other than / are left out: other"),)
    assert found.collected.bridges == {"b": ("hand",)}


def test_nats_with_pages_streams_and_leaf_nodes() -> None:
    connections = [{"cid": n, "name": f"c{n}", "subscriptions_list": [f"s.{n}", "_INBOX.x"]} for n in range(1500)]
    connections.append({"cid": 1500, "name": "topicloom-relay", "subscriptions_list": ["all.>"]})

    def answer(path: str) -> tuple[int, bytes]:
        what, _, query = path.lstrip("/").partition("?")
        offset = int(query.partition("offset=")[2] or 0)
        answers: dict[str, Any] = {
            "connz": {"total": len(connections), "connections": connections[offset : offset + 1024]},
            "subsz": {
                "total": 3,
                "subscriptions_list": [
                    {"account": "$G", "subject": "s.1", "cid": 1},
                    {"account": "$G", "subject": "orders.>", "cid": 9999},
                    {"account": "$SYS", "subject": "odd", "cid": 2001},
                ],
            },
            "leafz": {"leafs": [{"ip": "10.0.0.9", "subscriptions_list": ["leaf.a", "$LDS.x"]}]},
            "routez": {"routes": []},
        }
        return 200, json.dumps(answers[what]).encode()

    with FakeServer(answer) as server:
        found = collect(fleet(b={"nats": server.url}, c={"nats": server.url, "leafs": True}), now_us=NOW)
    expected = {(f"c{n}", f"s.{n}") for n in range(1500)} | {("server", "orders.>")}
    told = rows(found.collected)
    assert {row[1::2] for row in told if row[0] == "b"} == expected
    assert {row[1::2] for row in told if row[0] == "c"} == expected | {("leaf node 10.0.0.9", "leaf.a")}


def test_what_is_told_again_keeps_its_time() -> None:
    page = {"meta": {"hasnext": False}, "data": [{"topic": "t", "clientid": "c"}, {"topic": "u", "clientid": "c"}]}
    answers = {"api/v5/subscriptions": page}
    with FakeServer(answering(answers)) as server:
        brokers = fleet(b={"emqx": server.url})
        first = collect(brokers, now_us=NOW)
        page["data"] = [{"topic": "u", "clientid": "c"}, {"topic": "v", "clientid": "c"}]
        second = collect(brokers, first.collected, now_us=NOW + 60_000_000)
        back = collect(brokers, second.collected, now_us=NOW)
    table = second.collected.to_arrow().to_pylist()
    assert [(row["topic"], (row["seen"] - row["since"]).seconds) for row in table] == [("u", 60), ("v", 0)]
    assert back.notes == (("b", "the clock of this machine went back by 60 s"),)
    assert back.collected.to_arrow() == second.collected.to_arrow()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: (200, b"<html>"), "does not answer with JSON"),
        (lambda _: (200, b"[1]"), "does not answer with a JSON object"),
        (lambda _: (200, b'{"meta": {}, "data": 3}'), "does not answer with a list of JSON objects"),
        (lambda _: (200, b'{"data": []}'), "has no meta"),
        (lambda _: (401, b""), "does not accept the login (401); look at credentials"),
        (lambda _: (302, b""), "answers with status 302"),
        (lambda _: (500, b""), "answers with status 500"),
        (lambda _: (200, b"[" * 100_000), "does not answer with JSON"),
        (lambda _: (200, b" " * 3_000_000), "answers with more than 2 MB"),
        (slow, "does not answer within 0.2 s"),
    ],
)
def test_a_broker_that_answers_wrongly_is_named_and_the_others_go_on(
    answer: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topicloom.io.http.LARGEST_BYTES", 2_000_000)
    monkeypatch.setenv("SECRET", "never-shown")
    login = {"username": "me", "password_env": "SECRET"}
    right = {"api/v5/subscriptions": {"meta": {}, "data": [{"topic": "t", "clientid": "c"}]}}
    with FakeServer(answer) as wrong, FakeServer(answering(right)) as server:
        found = collect(
            fleet(
                a={"emqx": wrong.url, "credentials": login, "timeout_seconds": 0.2 if answer is slow else 30},
                b={"emqx": server.url},
                c={"emqx": "http://127.0.0.1:1"},
            )
        )
    assert said in found.problems["a"]
    assert "\n" not in found.problems["a"]
    assert "never-shown" not in str(found.problems)
    assert found.problems["c"].endswith("does not answer (Connection refused)")
    assert rows(found.collected) == [("b", "c", "sub", "t")]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=times(40))
@given(st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=6), st.sampled_from(["nats", "emqx", "rabbitmq"]))
def test_whatever_a_broker_answers_it_is_rows_or_one_line(answer: Any, kind: str) -> None:
    with FakeServer(lambda _: (200, json.dumps(answer).encode())) as server:
        found = collect(fleet(b={kind: server.url}), now_us=NOW)
    assert all("\n" not in problem for problem in found.problems.values())
    assert found.problems or set(found.collected.to_arrow()["node"].to_pylist()) <= {"b"}


def test_logs_are_read_on_also_when_they_are_rotated(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    brokers = fleet(b={"log": str(log)})

    def topics(before: Collected | None) -> tuple[list[str], Any]:
        found = collect(brokers, before)
        assert not found.problems
        return sorted(row[3] for row in rows(found.collected)), found

    log.write_text("1790000000: a 1 first\n1790000001: a 1 sec")
    assert topics(None)[0] == ["first"]
    told, found = topics(None)
    assert "ends within a line" in found.notes[0][1]
    with log.open("a") as file:
        file.write("ond\n")
    told, found = topics(found.collected)
    assert (told, found.notes) == (["first", "second"], ())
    # Twice rotated: what was written after the last look is in the oldest, then in the next, then in the new one.
    with log.open("a") as file:
        file.write("1790000002: a 1 third\n")
    log.rename(tmp_path / "broker.log.2")
    (tmp_path / "broker.log.1").write_text("1790000003: a 1 fourth\n1790000003: a first\n")
    log.write_text("1790000004: a 1 fifth\n")
    told, found = topics(found.collected)
    assert (told, found.notes) == (["fifth", "fourth", "second", "third"], ())
    assert topics(found.collected)[0] == told
    log.write_text("1790000000: a 1 sixth\n")
    told, found = topics(found.collected)
    assert told == ["fifth", "fourth", "second", "sixth", "third"]
    assert [note for _, note in found.notes] == [
        f"{log} is not the file that was read before, and that one is gone; lines between may be missing",
        "its clock went back by 4 s",
    ]


def test_a_log_that_is_cut_short_or_no_log(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text("1790000000: a 1 first\n" * 100)
    brokers = fleet(b={"log": str(log)}, c={"log": [str(tmp_path / "none.log")]})
    found = collect(brokers)
    assert "none.log cannot be read (No such file" in found.problems["c"]
    log.write_text("1790000000: a 1 first\n" * 50)
    found = collect(brokers, found.collected)
    assert found.problems["b"] == f"{log} is cut short: 2,200 bytes of it were read before, and it has 1,100"
    assert rows(found.collected) == [("b", "a", "sub", "first")]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"log": "a", "nats": "http://x"}, "needs one of log, rabbitmq, definitions, nats, emqx, and has log and nats"),
        ({"persistence": True}, "and has none"),
        ({"nats": "http://me:secret@x:1"}, "a login does not belong into the URL of nats"),
        ({"nats": "x:1"}, "nats must be a URL such as http://HOST:PORT"),
        ({"log": 3}, "log must be the path of a file"),
        ({"log": "a", "leafs": True}, "leafs goes with nats, not with log"),
        ({"log": "a", "ca_file": "b"}, "log is a file, which needs no credentials"),
        ({"nats": "http://x", "timeout_seconds": 0}, "timeout_seconds must be a number above 0"),
        ({"nats": "http://x", "credentials": {"password": "secret"}}, "a password does not belong here"),
        ({"lgo": "a"}, "unknown key 'lgo'"),
    ],
)
def test_settings_that_are_wrong(table: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=r"broker 'b': collect") as caught:
        fleet(b=table)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_settings_for_all_brokers() -> None:
    tables = {
        "defaults": {"collect": {"nats": "http://{host}:8222", "ignore_clients": ["probe-*"]}},
        "brokers": {"a": {"host": "a.example"}, "b": {"host": "b", "collect": {"log": "/var/log/{broker}.log"}}},
    }
    sources = fleet_from_tables(tables).sources
    assert (sources["a"].kind, sources["a"].places) == ("nats", ("http://a.example:8222",))
    assert (sources["b"].kind, sources["b"].places) == ("log", ("/var/log/b.log",))
    assert sources["b"].ignore_clients == ("probe-*",)


def test_a_fleet_that_says_nothing() -> None:
    with pytest.raises(InputError, match="does not say how to ask any broker"):
        collect(fleet_from_tables({"brokers": {"a": {"host": "a"}}}))


def test_what_was_collected_survives_being_written(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text("1790000000: New client connected from 1:1 as a (p2, c0, k60).\n1790000000: a 1 t\n")
    found = collect(fleet(b={"log": str(log)}), keep=lambda so_far: so_far.write(tmp_path))
    again = Collected.read(tmp_path)
    assert again.to_arrow() == found.collected.to_arrow()
    assert again.of("b").position == found.collected.of("b").position
    (tmp_path / "subscriptions.parquet").write_text("nonsense")
    with pytest.raises(InputError, match="is not what 'topicloom collect' wrote"):
        Collected.read(tmp_path)
