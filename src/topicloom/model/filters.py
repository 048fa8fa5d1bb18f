"""Filters: topics with wildcards, as the protocols have them.

| | levels | any level | any rest |
|---|---|---|---|
| `mqtt` | `a/b` | `+` | `#`, also none, at the end |
| `nats` | `a.b` | `*` | `>`, at least one, at the end |
| `amqp` | `a.b` | `*` | `#`, also none, anywhere |

MQTT's wildcards match no name that begins with `$` in their first level; `$share/GROUP/FILTER` is its filter, as the
members of a group share what reaches their broker; `$SYS` is what a broker says about itself, and stays there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
