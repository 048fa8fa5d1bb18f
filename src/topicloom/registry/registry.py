"""Algorithms by name: our own, and those that other installed packages bring along.

Another package names its algorithms as entry points. They are looked for when all names are asked for, or one that is
not ours. One that cannot be used is left out, with one line in the log that names its package; the others stay.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar

from topicloom.errors import InputError
from topicloom.registry.parameters import SEED, Algorithm, Prepared


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""


T = TypeVar("T", bound=Named)
A = TypeVar("A", bound=Algorithm)

# What a parameter cannot be called, as the name means something else where parameters are given.
TAKEN = frozenset(
    {
        *("interest", "network", "problem", "algorithm", "algorithms", "begin", "seed", "watch", "then", "name"),
        *("constraints", "fleet"),
        *("subscriptions", "net", "out", "node_column", "topic_column", "no_diameters", "bound", "close", "routing"),
        *("role_column", "filters", "prices", "limits", "costs", "messages", "rates"),
        *("on_spark", "spark", "master", "spark_conf", "driver_memory", "verbose"),
        *("json", "format", "quiet", "help", "subs", "printing", "run"),
    }
)


class Plugins(Mapping[str, T]):
    """Values of one class by name: our own, and those of other packages.

    Args:
        kind: their class; each has a `name`.
        own: ours.
        group: the group of entry points in which other packages name theirs.
        noun: what errors call an unknown name. one: what they call one of another package; its class unless given.
    """

    def __init__(
        self, kind: type[T], own: Iterable[T], group: str | None = None, *, noun: str = "algorithm", one: str = ""
    ) -> None:
        self._kind = kind
        self._own = {value.name: value for value in own}
        self._noun = noun
        self._one = one or kind.__name__.lower()
        self._group = group
        self._unusable: dict[str, str] = {}

    def __getitem__(self, name: str) -> T:
        return self._own[name] if name in self._own else self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def find(self, name: str) -> T:
        """Return the value of that name; an unknown name is an error that lists the known ones."""
        if name in self:
            return self[name]
        raise InputError(self._unusable.get(name) or f"unknown {self._noun} '{name}'; known are {', '.join(self)}")

    @cached_property
    def _all(self) -> dict[str, T]:
        found = dict(self._own)
        points = entry_points(group=self._group) if self._group else ()
        for point in sorted(points, key=lambda point: (point.name, _package(point))):
            try:
                found[point.name] = self._loaded(point, found)
            except Exception as error:  # whatever another package does wrong
                reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
                line = f"{self._one} '{point.name}' of {_package(point)} cannot be used: {' '.join(reason.split())}"
                self._unusable.setdefault(point.name, line)
                logging.getLogger("topicloom").warning("topicloom: %s", line)
        return found

    def _loaded(self, point: EntryPoint, known: Mapping[str, T]) -> T:
        if point.name in known:
            owner = "topicloom itself" if point.name in self._own else "another package"
            raise InputError(f"{owner} has a {self._one} of that name")
        value = point.load()
        if not isinstance(value, self._kind):
            raise InputError(f"{point.value} is no {self._kind.__name__}")
        if value.name != point.name:
            raise InputError(f"{point.value} calls itself '{value.name}'")
        return value


class Registry(Plugins[A]):
    """Algorithms of one kind by name."""

    def prepare(self, name: str, seed: Any, given: Mapping[str, Any]) -> Prepared[A]:
        """Return the algorithm of that name with these parameters and this seed, all of them checked."""
        algorithm = self.find(name)
        checked_seed = SEED.checked(seed)
        return Prepared(algorithm, algorithm.checked(given), checked_seed)

    def _loaded(self, point: EntryPoint, known: Mapping[str, A]) -> A:
        algorithm = super()._loaded(point, known)
        kinds = {p.name: (p.kind, other.name) for other in known.values() for p in other.accepts}
        for parameter in algorithm.parameters:
            kind, owner = kinds.get(parameter.name, (parameter.kind, ""))
            if parameter.name in TAKEN or not parameter.name.isidentifier():
                raise InputError(f"no parameter can be called '{parameter.name}'")
            if parameter.kind is not kind:
                raise InputError(f"its parameter '{parameter.name}' is no {kind.__name__}, as that of {owner} is")
        return algorithm


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"the package {point.dist.name} {point.dist.version}"
