"""Sections of a page, and kinds of results.

What sections are made of.

What a kind of result is: how its files are told, how it is read, and how it is shown.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.model import Overlay
from topicloom.views.figures import to_svg
from topicloom.views.html import Cell, macro, table_html
from topicloom.views.numbers import Number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """A title, what stands below it, and the sections inside."""

    title: str
    blocks: tuple[Markup, ...]
    inside: tuple[Section, ...] = ()


def paragraph(text: str) -> Markup:
    """A paragraph of text."""
    return _block("paragraph", text)


def tiles(facts: Iterable[tuple[str, Number]]) -> Markup:
    """The numbers that matter most, large, each with its name."""
    return _block("tiles", facts)


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, note: str = "") -> Markup:
    """A table that the reader can sort, with a title and a note above it, if any."""
    return _block("titled", title, note, table_html(headers, rows))


def figure(drawn: Figure, name: str, title: str, note: str) -> Markup:
    """A figure, with a title and a note that says what is seen; `name` must differ from that of all others."""
    # Matplotlib escapes the text in its pictures.
    svg = Markup(to_svg(drawn, name))
    named = Markup('<svg role="img" aria-label="{}. {}" ').format(title, note)
    return _block("figure", svg.replace("<svg ", named, 1), title, note)


def picture(svg: bytes, title: str, note: str) -> Markup:
    """An SVG file inside the page, as an image: its ids meet no others and its scripts, if any, do not run."""
    return _block("picture", base64.b64encode(svg).decode(), title, note)


def heading(text: str) -> Markup:
    """A heading within a section."""
    return _block("heading", text)


def beside(blocks: Iterable[Markup]) -> Markup:
    """Blocks beside each other where there is room."""
    return _block("beside", blocks)


def _block(name: str, *arguments: Any) -> Markup:
    return macro("blocks.html", name, *arguments)


T = TypeVar("T")


class Form(NamedTuple):
    """How a file is told from others: a table by its columns, JSON by its keys, a folder by what lies in it.

    Everything in such a folder belongs to it, unless `own` names what does.
    """

    name: str
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aside:
    """A file that the page does not show, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Found:
    """Files by the name of their form. `named` are those given by name, not found in a folder: they must be shown."""

    paths: dict[str, list[Path]] = field(default_factory=dict)
    named: set[Path] = field(default_factory=set)
    aside: list[Aside] = field(default_factory=list)


@dataclass(frozen=True)
class Reading:
    """The files that were found, how to read them, and those put aside so far."""

    found: Found
    aside: list[Aside]
    node_column: str = "node"
    topic_column: str = "topic"
    diameters: bool = True
    role_column: str = "role"
    filters: str | None = None
    costs: Callable[[Overlay], Mapping[str, float | None]] = lambda overlay: {}

    def each(self, form: Form, read: Callable[[Path], T]) -> Iterator[tuple[Path, T]]:
        """Read all files of a form, one after the other.

        A file that was given by name must be usable; one that was found in a folder is put aside where it is not.
        """
        for path in self.found.paths.get(form.name, ()):
            try:
                result = read(path)
            except InputError as error:
                if path in self.found.named:
                    raise
                self.leave(path, str(error).removeprefix(f"{path}: ").removeprefix(f"{path}{os.sep}"))
            else:
                yield path, result

    def named(self, form: Form, read: Callable[[Path], T]) -> Iterator[tuple[str, T]]:
        """Read all files of a form, each with a name that no other of them has."""
        taken: list[str] = []
        for path, result in self.each(form, read):
            # The folder in which we are is called ".", which has no name.
            taken.append(unused(path, path.name or path.resolve().name, taken))
            yield taken[-1], result

    def leave(self, path: Path, reason: str) -> None:
        """Put a file aside."""
        self.aside.append(Aside(path, reason))


class Kind(NamedTuple):
    """A kind of result. `name` is its field in `Results` and in what the command prints as JSON.

    `facts` is what is said of a result there, `line` what a person is told.
    """

    name: str
    forms: tuple[Form, ...]
    read: Callable[[Reading], list[Any]]
    section: Callable[[Any], Section]
    facts: Callable[[Any], Any]
    line: Callable[[Any], str]


def unused(path: Path, name: str, taken: Collection[str]) -> str:
    """The name, or the whole path where another file has it."""
    return str(path) if name in taken else name
