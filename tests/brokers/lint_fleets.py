"""Fleets as people bridge them, with what lint must say and what real brokers do.

Most are from public threads on bridged Mosquitto brokers. An address such as `b:1883` is the broker in `b.conf`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# More copies than this means for ever.
FOR_EVER = 10


@dataclass(frozen=True)
class Fleet:
    """Bridges by broker; the kinds of findings; what is published where, and how often it then arrives where."""

    bridges: dict[str, str]
    kinds: set[str]
    published: tuple[str, str]
    copies: dict[tuple[str, str], int] = field(default_factory=dict)


def bridge(to: str, *topics: str, name: str = "", options: str = "") -> str:
    """A connection section."""
    lines = [f"connection {name or 'to-' + to}", f"address {to}:1883", *filter(None, [options])]
    return "\n".join([*lines, *(f"topic {topic}" for topic in topics)]) + "\n"


FLEETS: dict[str, Fleet] = {
    "triangle": Fleet(
        {"a": bridge("b", "# both 1"), "b": bridge("c", "# both 1"), "c": bridge("a", "# both 1")},
        {"loop"},
        ("a", "t"),
        {("a", "t"): FOR_EVER, ("b", "t"): FOR_EVER, ("c", "t"): FOR_EVER},
    ),
    "triangle, every side from both ends, arrives twice": Fleet(
        {
            "u": bridge("p", "u/# in 1", "p/# out 1") + bridge("q", "u/# in 1", "q/# out 1"),
            "p": bridge("u", "p/# in 1", "u/# out 1") + bridge("q", "p/# in 1", "q/# out 1"),
            "q": bridge("u", "q/# in 1", "u/# out 1") + bridge("p", "q/# in 1", "p/# out 1"),
        },
        {"duplicate", "both-ends"},
        ("u", "q/x"),
        {("u", "q/x"): 1, ("q", "q/x"): 2},
    ),
    "ring in one direction": Fleet(
        {
            "a": bridge("b", "t/# out 1"),
            "b": bridge("c", "t/# out 1"),
            "c": bridge("d", "t/# out 1"),
            "d": bridge("a", "t/# out 1"),
        },
        {"loop"},
        ("c", "t/x"),
        {("a", "t/x"): FOR_EVER},
    ),
    "ring that one broker does not close": Fleet(
        {"a": bridge("b", "t out 1"), "b": bridge("c", "t out 1"), "c": bridge("a", "u out 1")},
        set(),
        ("a", "t"),
        {("a", "t"): 1, ("b", "t"): 1, ("c", "t"): 1},
    ),
    "hub and spoke": Fleet(
        {"hub": "", "a": bridge("hub", "# both 1"), "b": bridge("hub", "# both 1"), "c": bridge("hub", "# both 1")},
        set(),
        ("a", "t"),
        {("hub", "t"): 1, ("a", "t"): 1, ("b", "t"): 1, ("c", "t"): 1},
    ),
    "hub and spoke with a short cut": Fleet(
        {
            "hub": "",
            "a": bridge("hub", "# both 1") + bridge("b", "alarms/# out 1"),
            "b": bridge("hub", "alarms/# both 1"),
        },
        {"loop"},
        ("a", "alarms/x"),
        {("b", "alarms/x"): FOR_EVER},
    ),
    "both sides bridge the same": Fleet(
        {"a": bridge("b", "t both 1"), "b": bridge("a", "t both 1")},
        {"loop", "both-ends"},
        ("a", "t"),
        {("b", "t"): FOR_EVER},
    ),
    "one pushes what the other pulls": Fleet(
        {"a": bridge("b", "t out 1"), "b": bridge("a", "t in 1")},
        {"duplicate", "both-ends"},
        ("a", "t"),
        {("a", "t"): 1, ("b", "t"): 2},
    ),
    "each side pushes its own": Fleet(
        {"a": bridge("b", "up/# out 1"), "b": bridge("a", "down/# out 1")},
        set(),
        ("a", "up/x"),
        {("a", "up/x"): 1, ("b", "up/x"): 1},
    ),
    "overlapping wildcards on one bridge": Fleet(
        {"a": bridge("b", "# out 1", "sensors/# out 1", "sensors/+/temperature out 1"), "b": ""},
        set(),
        ("a", "sensors/1/temperature"),
        {("a", "sensors/1/temperature"): 1, ("b", "sensors/1/temperature"): 1},
    ),
    "overlapping wildcards on two bridges": Fleet(
        {
            "a": bridge("b", "sensors/# out 1", name="one") + bridge("b", "+/1/temperature out 1", name="two"),
            "b": "",
        },
        {"duplicate", "both-ends"},
        ("a", "sensors/1/temperature"),
        {("a", "sensors/1/temperature"): 1, ("b", "sensors/1/temperature"): 2},
    ),
    "wildcards that meet in one topic alone": Fleet(
        {"a": bridge("b", "+/x out 1"), "b": bridge("c", "y/# out 1"), "c": bridge("a", "y/+ out 1")},
        {"loop"},
        ("a", "y/x"),
        {("a", "y/x"): FOR_EVER},
    ),
    "prefixes break a loop": Fleet(
        {
            "a": bridge("b", '# out 1 site-a/ ""', '# in 1 from-b/ ""'),
            "b": bridge("a", '# out 1 other/ ""'),
        },
        set(),
        ("a", "site-a/t"),
        {("a", "site-a/t"): 1, ("b", "t"): 1},
    ),
    "prefixes make a loop": Fleet(
        {"a": bridge("b", 't out 1 "" x/'), "b": bridge("a", 't out 1 x/ ""')},
        {"loop", "both-ends"},
        ("a", "t"),
        {("a", "t"): FOR_EVER, ("b", "x/t"): FOR_EVER},
    ),
    "prefixes of two connections make a loop": Fleet(
        {"a": bridge("b", 't out 1 "" x/', name="one") + bridge("b", 't in 1 "" x/', name="two"), "b": ""},
        {"loop", "both-ends"},
        ("a", "t"),
        {("a", "t"): FOR_EVER, ("b", "x/t"): FOR_EVER},
    ),
    "names that grow": Fleet(
        {"a": bridge("b", '# out 1 "" a/'), "b": bridge("a", "# out 1")},
        {"loop"},
        ("a", "t"),
    ),
    "not told that it is a bridge": Fleet(
        {"a": bridge("b", "t both 1", options="try_private false"), "b": ""},
        {"duplicate"},
        ("a", "t"),
        {("a", "t"): 2, ("b", "t"): 1},
    ),
    "not told, but with MQTT 5": Fleet(
        {"a": bridge("b", "t both 1", options="try_private false\nbridge_protocol_version mqttv50"), "b": ""},
        set(),
        ("a", "t"),
        {("a", "t"): 1, ("b", "t"): 1},
    ),
    "two ways round a square": Fleet(
        {
            "a": bridge("b", "t out 1") + bridge("d", "t out 1"),
            "b": bridge("c", "t out 1"),
            "d": bridge("c", "t out 1"),
            "c": "",
        },
        {"duplicate"},
        ("a", "t"),
        {("a", "t"): 1, ("b", "t"): 1, ("c", "t"): 2, ("d", "t"): 1},
    ),
}
