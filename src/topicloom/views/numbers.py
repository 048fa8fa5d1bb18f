"""Numbers as people read them, in terminals and on pages; each with the value to sort by."""

from __future__ import annotations

import math
from typing import NamedTuple

from topicloom.errors import printable


class Number(NamedTuple):
    """A number and its text; None has no value and comes last when sorted."""

    value: float | None
    text: str

    def __str__(self) -> str:
        return self.text


UNKNOWN = Number(None, "–")


def text(value: object) -> str:
    """Any value in printable characters."""
    return printable(str(value))


def yes_no(value: bool) -> str:
    """A truth value as a word."""
    return "yes" if value else "no"


def count(number: int | None) -> Number:
    """A whole number with its thousands apart."""
    return UNKNOWN if number is None else Number(number, f"{number:,}")


def count_of(number: int, thing: str, things: str | None = None) -> str:
    """How many there are of a thing: 1 link, 2 links; `things` is the plural where it does not end in s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def mean(number: float | None) -> Number:
    """An average, to two digits."""
    return UNKNOWN if number is None else Number(number, f"{number:,.2f}")


def amount(number: float | None) -> Number:
    """A cost, a rate or any other measure, to six digits or whole."""
    if number is None:
        return UNKNOWN
    return Number(number, _whole(number) if abs(number) >= 100_000 else f"{number:,.6g}")


def share(number: float | None) -> Number:
    """A share, rounded down to four digits, so that only a full one reads as 1."""
    if number is None:
        return UNKNOWN
    return Number(number, "1" if number == 1 else f"{_rounded_down(number, 4):.4f}")


def percent(share: float | None) -> Number:
    """A share as a percentage, rounded down to two digits, so that only a full one reads as 100%."""
    if share is None:
        return UNKNOWN
    if share in (0, 1):
        return Number(share, f"{share:.0%}")
    return Number(share, f"{_rounded_down(100 * share, 2):,.2f}%")


def seconds(number: float | None) -> Number:
    """Seconds to the millisecond."""
    return UNKNOWN if number is None else Number(number, f"{number:,.3f}")


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
    return f"{_rounded_down(100 * share, 1):g}%"


def _rounded_down(number: float, digits: int) -> float:
    # To eight more digits first: 0.29 x 10,000 is a little less than 2,900.
    factor = 10.0**digits
    return math.floor(round(number * factor, 8)) / factor


def _whole(number: float) -> str:
    """A large number with its thousands apart, as long as these can be read."""
    return f"{number:,.0f}" if abs(number) < 1e15 else f"{number:.3g}"


def time_left(seconds: float | None) -> str:
    """How long something will take yet, in words; nothing if that is not known."""
    if seconds is None:
        return ""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"about {max(1, round(seconds))} s left"
    if minutes < 90:
        return f"about {minutes} min left"
    return f"about {round(minutes / 60)} h left"
