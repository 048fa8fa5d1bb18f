"""Filters cut into classes of names: names that match the same of them are one, and an example stands for each.

All filters are read side by side, a level at a time; a state is how far each of them may be. Levels that no filter
names at a state are all alike there, so that there are finitely many states, and every way to match is met.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    first = _settled(protocol, levels, frozenset((number, 0) for number in range(len(filters))))
    found: dict[frozenset[int], str] = {}
    seen = {first}
    waiting: list[tuple[State, tuple[str, ...]]] = [(first, ())]
    for state, path in waiting:
        named = {levels[number][place] for number, place in state if place < len(levels[number])}
        for level in (other, *sorted(named - {protocol.one, protocol.rest})):
            following = _after(protocol, levels, state, level, begins=not path)
            matches = frozenset(number for number, place in following if place == len(levels[number]))
            name = (*path, level)
            if matches and matches not in found and len(found) < most:
                found[matches] = protocol.separator.join(name)
            if following and following not in seen and len(seen) < _MOST_STATES:
                seen.add(following)
                waiting.append((following, name))
    return [NameClass(name, matches) for matches, name in found.items()]


def _after(protocol: Protocol, levels: Sequence[Sequence[str]], state: State, level: str, *, begins: bool) -> State:
    """Where the filters may be after one more level of a name."""
    only_named = begins and protocol.name == "mqtt" and level.startswith("$")
    reached = set()
    for number, place in state:
        if place == len(levels[number]):
            continue
        own = levels[number][place]
        if own == level:
            reached.add((number, place + 1))
        elif own in (protocol.one, protocol.rest) and not only_named:
            reached.add((number, place + 1))
            if own == protocol.rest:
                reached.add((number, place))
    return _settled(protocol, levels, frozenset(reached))


def _settled(protocol: Protocol, levels: Sequence[Sequence[str]], state: State) -> State:
    """The state with what follows where a rest may be nothing."""
    settled = set(state)
    waiting = list(state) if protocol.rest_may_be_none else []
    for number, place in waiting:
        if place < len(levels[number]) and levels[number][place] == protocol.rest:
            following = (number, place + 1)
            if following not in settled:
                settled.add(following)
                waiting.append(following)
    return frozenset(settled)
