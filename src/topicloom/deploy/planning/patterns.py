"""MQTT patterns: what two of them share, and names that stand for all that they match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from topicloom.model.filters import MQTT

# A level that no configuration is likely to hold stands for any level that is not named.
ANY_LEVEL = "any"


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
