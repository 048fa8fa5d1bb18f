"""What an algorithm takes besides its input, and the check of what is given for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

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
