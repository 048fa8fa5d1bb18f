"""Whole numbers that say how much is to be made up, checked."""

from __future__ import annotations

import operator

from topicloom.errors import InputError


def whole(name: str, value: int, low: int, high: int | None = None, allowed: str | None = None) -> int:
    """The value as an int, or an InputError that says what is allowed."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        if allowed is None:
            allowed = f"of at least {low}" if number < low else f"of at most {high:,}"
        raise InputError(f"{name} is {value}; give a whole number {allowed}", name, "min_topics")
    return number
