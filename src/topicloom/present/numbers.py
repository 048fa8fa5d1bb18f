"""Numbers as people read them on pages, each with the value to sort by."""

from __future__ import annotations

import math
from typing import NamedTuple


class Number(NamedTuple):
    """A number and its text; None has no value and comes last when sorted."""

    value: float | None
    text: str


UNKNOWN = Number(None, "–")


def count(number: int | None) -> Number:
    """A whole number with its thousands apart."""
    return UNKNOWN if number is None else Number(number, f"{number:,}")


def mean(number: float | None) -> Number:
    """An average, to two digits."""
    return UNKNOWN if number is None else Number(number, f"{number:,.2f}")


def amount(number: float | None) -> Number:
    """A cost, a rate or any other measure, to five digits or whole."""
    if number is None:
        return UNKNOWN
    return Number(number, _whole(number) if abs(number) >= 100_000 else f"{number:,.5g}")


def percent(share: float | None) -> Number:
    """A share as a percentage, rounded down to two digits, so that only a full one reads as 100%."""
    if share is None:
        return UNKNOWN
    if share in (0, 1):
        return Number(share, f"{share:.0%}")
    # Rounded to twelve digits first: 0.29 x 10,000 is a little less than 2,900.
    return Number(share, f"{math.floor(round(share * 10_000, 8)) / 100:,.2f}%")


def milliseconds(seconds: float | None) -> Number:
    """Seconds as milliseconds, to the microsecond."""
    return UNKNOWN if seconds is None else Number(seconds, f"{1000 * seconds:,.3f} ms")


def quantity(number: float, unit: str = "") -> str:
    """A number to three digits, or whole where it is large, with its unit."""
    text = _whole(number) if abs(number) >= 999.5 else f"{number:.3g}"
    return f"{text}{'' if unit in ('', '%') else ' '}{unit}"


def claimed(rule: str, published: float | None, unit: str = "") -> str:
    """What a paper's claim asks for, in words."""
    if published is None:
        return rule
    words = {"equal": "", "order": "order of "}.get(rule, f"{rule} ")
    return f"{words}{quantity(published, unit)}"


def measured(number: float | None, low: float | None, high: float | None, unit: str = "", *, cases: bool) -> Number:
    """Our number beside a paper's, with the lowest and highest of the repetitions; a share where it counts cases."""
    if number is None or low is None or high is None:
        return UNKNOWN
    mean, *ends = (_share(value) if cases else quantity(value) for value in (number, low, high))
    text = f"{mean} of cases" if cases else quantity(number, unit)
    return Number(number, text if ends[0] == ends[1] else f"{text} ({ends[0]} to {ends[1]})")


def _share(share: float) -> str:
    """A percentage to one digit, rounded down, so that only all cases read as 100%."""
    return f"{math.floor(round(share * 1000, 8)) / 10:g}%"


def _whole(number: float) -> str:
    """A large number with its thousands apart, as long as these can be read."""
    return f"{number:,.0f}" if abs(number) < 1e15 else f"{number:.3g}"
