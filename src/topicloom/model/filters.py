"""Wildcard filters: protocols, which filters overlap, and classes of names.

Filters: topics with wildcards, as the protocols have them.

| | levels | any level | any rest |
|---|---|---|---|
| `mqtt` | `a/b` | `+` | `#`, also none, at the end |
| `nats` | `a.b` | `*` | `>`, at least one, at the end |
| `amqp` | `a.b` | `*` | `#`, also none, anywhere |

MQTT's wildcards match no name that begins with `$` in their first level; `$share/GROUP/FILTER` is its filter, as the
members of a group share what reaches their broker; `$SYS` is what a broker says about itself, and stays there.

Which of many filters a filter overlaps, by a walk through a tree of their levels.

Filters cut into classes of names: names that match the same of them are one, and an example stands for each.

All filters are read side by side, a level at a time; a state is how far each of them may be. Levels that no filter
names at a state are all alike there, so that there are finitely many states, and every way to match is met.

MQTT patterns: what two of them share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError

# What stands for no protocol: topics are plain names.
PLAIN = "none"

_SHARED = "$share/"
_SHOWN = 60


@dataclass(frozen=True)
class Protocol:
    """How filters of a protocol are written and what they match."""

    name: str
    separator: str
    one: str
    rest: str
    rest_may_be_none: bool
    rest_ends: bool

    def require(self, filter_: str) -> None:
        """An error where it is no filter of this protocol."""
        problem = self.problem(filter_)
        if problem is not None:
            shown = filter_ if len(filter_) <= _SHOWN else f"{filter_[:_SHOWN]}…"
            raise InputError(f"filter '{shown}': {problem}")

    def problem(self, filter_: str) -> str | None:
        """Why it is no filter of this protocol, if so."""
        filter_ = self.own(filter_)
        levels = filter_.split(self.separator)
        if not filter_:
            return "is empty; every filter needs at least one level"
        if self.name != "mqtt" and "" in levels:
            return f"has an empty level; levels are divided by one '{self.separator}'"
        for place, level in enumerate(levels):
            for wildcard in (self.one, self.rest):
                if wildcard in level and level != wildcard:
                    return f"has '{wildcard}' beside other characters; a wildcard stands alone in its level"
            if level == self.rest and self.rest_ends and place < len(levels) - 1:
                return f"has '{self.rest}' before its end; it stands for all that follows"
        return None

    def own(self, filter_: str) -> str:
        """The filter itself, where it is that of a group that shares its messages."""
        if self.name == "mqtt" and filter_.startswith(_SHARED):
            group, _, rest = filter_.removeprefix(_SHARED).partition("/")
            return rest if group else filter_
        return filter_

    def stays(self, filter_: str) -> bool:
        """Whether it is about its broker alone."""
        return self.name == "mqtt" and filter_.split("/")[0] == "$SYS"

    def has_wildcard(self, filter_: str) -> bool:
        """Whether more than one name can match."""
        return not {self.one, self.rest}.isdisjoint(filter_.split(self.separator))

    def looks_like_filter(self, name: str) -> bool:
        """Whether what is said to be a name is rather a filter that other names match.

        A `*` alone is none: it is more often a sign for anything else than a filter of NATS or AMQP.
        """
        wild = name != "*" and (self.has_wildcard(name) or self.own(name) != name)
        return wild and self.problem(name) is None

    def overlap(self, one: str, other: str) -> bool:
        """Whether a name can match both."""
        first, second = one.split(self.separator), other.split(self.separator)
        return self._dollars_meet(first[0], second[0]) and _overlap(self, tuple(first), tuple(second))

    def covers(self, wide: str, narrow: str) -> bool:
        """Whether every name that matches the second matches the first."""
        first, second = wide.split(self.separator), narrow.split(self.separator)
        return self._dollars_meet(first[0], second[0]) and _covers(self, tuple(first), tuple(second))

    def _dollars_meet(self, first: str, second: str) -> bool:
        wild = (self.one, self.rest)
        return self.name != "mqtt" or not (
            (first in wild and second.startswith("$")) or (second in wild and first.startswith("$"))
        )

    def widest(self, filters: Sequence[str]) -> tuple[str, ...]:
        """Those that no other covers, sorted; together they match the same names."""
        kept: list[str] = []
        # Wide ones have few levels, so most of the others meet what covers them early.
        for filter_ in sorted(set(filters), key=lambda each: (each.count(self.separator), not self.has_wildcard(each))):
            if not any(self.covers(wide, filter_) for wide in kept):
                kept = [narrow for narrow in kept if not self.covers(filter_, narrow)] + [filter_]
        return tuple(sorted(kept))


MQTT = Protocol("mqtt", "/", "+", "#", rest_may_be_none=True, rest_ends=True)
NATS = Protocol("nats", ".", "*", ">", rest_may_be_none=False, rest_ends=True)
AMQP = Protocol("amqp", ".", "*", "#", rest_may_be_none=True, rest_ends=False)
PROTOCOLS = {protocol.name: protocol for protocol in (MQTT, NATS, AMQP)}

# Wildcards that stand alone between separators; few other names have such, so that few are looked at one by one.
_ALONE = r"(?:^|[./])[#+*>](?:[./]|$)|^\$share/"
_SIGNS = b"#", b"+", b"*", b">", b"$"


def first_wildcard(names: Sequence[str] | pa.Array) -> tuple[str, list[str]] | None:
    """The first name that looks like a filter with wildcards, and the protocols that have such; None without one."""
    column = names if isinstance(names, pa.Array) else pa.array(names, pa.large_string())
    text = column.buffers()[-1]
    written = b"" if text is None else text.to_pybytes()
    if not any(sign in written for sign in _SIGNS):
        return None  # as of most tables; searching their bytes takes a tenth of the time
    for name in column.filter(pc.match_substring_regex(column, _ALONE)).to_pylist():
        known = [protocol.name for protocol in PROTOCOLS.values() if protocol.looks_like_filter(name)]
        if known:
            return name, known
    return None


def require_plain_names(names: Sequence[str] | pa.Array, where: str) -> None:
    """Refuse topics of which one looks like a filter with wildcards; `where` names their source in errors."""
    found = first_wildcard(names)
    if found is not None:
        name, known = found
        options = " or ".join(f"filters {protocol}" for protocol in known)
        problem = (
            f"topic '{name}' has a wildcard of {' or '.join(known)}; give {options}, or filters none for plain names"
        )
        raise InputError(problem, "filters", file=where)


def agreed_filters(given: str | None, said: str | None, where: str) -> str | None:
    """The protocol whose wildcards topics may have, or `none`: as it is given, or as the source `where` says itself."""
    if said not in (None, PLAIN, *PROTOCOLS):
        raise InputError(f"says filters={said}; known are {', '.join(PROTOCOLS)} and {PLAIN}", file=where)
    if given not in (None, PLAIN):
        protocol_of(given)
    if None not in (given, said) and given != said:
        holds = "plain names" if said == PLAIN else f"wildcards of {said}"
        raise InputError(
            f"says that topics have {holds}, so filters cannot be {given}; leave filters out", "filters", file=where
        )
    return given or said


def protocol_of(name: str) -> Protocol:
    """A protocol by its name."""
    if name not in PROTOCOLS:
        raise InputError(f"unknown filters '{name}'; known are {', '.join(PROTOCOLS)}", "filters")
    return PROTOCOLS[name]


@lru_cache(maxsize=1 << 16)
def _overlap(protocol: Protocol, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if not one or not other:
        left = one or other
        return not left or (set(left) == {protocol.rest} and protocol.rest_may_be_none)
    if protocol.rest in (one[0], other[0]):
        wide, narrow = (one, other) if one[0] == protocol.rest else (other, one)
        # The rest ends before the other's next level, or takes that in and goes on, or for NATS ends with it.
        if protocol.rest_may_be_none:
            return _overlap(protocol, wide[1:], narrow) or _overlap(protocol, wide, narrow[1:])
        return _overlap(protocol, wide[1:], narrow[1:]) or _overlap(protocol, wide, narrow[1:])
    levels = {one[0], other[0]}
    return (len(levels) == 1 or protocol.one in levels) and _overlap(protocol, one[1:], other[1:])


@lru_cache(maxsize=1 << 16)
def _covers(protocol: Protocol, wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    if not wide:
        return not narrow
    if wide[0] == protocol.rest:
        if protocol.rest_may_be_none:
            return _covers(protocol, wide[1:], narrow) or (bool(narrow) and _covers(protocol, wide, narrow[1:]))
        return bool(narrow) and (len(narrow) == 1 or _covers(protocol, wide, narrow[1:]))
    if not narrow or narrow[0] == protocol.rest:
        return False
    return wide[0] in (protocol.one, narrow[0]) and _covers(protocol, wide[1:], narrow[1:])


class FilterIndex:
    """Filters by their levels. Those that overlap a given one are found without looking at the others."""

    def __init__(self, protocol: Protocol, filters: Iterable[str]) -> None:
        self._protocol = protocol
        self._root = _Level()
        for number, filter_ in enumerate(filters):
            level = self._root
            for name in filter_.split(protocol.separator):
                level = level.children.setdefault(name, _Level())
            level.filters.append(number)

    def overlapping(self, filter_: str) -> set[int]:
        """The places of the filters that share a name with this one."""
        levels = filter_.split(self._protocol.separator)
        found: set[int] = set()
        seen = {(id(self._root), 0)}
        waiting = [(self._root, 0)]
        while waiting:
            level, place = waiting.pop()
            if place == len(levels):
                found.update(level.filters)
            for following in self._onward(level, place, levels):
                key = id(following[0]), following[1]
                if key not in seen:
                    seen.add(key)
                    waiting.append(following)
        return found

    def _onward(self, level: _Level, place: int, levels: list[str]) -> Iterator[tuple[_Level, int]]:
        """The next states of reading the filter and a path of the tree side by side: a level, and how much is read."""
        protocol, left = self._protocol, len(levels) - place
        rest = level.children.get(protocol.rest)
        if rest is not None and not (place == 0 and self._is_system(levels[0])):
            # The path takes in some of what is left of the filter.
            fewest = 0 if protocol.rest_may_be_none else 1
            ends = range(len(levels), len(levels) + 1) if protocol.rest_ends else range(place + fewest, len(levels) + 1)
            if left >= fewest:
                yield from ((rest, end) for end in ends)
        if left == 0:
            return
        name = levels[place]
        children = level.children.items()
        if name == protocol.rest:
            # The filter takes in a level of the path, and may go on or end with it.
            if protocol.rest_may_be_none:
                yield level, place + 1
            for child_name, child in children:
                if not (level is self._root and self._is_system(child_name)):
                    yield child, place
                    yield child, place + 1
        elif name == protocol.one:
            for child_name, child in children:
                if child_name != protocol.rest and not (level is self._root and self._is_system(child_name)):
                    yield child, place + 1
        else:
            for child_name in (name, protocol.one):
                if child_name in level.children and not (
                    child_name == protocol.one and place == 0 and self._is_system(name)
                ):
                    yield level.children[child_name], place + 1

    def _is_system(self, level: str) -> bool:
        """Whether no wildcard matches names that begin with this level."""
        return self._protocol.name == "mqtt" and level.startswith("$")


class _Level:
    __slots__ = ("children", "filters")

    def __init__(self) -> None:
        self.children: dict[str, _Level] = {}
        self.filters: list[int] = []


# How many states are looked at; classes that only appear beyond are not found.
_MOST_STATES = 20_000


class NameClass(NamedTuple):
    """A name, and the places of the filters that it and all names of its class match."""

    name: str
    matches: frozenset[int]


State = frozenset[tuple[int, int]]


def name_classes(protocol: Protocol, filters: Sequence[str], most: int) -> list[NameClass]:
    """An example of every class of names that match some filter, shortest first; not more than so many."""
    levels = [filter_.split(protocol.separator) for filter_ in filters]
    other = "any"
    while any(other in each for each in levels):
        other += "-"
    first = _settled(protocol, levels, [(number, 0) for number in range(len(filters))])
    found: dict[frozenset[int], str] = {}
    seen = {first}
    waiting: list[tuple[State, tuple[str, ...]]] = [(first, ())]
    for state, path in waiting:
        for level, following in _steps(protocol, levels, state, other, begins=not path):
            matches = frozenset(number for number, place in following if place == len(levels[number]))
            name = (*path, level)
            if matches and matches not in found:
                found[matches] = protocol.separator.join(name)
            if len(found) == most:
                return [NameClass(name, matches) for matches, name in found.items()]
            if following and following not in seen and len(seen) < _MOST_STATES:
                seen.add(following)
                waiting.append((following, name))
    return [NameClass(name, matches) for matches, name in found.items()]


def _steps(
    protocol: Protocol, levels: Sequence[Sequence[str]], state: State, other: str, *, begins: bool
) -> Iterator[tuple[str, State]]:
    """Where filters may be after one more level of a name: `other`, which none of them has, and each that one names."""
    wild: set[tuple[int, int]] = set()
    named: dict[str, set[tuple[int, int]]] = {}
    for number, place in state:
        own = levels[number][place] if place < len(levels[number]) else None
        if own in (protocol.one, protocol.rest):
            wild.add((number, place + 1))
            if own == protocol.rest:
                wild.add((number, place))
        elif own is not None:
            named.setdefault(own, set()).add((number, place + 1))
    yield other, _settled(protocol, levels, wild)
    for level in sorted(named):
        system = begins and protocol.name == "mqtt" and level.startswith("$")
        yield level, _settled(protocol, levels, named[level] if system else named[level] | wild)


def _settled(protocol: Protocol, levels: Sequence[Sequence[str]], state: Iterable[tuple[int, int]]) -> State:
    """The state with what follows where a rest may be nothing."""
    settled = set(state)
    waiting = list(settled) if protocol.rest_may_be_none else []
    for number, place in waiting:
        if place < len(levels[number]) and levels[number][place] == protocol.rest:
            following = (number, place + 1)
            if following not in settled:
                settled.add(following)
                waiting.append(following)
    return frozenset(settled)


def shared(one: str, other: str) -> str | None:
    """The pattern of the names that match both; None where there are none."""
    levels = _shared(one.split("/"), other.split("/")) if MQTT.overlap(one, other) else None
    return None if levels is None else "/".join(levels)


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str] | None:
    found: list[str] = []
    for i in range(max(len(one), len(other))):
        rest = one[i:], other[i:]
        if ["#"] in map(list, rest):
            return found + list(rest[1] if list(rest[0]) == ["#"] else rest[0])
        if not all(rest):
            return None
        first, second = rest[0][0], rest[1][0]
        if first != second and "+" not in (first, second):
            return None
        found.append(second if first == "+" else first)
    return found
