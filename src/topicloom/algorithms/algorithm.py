"""What an algorithm says about itself, and an algorithm that is ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from topicloom.algorithms.parameter import Parameter, Value
from topicloom.errors import InputError


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
