"""All filters of small alphabets against matching of names by brute force, and larger ones by hypothesis."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from topicloom import Interest
from topicloom.errors import InputError
from topicloom.model.filters import AMQP, MQTT, NATS, PROTOCOLS, FilterIndex, Protocol, match_classes

LEVELS = {"mqtt": ["a", "b", "$x"], "nats": ["a", "b"], "amqp": ["a", "b"]}
every = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)


def matches(protocol: Protocol, filter_: list[str], name: list[str]) -> bool:
    if not filter_:
        return not name
    if filter_[0] == protocol.rest:
        fewest = 0 if protocol.rest_may_be_none else 1
        return any(matches(protocol, filter_[1:], name[taken:]) for taken in range(fewest, len(name) + 1))
    return bool(name) and filter_[0] in (protocol.one, name[0]) and matches(protocol, filter_[1:], name[1:])


def is_matched(protocol: Protocol, filter_: str, name: str) -> bool:
    levels, parts = filter_.split(protocol.separator), name.split(protocol.separator)
    hidden = protocol is MQTT and name.startswith("$") and levels[0] in ("+", "#")
    return not hidden and matches(protocol, levels, parts)


@cache
def names(protocol: Protocol) -> list[str]:
    """All names of up to four levels, of which `z` is in no filter."""
    levels = [*LEVELS[protocol.name], "z"]
    return [protocol.separator.join(name) for size in range(1, 5) for name in product(levels, repeat=size)]


@cache
def matched(protocol: Protocol, filter_: str) -> frozenset[str]:
    return frozenset(name for name in names(protocol) if is_matched(protocol, filter_, name))


@cache
def filters(protocol: Protocol) -> list[str]:
    """All filters of up to three levels."""
    levels = [*LEVELS[protocol.name], protocol.one, protocol.rest]
    written = (protocol.separator.join(each) for size in (1, 2, 3) for each in product(levels, repeat=size))
    return [filter_ for filter_ in written if protocol.problem(filter_) is None]


def some(protocol: Protocol, count: int, seed: object = 0) -> list[str]:
    return random.Random(f"{protocol.name} {seed}").sample(filters(protocol), min(count, len(filters(protocol))))


@every
def test_overlap_cover_and_shared_are_about_names(protocol: Protocol) -> None:
    """Names of four levels tell any two filters of three apart."""
    pairs = list(product(some(protocol, 40), some(protocol, 40, "other")))
    for one, other in pairs:
        both = matched(protocol, one) & matched(protocol, other)
        assert protocol.overlap(one, other) == bool(both), (one, other)
        assert protocol.covers(one, other) == (matched(protocol, one) >= matched(protocol, other)), (one, other)
        shared = protocol.shared(one, other)
        assert frozenset[str]().union(*(matched(protocol, each) for each in shared)) == both, (one, other, shared)
        assert all(protocol.problem(each) is None for each in shared)
        assert len(shared) <= 1 or protocol is AMQP
        assert shared == protocol.shared(other, one)
    assert {protocol.overlap(*pair) for pair in pairs} == {protocol.covers(*pair) for pair in pairs} == {True, False}


@every
@pytest.mark.slow
def test_all_pairs_of_filters(protocol: Protocol) -> None:
    for one, other in product(filters(protocol), repeat=2):
        assert protocol.overlap(one, other) == (not matched(protocol, one).isdisjoint(matched(protocol, other)))
        assert protocol.covers(one, other) == (matched(protocol, one) >= matched(protocol, other)), (one, other)


@every
def test_an_index_finds_what_overlaps(protocol: Protocol) -> None:
    known = filters(protocol)
    index = FilterIndex(protocol, known)
    for one in some(protocol, 60):
        expected = {
            number
            for number, other in enumerate(known)
            if not matched(protocol, one).isdisjoint(matched(protocol, other))
        }
        assert index.overlapping(one) == expected, one


@every
@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_classes_are_all_sets_of_filters_that_a_name_matches(protocol: Protocol, count: int) -> None:
    for seed in range(times(10)):
        chosen = some(protocol, count, seed)
        found = match_classes(protocol, chosen, 9999)
        for name, numbers in found:
            assert {number for number, each in enumerate(chosen) if is_matched(protocol, each, name)} == numbers, name
        expected = {
            frozenset(number for number, each in enumerate(chosen) if name in matched(protocol, each))
            for name in names(protocol)
        }
        assert expected - {frozenset()} == {one.matches for one in found}
        assert len(found) == len({one.matches for one in found})
        levels = [one.name.count(protocol.separator) for one in found]
        assert levels == sorted(levels)
        assert match_classes(protocol, chosen, 2) == found[:2]


@every
def test_the_widest_match_the_same_names(protocol: Protocol) -> None:
    for seed in range(times(20)):
        chosen = some(protocol, 6, seed)
        widest = protocol.widest(chosen)
        assert set(widest) <= set(chosen)
        assert widest == protocol.widest(chosen[::-1]) == protocol.widest([*chosen, *chosen])
        both = [frozenset[str]().union(*(matched(protocol, each) for each in kept)) for kept in (chosen, widest)]
        assert both[0] == both[1]
        assert not any(protocol.covers(one, other) for one, other in product(widest, widest) if one != other)


@every
@settings(max_examples=times(150), deadline=None)
@given(data=st.data())
def test_long_filters(protocol: Protocol, data: st.DataObject) -> None:
    level = st.sampled_from([*LEVELS[protocol.name], protocol.one, protocol.rest])
    filter_ = st.lists(level, min_size=1, max_size=7).map(protocol.separator.join)
    one, other = (data.draw(filter_.filter(lambda each: protocol.problem(each) is None)) for _ in range(2))
    name = protocol.separator.join(
        data.draw(st.lists(st.sampled_from([*LEVELS[protocol.name], "z"]), min_size=1, max_size=9))
    )
    first, second = is_matched(protocol, one, name), is_matched(protocol, other, name)
    assert protocol.covers(one, name) == protocol.overlap(name, one) == first
    assert protocol.overlap(one, other) or not (first and second)
    assert not protocol.covers(one, other) or first or not second
    assert any(is_matched(protocol, each, name) for each in protocol.shared(one, other)) == (first and second)
    assert protocol.overlap(one, other) == bool(protocol.shared(one, other)) == protocol.overlap(other, one)
    assert protocol.covers(one, one)
    assert (1 in FilterIndex(protocol, [name, other]).overlapping(one)) == protocol.overlap(one, other)


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
    assert MQTT.without_share_group("$share/workers/a/+") == "a/+"
    assert MQTT.is_broker_local("$SYS/broker/uptime")
    assert not MQTT.is_broker_local("a/$SYS")
    assert not NATS.is_broker_local("$SYS.a")
    assert not MQTT.overlap("#", "$SYS/broker")
    assert MQTT.overlap("a/#", "a")
    assert not NATS.overlap("a.>", "a")
    AMQP.require("a.#.b")


def test_filters_of_shared_subscriptions_are_theirs() -> None:
    interest = Interest.from_roles(
        [("a", "$share/g/a/+", "sub"), ("b", "a/b", "pub"), ("c", "a/#", "sub")], filters="mqtt"
    )
    assert interest.topic_names == ("a/#",)
    assert interest.nodes_of("a/#").tolist() == [0, 1, 2]
