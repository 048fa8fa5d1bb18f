"""What a designer is: a name, its paper, its parameters, and the function that builds links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.model.interest import Ids, Interest

Number = int | float


class Links(NamedTuple):
    """Links in the order they were added, as node ids with source < target, and what each one merged."""

    source: Ids
    target: Ids
    contribution: Ids


class Watch:
    """The line between a running kernel and whoever waits for it.

    The kernel counts what it has done in `ticks[0]` and stops early once `ticks[1]` is not zero.
    """

    def __init__(self) -> None:
        self.ticks: npt.NDArray[np.int64] = np.zeros(2, np.int64)

    @property
    def done(self) -> int:
        """How much is done so far: components merged, or links placed."""
        return int(self.ticks[0])

    def stop(self) -> None:
        """Ask the kernel to stop at its next look."""
        self.ticks[1] = 1

    @property
    def stopped(self) -> bool:
        """Whether the kernel was asked to stop."""
        return bool(self.ticks[1])


class DesignStopped(Exception):  # noqa: N818  it is no error
    """The watch asked a designer to stop, so there is no overlay."""


@dataclass(frozen=True)
class Parameter:
    """A number that a designer takes; required where it has no default."""

    name: str
    kind: type[int] | type[float]
    meaning: str
    default: Number | None = None
    minimum: Number = 1


@dataclass(frozen=True)
class Designer:
    """An algorithm that builds an overlay from an interest."""

    name: str
    paper: str
    rule: str
    guarantee: str
    build: Callable[[Interest, Mapping[str, Any], np.random.Generator, Watch], Links]
    parameters: tuple[Parameter, ...] = ()
    random: bool = False
    # Bytes that building would take at most, for an interest and checked parameters.
    memory: Callable[[Interest, Mapping[str, Any]], int] = field(default=lambda interest, parameters: 0)
    # What `Watch.done` comes to if all topics end up connected; None where nobody knows beforehand.
    total: Callable[[Interest, Mapping[str, Any]], int] | None = None

    @property
    def budget(self) -> str | None:
        """Which budget it takes, `max_edges` or `max_degree`, if any; `budget_ratio` may stand for it."""
        for parameter in self.parameters:
            if parameter.name in ("max_edges", "max_degree"):
                return parameter.name
        return None
