"""How many messages are published under known topic names, and what of them goes where."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topicloom.errors import InputError
from topicloom.io.tables import names_column, read_table, text_column
from topicloom.model.filters import FilterIndex
from topicloom.model.interest import Ids, Interest
from topicloom.model.roles import SUBSCRIBES, Roles

# Sums of rates, and of rates times prices, stay finite.
_HIGHEST = 1e15


class MessageClass(NamedTuple):
    """Messages that the same nodes publish and want: their rate, split evenly over the sources, and how many names."""

    rate: float
    sources: Ids
    wanting: Ids
    names: int


@dataclass(frozen=True)
class TopicTraffic:
    """The classes of messages of each topic of an interest, by its id.

    - `unrated`: topics of which no name has a rate; they count as silent.
    - `idle`: names with a rate that nobody wants, or nobody publishes.
    """

    classes: Mapping[int, tuple[MessageClass, ...]]
    unrated: int
    idle: int

    def of(self, topic: int) -> tuple[MessageClass, ...]:
        """The classes of a topic."""
        return self.classes.get(topic, ())


@dataclass(frozen=True)
class Rates:
    """Messages in a unit of time by topic name, over all its publishers; `where` names them in errors."""

    by_name: Mapping[str, float]
    where: str = "rates"

    def __post_init__(self) -> None:
        for name, rate in self.by_name.items():
            if not 0 <= rate <= _HIGHEST:
                raise InputError(f"{self.where}: '{rate}' is not a rate of '{name}'; give a number from 0 to 1e15")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Rates:
        """From a Parquet, CSV or TSV file (the latter two plain or .gz) with the columns `topic` and `rate`."""
        where = os.fspath(path)
        table = read_table(path, ["topic", "rate"])
        by_name: dict[str, float] = {}
        names = names_column(table, "topic", where).to_pylist()
        column = table["rate"]
        texts = column.to_pylist() if _is_number(column.type) else text_column(table, "rate", where).to_pylist()
        for row, (name, text) in enumerate(zip(names, texts, strict=True), start=1):
            if name in by_name:
                raise InputError(f"topic '{name}' has a rate already; give each name once", file=where, row=row)
            by_name[name] = _rate(text, where, row)
        return cls(by_name, where)

    def over(self, interest: Interest) -> TopicTraffic:
        """What these messages are in an interest; names that are filters are errors."""
        found: dict[tuple[int, bytes, bytes], MessageClass] = {}
        idle = 0
        for rate, (topic, sources, wanting) in self._matched(interest):
            if topic < 0:
                idle += 1
                continue
            key = (topic, sources.tobytes(), wanting.tobytes())
            before = found.get(key, MessageClass(0.0, sources, wanting, 0))
            found[key] = before._replace(rate=before.rate + rate, names=before.names + 1)
        classes: dict[int, list[MessageClass]] = {}
        for (topic, _, _), one in found.items():
            classes.setdefault(topic, []).append(one)
        by_topic = {topic: tuple(each) for topic, each in classes.items()}
        return TopicTraffic(by_topic, interest.topic_count - len(by_topic), idle)

    def _matched(self, interest: Interest) -> Iterator[tuple[float, tuple[int, Ids, Ids]]]:
        """The rate of every name, its topic, or -1 where it is idle, who publishes it and who wants it."""
        roles = interest.roles
        nobody: Ids = np.empty(0, np.int32)
        if roles is not None:
            matching = _Matching(roles, self.where)
        for name, rate in self.by_name.items():
            if roles is not None:
                yield rate, matching.of(name)
            elif name in interest.topic_ids:
                topic = interest.topic_ids[name]
                nodes = interest.nodes_of(topic)
                yield rate, (topic, nodes, nodes)
            else:
                yield rate, (-1, nobody, nobody)


class _Matching:
    """Who publishes and who wants a name, where roles or filters are known."""

    def __init__(self, roles: Roles, where: str) -> None:
        self._roles, self._where = roles, where
        self._order = np.argsort(roles.pattern, kind="stable")
        self._start = np.searchsorted(roles.pattern[self._order], np.arange(len(roles.patterns) + 1))
        self._topic = np.repeat(np.arange(len(roles.start) - 1), np.diff(roles.start))
        self._place = {pattern: number for number, pattern in enumerate(roles.patterns)}
        self._index = None if roles.protocol is None else FilterIndex(roles.protocol, roles.patterns)

    def of(self, name: str) -> tuple[int, Ids, Ids]:
        """The topic of a name, or -1 where it is idle, who publishes it and who wants it."""
        roles = self._roles
        if self._index is None or roles.protocol is None:
            patterns = [self._place[name]] if name in self._place else []
        elif (problem := roles.protocol.problem(name)) or roles.protocol.has_wildcard(name):
            raise InputError(f"{self._where}: '{name}' {problem or 'has a wildcard'}; rates are of plain names")
        else:
            patterns = sorted(self._index.overlapping(name))
        rows = np.concatenate(
            [np.empty(0, np.int64), *(self._order[self._start[p] : self._start[p + 1]] for p in patterns)]
        ).astype(np.int64)
        wanting = np.unique(roles.node[rows[(roles.role[rows] & SUBSCRIBES) > 0]]).astype(np.int32)
        sources = np.unique(roles.node[rows[roles.publishes[rows]]]).astype(np.int32)
        topic = int(self._topic[rows[0]]) if len(wanting) and len(sources) else -1
        return topic, wanting if np.array_equal(sources, wanting) else sources, wanting


def _is_number(kind: object) -> bool:
    return str(kind) in ("float", "double", "halffloat")


def _rate(text: object, where: str, row: int) -> float:
    try:
        rate = float(str(text))
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= _HIGHEST:
        raise InputError(f"'{text}' is not a rate; give a number from 0 to 1e15", file=where, row=row)
    return rate
