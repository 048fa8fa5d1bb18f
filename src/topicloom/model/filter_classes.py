"""Filters cut into classes of names: names that match the same of them are one, and an example stands for each.

All filters are read side by side, a level at a time; a state is how far each of them may be. Levels that no filter
names at a state are all alike there, so that there are finitely many states, and every way to match is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from topicloom.model.filters import Protocol

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
