"""Which of many filters a filter overlaps, by a walk through a tree of their levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topicloom.model.filters import Protocol


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
