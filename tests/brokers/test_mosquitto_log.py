"""Mosquitto's log: the same as read line by line, however it is cut, and what lines with spaces say."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference.mosquitto_log import known_after
from topicloom.brokers.kinds.mosquitto_log import Sessions, after_lines

CLIENTS = ("a", "b", "sensor-1", "topicloom-x-y-1")
TOPICS = ("t", "t/#", "é/+", "$SYS/uptime", "$share/g/q")
CLIENT, TOPIC = st.sampled_from(CLIENTS), st.sampled_from(TOPICS)
STARTING, LASTING = "mosquitto version 2.0.11 starting", "New client connected from 10.0.0.1:5 as a (p2, c0, k60)."
SAID = st.one_of(
    st.builds("New client connected from 10.0.0.1:5 as {} (p2, c{}, k60).".format, CLIENT, st.integers(0, 1)),
    st.builds("New bridge connected from 10.0.0.1:5 as {} (p2, c0, k60, u'me').".format, CLIENT),
    st.builds("Received CONNACK on connection {}.".format, CLIENT),
    st.builds("{} {} {}".format, CLIENT, st.integers(0, 2), TOPIC),
    st.builds("{} {}".format, CLIENT, TOPIC),
    st.builds("Client {} disconnected.".format, CLIENT),
    st.builds("Client {} closed its connection.".format, CLIENT),
    st.builds("Received PUBLISH from {} (d0, q0, r0, m0, '{}', ... (5 bytes))".format, CLIENT, TOPIC),
    st.just(STARTING),
    st.sampled_from(["New connection from 10.0.0.1:5 on port 1883.", "\tt (QoS 1)", "Sending SUBACK to a", ""]),
)


def is_client(name: str) -> bool:
    return not name.startswith("topicloom-")


def read(lines: list[str], cut: int, *, persistence: bool = False) -> Sessions:
    sessions = Sessions()
    for begin in range(0, len(lines), cut):
        text = "".join(f"{line}\n" for line in lines[begin : begin + cut]).encode()
        sessions = after_lines(sessions, text, persistence=persistence, counts=is_client)
    return sessions


def rows(sessions: Sessions) -> set[tuple[str, str, str]]:
    found = [(row["client"], row["role"], row["topic"]) for row in sessions.rows.to_pylist()]
    assert len(found) == len(set(found)), "each once"
    return set(found)


@example(["a 0 t", STARTING, LASTING], 9, True)
@example([LASTING, "a 0 t", STARTING, "a 1 t/#", LASTING.replace("c0", "c1"), "a 1 t/#", STARTING, LASTING], 9, True)
@given(st.lists(SAID, max_size=25), st.integers(1, 9), st.booleans())
def test_as_read_line_by_line(said: list[str], cut: int, persistence: bool) -> None:
    lines = [f"{1_790_000_000 + number}: {text}" for number, text in enumerate(said)]
    expected, bridges = known_after(lines, persistence=persistence)
    for sessions in (read(lines, size, persistence=persistence) for size in (len(lines) or 1, cut)):
        assert rows(sessions) == expected
        assert sessions.bridges == bridges


@pytest.mark.parametrize("persistence", [False, True])
def test_lasting_sessions_outlive_a_broker_with_persistence(persistence: bool) -> None:
    lines = ["New client connected from 10.0.0.1:5 as a (p2, c0, k60).", "a 1 t", "mosquitto version 2.0.11 starting"]
    found = rows(read([f"1790000000: {line}" for line in lines], 3, persistence=persistence))
    assert found == ({("a", "sub", "t")} if persistence else set())


NAMES = ["a b 1 c", "c5", "c5 2 x", "0", "Client", "Sending", "ä ö"]


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("topic", ["t", "p 2 y", "1", "a b"])
@pytest.mark.parametrize("cut", [1, 100])
def test_names_with_spaces_and_numbers(client: str, topic: str, cut: int) -> None:
    begun = [f"1790000000: New client connected from 10.0.0.1:5 as {name} (p2, c1, k60)." for name in NAMES]
    subscribes, ends = f"1790000001: {client} 1 {topic}", f"1790000002: {client} {topic}"
    assert rows(read([*begun, subscribes], cut)) == {(client, "sub", topic)}
    assert rows(read([*begun, subscribes, ends], cut)) == set()


def test_times_are_those_of_lines() -> None:
    lines = ["1790000000: a 1 t", "1790000010: a t", "1790000020: a 0 t", "1790000030: a 2 t", "1790000031: b 1 t"]
    for cut in (1, 2, 5):
        first = read(lines, cut).rows.to_pylist()[0]
        assert (first["since"], first["seen"]) == (moment(1790000020), moment(1790000030))


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-09-21T14:13:20Z: ",
        "2026-09-21T16:13:20+0200: ",
        "Sep 21 14:13:20 vm mosquitto[812]: 1790000000: ",
        "1790000000: ",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_other_forms_of_time(stamp: str, end: str) -> None:
    text = f"{stamp}a 1 t/#{end}"
    sessions = after_lines(Sessions(), text.encode(), persistence=False, counts=is_client)
    assert [(row["topic"], row["since"]) for row in sessions.rows.to_pylist()] == [("t/#", moment(1790000000))]


def test_lines_without_a_time_and_with_other_bytes() -> None:
    text = b"1790000000: a 1 t\nb 1 u\n\xff\xfe junk\n1789999000: c 1 v\n"
    sessions = after_lines(Sessions(), text, persistence=False, counts=is_client)
    assert rows(sessions) == {("a", "sub", "t"), ("b", "sub", "u"), ("c", "sub", "v")}
    assert sessions.back == 1_000_000_000


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
