"""Algorithms, the parameters that they take, and algorithms whose parameters are checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Generic, TypeVar

import numpy as np

from topicloom.errors import InputError

Value = int | float | bool | str


@dataclass(frozen=True)
class Parameter:
    """A number, a flag or a word that an algorithm takes.

    Args:
        name: as it is given in Python; the command line spells it as a flag.
        kind: `int`, `float`, `bool` or `str`.
        meaning: what it does, in words that go on after "it is": "the most links".
        default: its value where none is given. Without one it has to be given, unless it is `optional`.
        minimum, maximum: the range of a number. exclusive: whether these bounds themselves are outside.
        choices: the words to choose from; any word will do where there are none.
    """

    name: str
    kind: type[int] | type[float] | type[bool] | type[str]
    meaning: str
    default: Value | None = None
    minimum: int | float = 1
    maximum: int | float | None = None
    exclusive: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is None and not self.optional

    @property
    def expected(self) -> str:
        """What its value must be, in words."""
        if self.kind is bool:
            return "True or False"
        if self.kind is str:
            *others, last = self.choices or ("a word",)
            return f"{', '.join(others)} or {last}" if others else last
        number = "a whole number" if self.kind is int else "a number"
        if self.maximum is None:
            return f"{number} above {self.minimum}" if self.exclusive else f"{number}, {self.minimum} or more"
        if self.exclusive:
            return f"{number} above {self.minimum} and below {self.maximum}"
        return f"{number} from {self.minimum} to {self.maximum}"

    def checked(self, value: Any, owner: str | None = None) -> Any:
        """The value as one of its kind; an error where it is none. `owner` is the algorithm that takes it."""
        if not self._fits(value):
            name = self.name if owner is None else f"{self.name} of {owner}"
            shown = repr(value) if isinstance(value, str) else str(value)
            raise InputError(f"{name} must be {self.expected}, not {shown}", self.name)
        return self.kind(value)

    def _fits(self, value: Any) -> bool:
        if self.kind is bool:
            return isinstance(value, bool | np.bool_)
        if self.kind is str:
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        if not isinstance(value, Integral) and not (math.isfinite(value) and (self.kind is float or value % 1 == 0)):
            return False
        if self.exclusive and value in (self.minimum, self.maximum):
            return False
        least: Any = self.minimum
        return bool(least <= value and (self.maximum is None or value <= self.maximum))


SEED = Parameter("seed", int, "where random numbers begin; the same seed gives the same result", 0, minimum=0)


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A name, where it is described, its rule in a sentence, what it takes, and whether it draws random numbers."""

    name: str
    paper: str
    rule: str
    parameters: tuple[Parameter, ...] = ()
    random: bool = False

    @property
    def accepts(self) -> tuple[Parameter, ...]:
        """All that may be given: its parameters, and what may stand for one of them."""
        return self.parameters

    def own(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the given parameters that it takes, so that several algorithms can share what is given."""
        return {parameter.name: given[parameter.name] for parameter in self.accepts if parameter.name in given}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with defaults filled in; names and values that it does not take are errors. None is not given."""
        known = {parameter.name: parameter for parameter in self.accepts}
        for name in given:
            if name not in known:
                takes = ", ".join(known) or "none"
                raise InputError(f"{self.name} does not take {name}; it takes {takes}", name, *known)
        checked = {}
        for name, parameter in known.items():
            value = parameter.default if given.get(name) is None else given[name]
            if value is not None:
                checked[name] = parameter.checked(value, self.name)
            elif parameter.required:
                raise InputError(f"{self.name} needs {name}, {parameter.meaning}", name)
        return checked


A = TypeVar("A", bound=Algorithm)


@dataclass(frozen=True)
class Prepared(Generic[A]):
    """An algorithm with its parameters, checked once, and its seed: all that a run needs besides its input."""

    algorithm: A
    parameters: Mapping[str, Value]
    seed: int

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return self.algorithm.name

    @property
    def seed_used(self) -> int | None:
        """The seed for those who ask where a result came from; None where nothing is drawn."""
        return self.seed if self.algorithm.random else None

    def generator(self) -> np.random.Generator:
        """A new generator of its random numbers, the same for every run."""
        return np.random.default_rng(self.seed)
