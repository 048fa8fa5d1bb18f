"""Filters against matching by hand, over all names of a few levels."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest

from topicloom.errors import InputError
from topicloom.model.filters import AMQP, MQTT, NATS, PROTOCOLS, FilterIndex, Protocol, name_classes

LEVELS = {"mqtt": ["a", "b", "$x"], "nats": ["a", "b"], "amqp": ["a", "b"]}
every = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)


def matches(protocol: Protocol, filter_: list[str], name: list[str]) -> bool:
    if not filter_:
        return not name
    if filter_[0] == protocol.rest:
        fewest = 0 if protocol.rest_may_be_none else 1
        return any(matches(protocol, filter_[1:], name[taken:]) for taken in range(fewest, len(name) + 1))
    return bool(name) and filter_[0] in (protocol.one, name[0]) and matches(protocol, filter_[1:], name[1:])


@cache
def matched(protocol: Protocol, filter_: str) -> frozenset[str]:
    """All names of up to four levels, one of them in no filter, that match."""
    levels = filter_.split(protocol.separator)
    return frozenset(
        protocol.separator.join(name)
        for size in range(1, 5)
        for name in product([*LEVELS[protocol.name], "z"], repeat=size)
        if matches(protocol, levels, list(name))
        and not (protocol is MQTT and name[0].startswith("$") and levels[0] in "+#")
    )


def filters(protocol: Protocol, count: int) -> list[str]:
    dice = random.Random(protocol.name)
    found: set[str] = set()
    while len(found) < count:
        levels = [*LEVELS[protocol.name], protocol.one, protocol.one, protocol.rest]
        filter_ = protocol.separator.join(dice.choice(levels) for _ in range(dice.randint(1, 3)))
        try:
            protocol.require(filter_)
        except InputError:
            continue
        found.add(filter_)
    return sorted(found)


@every
def test_classes_are_all_ways_to_match(protocol: Protocol) -> None:
    known = filters(protocol, 25)
    for count in (1, 2, 4, 7):
        some = random.Random(count).sample(known, count)
        found = name_classes(protocol, some, 999)
        for name, matches_ in found:
            assert {place for place, each in enumerate(some) if protocol.covers(each, name)} == matches_, name
        names = frozenset[str]().union(*(matched(protocol, each) for each in some))
        ways = {
            frozenset(place for place, each in enumerate(some) if name in matched(protocol, each)) for name in names
        }
        assert ways <= {one.matches for one in found}
        assert len(found) == len({one.matches for one in found})
        assert len(name_classes(protocol, some, 2)) == min(2, len(found))


@every
def test_overlap_and_cover_are_about_names(protocol: Protocol) -> None:
    known = filters(protocol, 30)
    covers = 0
    for one, other in product(known, known):
        assert protocol.overlap(one, other) == (not matched(protocol, one).isdisjoint(matched(protocol, other)))
        if protocol.covers(one, other):
            assert matched(protocol, one) >= matched(protocol, other)
            covers += one != other
    assert covers > 10


@every
def test_an_index_finds_what_overlaps(protocol: Protocol) -> None:
    known = filters(protocol, 30)
    index = FilterIndex(protocol, known)
    for one in known:
        expected = {number for number, other in enumerate(known) if protocol.overlap(one, other)}
        assert index.overlapping(one) == expected, one


@every
def test_the_widest_match_the_same_names(protocol: Protocol) -> None:
    known = filters(protocol, 30)
    for first in range(0, 25, 5):
        some = known[first : first + 6]
        widest = protocol.widest(some)
        assert set(widest) <= set(some)
        names = [frozenset[str]().union(*(matched(protocol, each) for each in kept)) for kept in (some, widest)]
        assert names[0] == names[1]
        assert not any(protocol.covers(one, other) for one, other in product(widest, widest) if one != other)


@pytest.mark.parametrize(
    ("protocol", "filter_", "problem"),
    [
        (MQTT, "a/#/b", "has '#' before its end; it stands for all that follows"),
        (MQTT, "a+", "has '+' beside other characters; a wildcard stands alone in its level"),
        (MQTT, "a/b#", "has '#' beside other characters; a wildcard stands alone in its level"),
        (NATS, "a.>.b", "has '>' before its end; it stands for all that follows"),
        (NATS, "a..b", "has an empty level; levels are divided by one '.'"),
        (AMQP, "a.*b", "has '*' beside other characters; a wildcard stands alone in its level"),
    ],
)
def test_malformed_filters_are_refused(protocol: Protocol, filter_: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        protocol.require(filter_)
    assert str(refused.value) == f"filter '{filter_}': {problem}"


def test_groups_that_share_and_what_a_broker_says_of_itself() -> None:
    assert MQTT.own("$share/workers/a/+") == "a/+"
    assert MQTT.stays("$SYS/broker/uptime")
    assert not MQTT.stays("a/$SYS")
    assert not NATS.stays("$SYS.a")
    assert not MQTT.overlap("#", "$SYS/broker")
    assert MQTT.overlap("a/#", "a")
    assert not NATS.overlap("a.>", "a")
    AMQP.require("a.#.b")
