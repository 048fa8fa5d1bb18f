"""MQTT patterns: what two of them share."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.model.filters import MQTT


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
