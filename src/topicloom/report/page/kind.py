"""What a kind of result is: how its files are told, how it is read, and how it is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from topicloom.errors import InputError
from topicloom.model import Overlay
from topicloom.report.page.section import Section

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
