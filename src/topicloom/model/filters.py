"""Wildcard filters: how protocols write them, and one algebra of what they match.

| | levels | any level | any rest |
|---|---|---|---|
| `mqtt` | `a/b` | `+` | `#`, also no level, at the end |
| `nats` | `a.b` | `*` | `>`, at least one level, at the end |
| `amqp` | `a.b` | `*` | `#`, also no level, anywhere |

MQTT's wildcards match no name that begins with `$` in their first level. `$share/GROUP/FILTER` matches as its filter
does: the members of a group share the messages of their broker. `$SYS` names are about one broker and stay there.

A filter is an automaton that reads a name level by level. Its labels are levels, `ANY` for a level of any name,
`NO_DOLLAR` for one that does not begin with `$`, and `REST` for any number of levels; all protocols are written with
these. Its state is the number of labels that are behind it. Everything below is a walk over states: `overlap`,
`covers` and `shared` of two filters, `FilterIndex` and `match_classes` of many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError

# In place of a protocol: topics are plain names.
PLAIN = "none"

_SHARED = "$share/"
_SHOWN = 60


class Wild:
    """A label that takes levels of several names."""


ANY, NO_DOLLAR, REST = Wild(), Wild(), Wild()
Label: TypeAlias = "str | Wild"
Labels: TypeAlias = "tuple[Label, ...]"


@dataclass(frozen=True)
class Protocol:
    """How a protocol writes filters, and what they match."""

    name: str
    separator: str
    one: str
    rest: str
    rest_may_be_none: bool
    rest_ends: bool

    def require(self, filter_: str) -> None:
        """Raise InputError unless the filter is valid."""
        problem = self.problem(filter_)
        if problem is not None:
            shown = filter_ if len(filter_) <= _SHOWN else f"{filter_[:_SHOWN]}…"
            raise InputError(f"filter '{shown}': {problem}")

    def problem(self, filter_: str) -> str | None:
        """Return why the filter is invalid, None if it is valid."""
        filter_ = self.without_share_group(filter_)
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

    def without_share_group(self, filter_: str) -> str:
        """Return the filter of a shared subscription, any other filter as it is."""
        if self.name == "mqtt" and filter_.startswith(_SHARED):
            group, _, rest = filter_.removeprefix(_SHARED).partition("/")
            return rest if group else filter_
        return filter_

    def is_broker_local(self, filter_: str) -> bool:
        """Whether the names that match are about one broker and stay there."""
        return self.name == "mqtt" and filter_.split("/")[0] == "$SYS"

    def has_wildcard(self, filter_: str) -> bool:
        """Whether more than one name can match."""
        return not {self.one, self.rest}.isdisjoint(filter_.split(self.separator))

    def looks_like_filter(self, name: str) -> bool:
        """Whether a name is valid as a filter that other names match.

        A `*` alone is not taken for one: it rarely is a filter of NATS or AMQP.
        """
        wild = name != "*" and (self.has_wildcard(name) or self.without_share_group(name) != name)
        return wild and self.problem(name) is None

    def overlap(self, one: str, other: str) -> bool:
        """Whether a name can match both."""
        return _overlap(self.labels(one), self.labels(other))

    def covers(self, wide: str, narrow: str) -> bool:
        """Whether every name that matches the second matches the first."""
        return _covers(self.labels(wide), self.labels(narrow))

    def shared(self, one: str, other: str) -> tuple[str, ...]:
        """Return filters that together match the names which match both; at most one for MQTT and NATS."""
        narrow, wide = sorted((one, other), key=lambda each: (len(each), each), reverse=True)
        for first, second in ((wide, narrow), (narrow, wide)):  # of `#` and `+/#`, which are equal, the longer one
            if self.covers(first, second):
                return (second,)
        return self.widest([self.text(labels) for labels in _shared(self.labels(one), self.labels(other))])

    def widest(self, filters: Sequence[str]) -> tuple[str, ...]:
        """Return the filters that no other covers, sorted; together they match the same names."""
        kept: list[str] = []
        # Wide filters have few levels, so most others meet one that covers them early.
        ranks = {each: (each.count(self.separator), not self.has_wildcard(each), each) for each in filters}
        for filter_ in sorted(ranks, key=ranks.__getitem__):
            if not any(self.covers(wide, filter_) for wide in kept):
                kept = [narrow for narrow in kept if not self.covers(filter_, narrow)] + [filter_]
        return tuple(sorted(kept))

    def labels(self, filter_: str) -> Labels:
        """Return the labels of a filter; no `REST` stands alone, or before another or `ANY`."""
        levels = filter_.split(self.separator)
        if self.one not in levels and self.rest not in levels:
            return tuple(levels)
        found: list[Label] = []
        for level in levels:
            rests = found[-1:] == [REST]
            if level == self.one or (level == self.rest and not self.rest_may_be_none):
                found.insert(len(found) - rests, ANY)
            elif level != self.rest:
                found.append(level)
            if level == self.rest and not rests:
                found.append(REST)
        if found == [REST]:  # every name has a level
            found = [ANY, REST]
        if self.name == "mqtt" and found[0] is ANY:
            found[0] = NO_DOLLAR
        return tuple(found)

    def text(self, labels: Labels) -> str:
        """Return the filter with these labels."""
        levels = [label if isinstance(label, str) else self.rest if label is REST else self.one for label in labels]
        if labels[-1] is REST and (not self.rest_may_be_none or (len(labels) == 2 and isinstance(labels[0], Wild))):
            del levels[-2]
        return self.separator.join(levels)


MQTT = Protocol("mqtt", "/", "+", "#", rest_may_be_none=True, rest_ends=True)
NATS = Protocol("nats", ".", "*", ">", rest_may_be_none=False, rest_ends=True)
AMQP = Protocol("amqp", ".", "*", "#", rest_may_be_none=True, rest_ends=False)
PROTOCOLS = {protocol.name: protocol for protocol in (MQTT, NATS, AMQP)}

# Wildcards that are a level of their own; few names have one, so few are checked one by one.
_ALONE = r"(?:^|[./])[#+*>](?:[./]|$)|^\$share/"
_SIGNS = b"#", b"+", b"*", b">", b"$"


def first_wildcard(names: Sequence[str] | pa.Array) -> tuple[str, list[str]] | None:
    """Return the first name that looks like a filter with wildcards, and the protocols that have them."""
    column = names if isinstance(names, pa.Array) else pa.array(names, pa.large_string())
    text = column.buffers()[-1]
    written = b"" if text is None else text.to_pybytes()
    if not any(sign in written for sign in _SIGNS):
        return None  # true of most tables; searching bytes takes a tenth of the time
    for name in column.filter(pc.match_substring_regex(column, _ALONE)).to_pylist():
        known = [protocol.name for protocol in PROTOCOLS.values() if protocol.looks_like_filter(name)]
        if known:
            return name, known
    return None


def require_plain_names(names: Sequence[str] | pa.Array, where: str) -> None:
    """Raise InputError if a topic looks like a filter with wildcards; `where` names the source."""
    found = first_wildcard(names)
    if found is not None:
        name, known = found
        options = " or ".join(f"filters {protocol}" for protocol in known)
        problem = (
            f"topic '{name}' has a wildcard of {' or '.join(known)}; give {options}, or filters none for plain names"
        )
        raise InputError(problem, "filters", file=where)


def agreed_filters(given: str | None, said: str | None, where: str) -> str | None:
    """Return the protocol of the wildcards, or `none`: the given one, or what the source `where` itself says."""
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
    """Return a protocol by name."""
    if name not in PROTOCOLS:
        raise InputError(f"unknown filters '{name}'; known are {', '.join(PROTOCOLS)}", "filters")
    return PROTOCOLS[name]


# Limit on visited states; what only appears beyond it is not found.
_MOST_STATES = 20_000


def _takes(label: Label, level: str) -> bool:
    return label == level or label is ANY or (label is NO_DOLLAR and not level.startswith("$"))


def _both(one: Label, other: Label) -> Label | None:
    """Return the label of the levels that both take."""
    if isinstance(other, str):
        return other if _takes(one, other) else None
    if isinstance(one, str):
        return one if _takes(other, one) else None
    return one if other is ANY else other


def _moves(labels: Labels, state: int) -> Iterator[tuple[Label, int]]:
    """Yield the label of every next level, and the state behind it."""
    if state < len(labels) and labels[state] is REST:
        yield ANY, state
        state += 1
    if state < len(labels):
        yield labels[state], state + 1


def _ends(labels: Labels, state: int) -> bool:
    """Whether a name may end in this state."""
    return state == len(labels) or (state == len(labels) - 1 and labels[state] is REST)


def _walk(
    filters: Sequence[Labels], needed: frozenset[int] = frozenset()
) -> Iterator[tuple[list[str], frozenset[int]]]:
    """Read names with all filters side by side, short names first; yield each with the numbers of those it matches.

    Levels that no filter names in its state are alike there, and `any` stands for them. Names are left out if a name
    with the same states came before, or if they can no longer match all `needed` filters.
    """
    other = "any"
    while any(other in labels for labels in filters):
        other += "-"
    first = frozenset((number, 0) for number in range(len(filters)))
    seen = {first}
    queue: list[tuple[frozenset[tuple[int, int]], list[str]]] = [(first, [])]
    for states, path in queue:
        moves = [(label, number, after) for number, state in states for label, after in _moves(filters[number], state)]
        for level in (other, *sorted({label for label, *_ in moves if isinstance(label, str)})):
            following = frozenset((number, after) for label, number, after in moves if _takes(label, level))
            if following not in seen and needed <= {number for number, _ in following}:
                if len(seen) < _MOST_STATES:
                    seen.add(following)
                    queue.append((following, [*path, level]))
                yield [*path, level], frozenset(number for number, state in following if _ends(filters[number], state))


@lru_cache(maxsize=1 << 16)
def _overlap(one: Labels, other: Labels) -> bool:
    return any(len(matches) == 2 for _, matches in _walk((one, other), frozenset({0, 1})))


@lru_cache(maxsize=1 << 16)
def _covers(wide: Labels, narrow: Labels) -> bool:
    levels = [label for label in narrow if isinstance(label, str)]
    if len(levels) == len(narrow):  # a name, as most are
        states = {0}
        for level in levels:
            states = {after for state in states for label, after in _moves(wide, state) if _takes(label, level)}
        return any(_ends(wide, state) for state in states)
    return all(matches != {1} for _, matches in _walk((wide, narrow), frozenset({1})))


@lru_cache(maxsize=1 << 12)
def _shared(one: Labels, other: Labels) -> frozenset[Labels]:
    if not one or not other:
        return frozenset({()} if (one or other) in ((), (REST,)) else ())
    if one[0] is REST and other[0] is REST:
        return frozenset((REST, *each) for each in _shared(one[1:], other) | _shared(one, other[1:]))
    if other[0] is REST:
        one, other = other, one
    if one[0] is REST:
        return _shared(one[1:], other) | {(other[0], *each) for each in _shared(one, other[1:])}
    label = _both(one[0], other[0])
    return frozenset() if label is None else frozenset((label, *each) for each in _shared(one[1:], other[1:]))


class FilterIndex:
    """Finds the filters that overlap a given one without a look at the others: a tree of their labels."""

    def __init__(self, protocol: Protocol, filters: Iterable[str]) -> None:
        self._protocol = protocol
        self._root = _Node()
        for number, filter_ in enumerate(filters):
            node = self._root
            for label in protocol.labels(filter_):
                child = node.children.get(label)
                if child is None:
                    child = node.children[label] = _Node()
                    if label is REST:
                        child.children[ANY] = child
                node = child
            node.filters.append(number)

    def overlapping(self, filter_: str) -> set[int]:
        """Return the numbers of the filters that share a name with this one."""
        labels = self._protocol.labels(filter_)
        moves = [list(_moves(labels, state)) for state in range(len(labels) + 1)]
        ends = [_ends(labels, state) for state in range(len(labels) + 1)]
        found: set[int] = set()
        waiting = {(self._root, 0)}
        for node, state in (queue := list(waiting)):
            if ends[state]:
                found.update(node.filters)
                if REST in node.children:
                    found.update(node.children[REST].filters)
            for label, following in moves[state]:
                reached = [(each, following) for each in node.after(label)]
                queue += [each for each in reached if each not in waiting]
                waiting.update(reached)
        return found


class _Node:
    """A state of all filters that begin with the same labels."""

    __slots__ = ("children", "filters")

    def __init__(self) -> None:
        self.children: dict[Label, _Node] = {}
        self.filters: list[int] = []

    def after(self, label: Label) -> list[_Node]:
        """Return the states behind one more level that this label takes."""
        children = self.children
        if isinstance(label, str):
            found = [children[label]] if label in children else []
            if ANY in children:
                found.append(children[ANY])
            if NO_DOLLAR in children and _takes(NO_DOLLAR, label):
                found.append(children[NO_DOLLAR])
        elif label is ANY:
            found = [child for own, child in children.items() if own is not REST]
        else:
            found = [child for own, child in children.items() if _both(own, label) is not None]
        if REST in children:
            found += children[REST].after(label)
        return found


class MatchClass(NamedTuple):
    """A name, and the numbers of the filters that it and all names of its class match."""

    name: str
    matches: frozenset[int]


def match_classes(protocol: Protocol, filters: Sequence[str], most: int) -> list[MatchClass]:
    """Return an example of every class of names that match the same filters, shortest first; at most `most`."""
    found: dict[frozenset[int], str] = {}
    for name, matches in _walk([protocol.labels(filter_) for filter_ in filters]):
        if matches and matches not in found:
            found[matches] = protocol.separator.join(name)
        if len(found) == most:
            break
    return [MatchClass(name, matches) for matches, name in found.items()]
