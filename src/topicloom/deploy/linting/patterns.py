"""MQTT patterns: what they match, what two of them share, and names that stand for all that they match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# A level that no configuration is likely to hold stands for any level that is not named.
ANY_LEVEL = "any"


def matches(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern; wildcards at the beginning leave out names that begin with `$`."""
    if name.startswith("$") and pattern[:1] in ("+", "#"):
        return False
    levels, names = pattern.split("/"), name.split("/")
    for i, level in enumerate(levels):
        if level == "#":
            return True
        if i >= len(names):
            return False
        if level not in ("+", names[i]):
            return False
    return len(levels) == len(names) or (len(levels) == len(names) + 1 and levels[-1] == "#")


def shared(one: str, other: str) -> str | None:
    """The pattern of the names that match both; None where there are none."""
    levels = _shared(one.split("/"), other.split("/"))
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


def closure(patterns: Iterable[str], most: int) -> list[str]:
    """The patterns and whatever any of them share, up to so many: every way in which names can match them."""
    known = list(dict.fromkeys(patterns))
    for i, one in enumerate(known):
        for other in known[:i]:
            both = shared(one, other)
            if both is not None and both not in known and len(known) < most:
                known.append(both)  # the loop comes to it later
    return known


def example(pattern: str) -> str:
    """A name that matches a pattern, and others only where they share all of it."""
    return "/".join(ANY_LEVEL if level in ("+", "#") else level for level in pattern.split("/"))
