"""Events as JSON Lines: what is read, what is written, and every refusal in its one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.model import InputError
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event, parse_events, read_events, write_events

LEAVE_LINE = '{"id": 1, "event": "leave", "node": "a"}'
NO_OBJECT = 'is not a JSON object, such as {"id": 17, "event": "join", "node": "b7", "topics": ["a", "b"]}'


def refusal(line: str) -> str:
    with pytest.raises(InputError) as caught:
        Event.from_json(line, "here")
    message = str(caught.value)
    assert "\n" not in message
    message.encode()
    assert message.startswith("here: ")
    return message.removeprefix("here: ")


def file_of(folder: Path, content: bytes) -> Path:
    file = folder / "events.jsonl"
    file.write_bytes(content)
    return file


class TestOneEvent:
    @pytest.mark.parametrize(
        ("line", "event"),
        [
            ('{"id": 17, "event": "join", "node": "b7", "topics": ["a", "b"]}', Event(17, JOIN, "b7", ("a", "b"))),
            ('{"id": 18, "event": "leave", "node": "b7"}', Event(18, LEAVE, "b7")),
            (
                '{"id": 19, "event": "change", "node": "b2", "add": ["c"], "remove": ["a"]}',
                Event(19, CHANGE, "b2", ("c",), ("a",)),
            ),
            ('{"node": "x", "event": "leave", "id": 0}', Event(0, LEAVE, "x")),
            ('{"id": 9223372036854775807, "event": "leave", "node": "x"}', Event(2**63 - 1, LEAVE, "x")),
            ('{"id": 1, "event": "change", "node": "x", "remove": ["a"]}', Event(1, CHANGE, "x", (), ("a",))),
            ('{"id": 1, "event": "change", "node": "x", "add": ["a"]}', Event(1, CHANGE, "x", ("a",))),
            (r'{"id": 1, "event": "leave", "node": "\ud83d\ude00"}', Event(1, LEAVE, "\U0001f600")),
        ],
    )
    def test_is_read(self, line: str, event: Event) -> None:
        assert Event.from_json(line, "here") == event

    def test_repeated_topics_count_once_and_come_in_order(self) -> None:
        event = Event.from_json('{"id": 1, "event": "join", "node": "x", "topics": ["b", "a", "b"]}', "here")
        assert event.add == ("a", "b")

    @pytest.mark.parametrize(
        "line",
        [
            *("", "x", "[]", "null", "7", '"join"', "{", LEAVE_LINE[:-1], f"{LEAVE_LINE} {LEAVE_LINE}", "'{}'"),
            f"\ufeff{LEAVE_LINE}",
            "[" * 100_000,
            '{"id": ' * 100_000,
            '{"id": ' + "9" * 5000 + "}",
        ],
    )
    def test_refuses_what_is_no_object(self, line: str) -> None:
        assert refusal(line) == NO_OBJECT

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ("{}", '"event" must be join, leave or change, not null'),
            ('{"event": "Join"}', '"event" must be join, leave or change, not "Join"'),
            ('{"event": ["join"]}', '"event" must be join, leave or change, not ["join"]'),
            ('{"event": {"join": 1}}', '"event" must be join, leave or change, not {"join": 1}'),
            ('{"event": 3}', '"event" must be join, leave or change, not 3'),
            ('{"event": "leave", "node": "a"}', '"id" must be a whole number, 0 or more, not null'),
            ('{"event": "leave", "id": "1"}', '"id" must be a whole number, 0 or more, not "1"'),
            ('{"event": "leave", "id": 1.0}', '"id" must be a whole number, 0 or more, not 1.0'),
            ('{"event": "leave", "id": true}', '"id" must be a whole number, 0 or more, not true'),
            ('{"event": "leave", "id": -1}', '"id" must be a whole number, 0 or more, not -1'),
            ('{"event": "leave", "id": NaN}', '"id" must be a whole number, 0 or more, not NaN'),
            (
                '{"event": "leave", "id": 9223372036854775808}',
                '"id" must be a whole number, 0 or more, not 9223372036854775808',
            ),
            ('{"event": "leave", "id": 1, "node": "a", "topics": []}', 'a leave has no "topics"'),
            ('{"event": "join", "id": 1, "node": "a", "add": ["b"]}', 'a join has no "add"'),
            ('{"event": "change", "id": 1, "node": "a", "topics": ["b"]}', 'a change has no "topics"'),
            ('{"event": "leave", "id": 1, "node": "a", "z": 1, "b": 1}', 'a leave has no "b"'),
            (r'{"event": "leave", "id": 1, "node": "a", "x\ny": 1}', r'a leave has no "x\ny"'),
            (r'{"event": "leave", "id": 1, "node": "a", "\ud800": 1}', r'a leave has no "\ud800"'),
            ('{"event": "leave", "id": 1}', '"node" must be a name, not null'),
            ('{"event": "leave", "id": 1, "node": ""}', '"node" must be a name, not ""'),
            ('{"event": "leave", "id": 1, "node": 7}', '"node" must be a name, not 7'),
            (r'{"event": "leave", "id": 1, "node": "\ud83d"}', r'"node" must be a name, not "\ud83d"'),
            ('{"event": "join", "id": 1, "node": "a", "topics": "bc"}', '"topics" must be a list of topics'),
            ('{"event": "join", "id": 1, "node": "a", "topics": null}', '"topics" must be a list of topics'),
            ('{"event": "join", "id": 1, "node": "a", "topics": ["b", 1]}', '"topics" must be a list of topics'),
            ('{"event": "join", "id": 1, "node": "a", "topics": [""]}', '"topics" must be a list of topics'),
            ('{"event": "join", "id": 1, "node": "a", "topics": [["b"]]}', '"topics" must be a list of topics'),
            (r'{"event": "join", "id": 1, "node": "a", "topics": ["\udc00"]}', '"topics" must be a list of topics'),
            ('{"event": "change", "id": 1, "node": "a", "add": {}}', '"add" must be a list of topics'),
            (
                '{"event": "change", "id": 1, "node": "a", "add": ["b"], "remove": 1}',
                '"remove" must be a list of topics',
            ),
        ],
    )
    def test_refuses_fields(self, fields: str, message: str) -> None:
        assert refusal(fields) == message

    def test_is_written_with_the_fields_of_its_kind(self) -> None:
        lines = [
            Event(1, JOIN, "é", ("a", "b")).to_json(),
            Event(2, LEAVE, "a").to_json(),
            Event(3, CHANGE, "a", ("c",), ("b",)).to_json(),
        ]
        assert lines == [
            '{"id": 1, "event": "join", "node": "é", "topics": ["a", "b"]}',
            '{"id": 2, "event": "leave", "node": "a"}',
            '{"id": 3, "event": "change", "node": "a", "add": ["c"], "remove": ["b"]}',
        ]


class TestFile:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (f"{LEAVE_LINE}\n{LEAVE_LINE}\n", "line 2: id 1 comes after 1; ids must rise"),
            (f"{LEAVE_LINE}\n\n{LEAVE_LINE.replace('1', '0')}", "line 3: id 0 comes after 1; ids must rise"),
            (f"{LEAVE_LINE}\nx\n", f"line 2: {NO_OBJECT}"),
            (f"{LEAVE_LINE}\n\ufeff{LEAVE_LINE}\n", f"line 2: {NO_OBJECT}"),
            (f"\n\n{LEAVE_LINE[:-1]}", f"line 3: {NO_OBJECT}"),
            ('{"id": 1, "event": "go", "node": "a"}', 'line 1: "event" must be join, leave or change, not "go"'),
        ],
    )
    def test_refusals_name_the_line(self, content: str, message: str, tmp_path: Path) -> None:
        file = file_of(tmp_path, content.encode())
        with pytest.raises(InputError) as caught:
            read_events(file)
        assert str(caught.value) == f"{file}: {message}"

    def test_refuses_other_encodings(self, tmp_path: Path) -> None:
        line = LEAVE_LINE.replace("a", "é", 1).encode("latin-1")
        file = file_of(tmp_path, line)
        with pytest.raises(InputError) as caught:
            read_events(file)
        assert str(caught.value) == f"{file}: is not UTF-8 (byte {line.index(0xE9) + 1})"

    def test_refuses_what_is_not_there_or_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            read_events(tmp_path / "none.jsonl")
        assert str(caught.value) == f"{tmp_path / 'none.jsonl'}: no such file"
        with pytest.raises(InputError) as caught:
            read_events(str(tmp_path))
        assert str(caught.value) == f"{tmp_path}: cannot be read (Is a directory)"

    def test_empty_lines_and_ends_of_lines_do_not_matter(self, tmp_path: Path) -> None:
        content = f"\n  \n{LEAVE_LINE}\r\n\t\n{LEAVE_LINE.replace('1', '5')}\r{LEAVE_LINE.replace('1', '6')}\n\n"
        assert [event.id for event in read_events(file_of(tmp_path, content.encode()))] == [1, 5, 6]
        assert read_events(file_of(tmp_path, b"")) == []

    @pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\n", "\0", '"', "\\"])
    def test_names_may_hold_what_others_take_for_an_end_of_line(self, odd: str, tmp_path: Path) -> None:
        topics = tuple(sorted([odd, f"t{odd}"]))
        events = [Event(1, JOIN, f"a{odd}b", topics), Event(2, LEAVE, f"a{odd}b")]
        write_events(events, tmp_path / "events.jsonl")
        assert read_events(tmp_path / "events.jsonl") == events
        assert (tmp_path / "events.jsonl").read_bytes().count(b"\n") == 2

    def test_lines_are_parsed_one_after_the_other(self) -> None:
        events = parse_events(iter([LEAVE_LINE, "x"]), "stream")
        assert next(events) == Event(1, LEAVE, "a")
        with pytest.raises(InputError) as caught:
            next(events)
        assert str(caught.value) == f"stream: line 2: {NO_OBJECT}"

    def test_a_writer_that_fails_leaves_the_old_file(self, tmp_path: Path) -> None:
        file = file_of(tmp_path, b"old")

        def events() -> Iterator[Event]:
            yield Event(1, LEAVE, "a")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write_events(events(), file)
        assert file.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [file]


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
topics = st.sets(names, max_size=4).map(lambda found: tuple(sorted(found)))


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    ids = sorted(draw(st.sets(st.integers(0, 2**63 - 1), max_size=5)))
    kinds: dict[str, Any] = {
        JOIN: st.builds(lambda add: {"add": add}, topics),
        LEAVE: st.just({}),
        CHANGE: st.builds(lambda add, remove: {"add": add, "remove": remove}, topics, topics),
    }
    events = []
    for number in ids:
        kind = draw(st.sampled_from(sorted(kinds)))
        events.append(Event(number, kind, draw(names), **draw(kinds[kind])))
    return events


@given(events=event_lists())
def test_what_is_written_is_read_again(events: list[Event]) -> None:
    lines = [event.to_json() for event in events]
    assert not any("\n" in line or "\r" in line for line in lines)
    assert list(parse_events(lines, "here")) == events
