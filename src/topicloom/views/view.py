"""The contract of views: what a result shows, as plain data.

A view is made by a function of a result, and of nothing else. Renderers: `terminal` for people, `formats` for programs
(JSON, CSV, Markdown).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag
from types import MappingProxyType
from typing import Any

from topicloom.views.numbers import Number, text

Show = Callable[[Any], str | Number]


class On(Flag):
    """Where a block is shown: in data for programs, as text in a terminal, on pages."""

    DATA = 1
    TEXT = 2
    PAGE = 4
    PEOPLE = TEXT | PAGE
    ALL = DATA | TEXT | PAGE


@dataclass(frozen=True)
class Fact:
    """A value by name; the title is the key in words unless given."""

    key: str
    value: Any
    show: Show = text
    title: str = ""
    on: On = On.ALL

    @property
    def label(self) -> str:
        """The title for people."""
        return self.title or self.key.replace("_", " ")

    @property
    def shown(self) -> str | Number:
        """The value for people."""
        return self.show(self.value)


@dataclass(frozen=True)
class Column:
    """A column of a table; the title is the key unless given, and may have several lines."""

    key: str
    show: Show = text
    title: str = ""
    on: On = On.ALL


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first column names the rows. The data of a view is the table whose key is empty."""

    key: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    on: On = On.ALL

    @classmethod
    def of(cls, key: str, columns: Sequence[Column], records: Sequence[Mapping[str, Any]], on: On = On.ALL) -> Table:
        """A table of records that have a value for every column."""
        return cls(key, tuple(columns), [[record[column.key] for column in columns] for record in records], on)

    def records(self) -> list[dict[str, Any]]:
        """The rows as data."""
        kept = [(i, column.key) for i, column in enumerate(self.columns) if On.DATA in column.on]
        return [{key: row[i] for i, key in kept} for row in self.rows]


@dataclass(frozen=True)
class Entry:
    """A titled list of labelled lines of prose."""

    title: str
    lines: tuple[tuple[str, str], ...]
    on: On = On.PEOPLE


@dataclass(frozen=True)
class Note:
    """A line of prose."""

    text: str
    on: On = On.PEOPLE


Block = Fact | Table | Entry | Note


@dataclass(frozen=True)
class View:
    """Blocks in the order in which they are shown, then further views; `formats` are those that only it has."""

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    inside: tuple[View, ...] = ()
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=lambda: MappingProxyType({}))

    def data(self) -> Any:
        """Data for programs: facts, rows of tables and inner views by key; or the rows of the table without key."""
        data: dict[str, Any] = {}
        for block in self.blocks:
            if On.DATA not in block.on or not isinstance(block, Fact | Table):
                continue
            value = block.value if isinstance(block, Fact) else block.records()
            if not block.key:
                return value
            data[block.key] = value
        return data | {view.key: view.data() for view in self.inside}
