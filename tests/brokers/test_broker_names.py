"""Names as attacks: none gets a line into a configuration or a file out of its folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import fleet_of

from topicloom import InputError, Interest, design
from topicloom.brokers import make_plan, read_plan, write_plan
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.lint import connect, read_configured
from topicloom.brokers.plan_file import configuration_of, render

NODES = [
    "a\nconnection evil\naddress evil:1",
    "../../../tmp/evil",
    "..",
    ".",
    "/etc/passwd",
    "-rf",
    "quo\"te's",
    "#",
    "b\0c",
    "x" * 65_535,
    "😀",
    "a b\tc",
    "%2e%2e",
    "a\r\nb",
    "\u2028line",
    "CON",
    "<b>&amp;\\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["mosquitto", "rabbitmq"])
def test_node_names_stay_in_their_place(target: str, tmp_path: Path) -> None:
    interest = Interest.from_pairs([(node, "t") for node in NODES])
    plan = make_plan(interest, design(interest, "gm"), fleet_of(NODES), target=target)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    written = render(plan, tmp_path / "out")
    assert {path.resolve().parent for path in written} == {tmp_path / "out"}
    assert len({path.name for path in written}) == len(NODES) + 1
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json", "out"}
    for path in written:
        text = path.read_text()
        assert "evil:1\n" not in text
        if path.suffix == ".conf":
            assert all(re.match(r"# |$|[a-z_]+ \S", line) for line in text.split("\n"))
            assert text.count("\nconnection ") == text.count("\naddress host")
    if target == "mosquitto":
        wires, outside = connect(read_configured([tmp_path / "out"]))
        assert len(wires) == len(NODES) - 1
        assert not outside


def problem(target: str, topic: str) -> str:
    interest = Interest.from_pairs([("a", topic), ("b", topic)], filters="none")
    with pytest.raises(InputError) as refused:
        make_plan(interest, design(interest, "gm"), fleet_of("ab"), target=target)
    return str(refused.value)


@pytest.mark.parametrize(
    ("topic", "wrong"),
    [
        (
            "a/+/b",
            "topic 'a/+/b': has the wildcard '+', which no message can have in its topic; give the names it stands for",
        ),
        ("#", "topic '#': has the wildcard '#', which no message can have in its topic; give the names it stands for"),
        ("a\nb", "topic 'a\nb': has the character U+000A, which brokers refuse"),
        ("a\0", "topic 'a\0': has the character U+0000, which brokers refuse"),
        ("a\tb", "topic 'a\tb': has the character U+0009, which brokers refuse"),
        ("a\x85b", "topic 'a\x85b': has the character U+0085, which brokers refuse"),
        ("a\ufffe", "topic 'a\ufffe': has the character U+FFFE, which brokers refuse"),
        ("$SYS/x", "topic '$SYS/x': begins with '$', which is kept for what a broker says about itself"),
        (
            "a b",
            (
                "topic 'a b': has a space, at which Mosquitto splits the lines of its configuration; "
                "names without spaces are right"
            ),
        ),
        *(
            (
                topic,
                f"topic '{topic}': begins with a quote, which Mosquitto takes for its own, and releases differ in how",
            )
            for topic in ('""', '"a', '"a"')
        ),
        ("/" * 200, f"topic '{'/' * 60}…' (200 characters): has more than 200 levels, which Mosquitto refuses"),
    ],
)
def test_topics_that_mosquitto_cannot_carry(topic: str, wrong: str) -> None:
    assert problem("mosquitto", topic) == wrong


@pytest.mark.parametrize(
    ("topic", "wrong"),
    [
        ("amq.topic", "topic 'amq.topic': begins with 'amq.', which RabbitMQ keeps for its own exchanges"),
        ("a\nb", "topic 'a\nb': has the character U+000A, which brokers refuse"),
        ("é" * 41, f"topic '{'é' * 41}': has 82 bytes; the name of a federated exchange may have 80"),
    ],
)
def test_topics_that_rabbitmq_cannot_carry(topic: str, wrong: str) -> None:
    assert problem("rabbitmq", topic) == wrong


@pytest.mark.parametrize(
    "topic", ["a", "/", "a//b", "😀/é", 'quo"te', "it's", "%41", "a\\b", "-", "x" * 65_535, "../.."]
)
def test_topics_that_can_be_carried(topic: str) -> None:
    assert KINDS["mosquitto"].name_problem(topic) is None


@given(topic=st.text(min_size=1))
def test_what_is_not_refused_is_one_word_of_one_line(topic: str) -> None:
    if KINDS["mosquitto"].name_problem(topic) is None:
        line = f"topic {topic} both 1"
        assert line.split(" ") == ["topic", topic, "both", "1"]
        assert "\n" not in line
        assert "\r" not in line
        assert "\0" not in line


@given(topic=st.text(min_size=1, max_size=30))
def test_a_policy_matches_its_exchange_alone(topic: str) -> None:
    if KINDS["rabbitmq"].name_problem(topic) is not None:
        return
    others = [f"x{topic}", f"{topic}x", topic.replace(".", "x"), topic[1:]]
    interest = Interest.from_pairs([("a", topic), ("b", topic)])
    plan = make_plan(interest, design(interest, "gm"), fleet_of("ab"), target="rabbitmq")
    (policy,) = json.loads(configuration_of(plan, "a"))["policies"]
    assert re.search(policy["pattern"], topic)
    assert not any(re.search(policy["pattern"], other) for other in others if other != topic)
