"""Running an algorithm: parameters checked, kernels compiled, time taken."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom.content.assignment import Assignment, Origin
from topicloom.content.base import Algorithm, Parameter
from topicloom.content.cost import cost
from topicloom.content.migration import migration
from topicloom.content.network.channels_by_user import rows_of
from topicloom.content.network.network import Network
from topicloom.content.registry import find_algorithm
from topicloom.errors import InputError


@dataclass(frozen=True)
class Run:
    """An assignment, the seconds that its algorithm took, and what else it said; no compiling, no files.

    `processor_seconds` are those in which it was at work and not kept waiting by others on the machine.
    """

    assignment: Assignment
    seconds: float
    processor_seconds: float
    facts: Mapping[str, Any]


def assign(network: Network, algorithm: str, *, seed: int = 0, **parameters: int | float | str) -> Assignment:
    """Give each user of a network to a broker.

    `algorithm` is a name of `ALGORITHMS`; `parameters` are those it takes. `seed` matters to random ones alone.
    """
    return run(network, algorithm, seed=seed, then=(), **parameters).assignment


def run(
    network: Network, algorithm: str, *, seed: int = 0, then: Sequence[Network] = (), **parameters: int | float | str
) -> Run:
    """Assign as `assign` does, and say how long the algorithm itself took.

    `then` is for migration: the same network with other interests, to which users change once nothing improves. The
    assignment is that of the last one.
    """
    found = find_algorithm(algorithm)
    if then and found is not migration.ALGORITHM:
        raise InputError(f"{found.name} does not take networks with other interests; migration does")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")
    checked = checked_parameters(found, parameters)
    network.require_capacity()
    warm_up(found, checked)
    began, at_work = time.perf_counter(), time.thread_time()
    rng = np.random.default_rng(seed)
    placed = migration.migrate([network, *then], checked, rng) if then else found.assign(network, checked, rng)
    seconds, processor_seconds = time.perf_counter() - began, time.thread_time() - at_work
    origin = Origin(found.name, MappingProxyType(checked), int(seed) if found.random else None)
    return Run(Assignment([network, *then][-1], placed.brokers, origin), seconds, processor_seconds, placed.facts)


def warm_up(algorithm: Algorithm, parameters: Mapping[str, Any]) -> None:
    """Compile what an algorithm needs, by running it on a tiny network."""
    tiny = _tiny()
    placed = algorithm.assign(tiny, parameters, np.random.default_rng(0))
    cost(Assignment(tiny, placed.brokers))


def checked_parameters(algorithm: Algorithm, given: Mapping[str, Any]) -> dict[str, int | float | str]:
    """Parameters with defaults filled in; names and values that the algorithm does not take are errors."""
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise InputError(f"{algorithm.name} does not take {name}; it takes {takes}", name, *known)
    return {
        name: _value(algorithm, parameter, given[name]) if given.get(name) is not None else parameter.default
        for name, parameter in known.items()
    }


def _value(algorithm: Algorithm, parameter: Parameter, value: Any) -> int | float | str:
    name = f"{parameter.name} of {algorithm.name}"
    if parameter.words:
        if value not in parameter.words:
            raise InputError(f"{name} is '{value}'; known are {', '.join(parameter.words)}", parameter.name)
        return str(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not parameter.minimum <= value <= parameter.maximum
    ):
        most = "" if parameter.maximum == float("inf") else f" to {parameter.maximum:g}"
        raise InputError(f"{name} is {value}; give a number from {parameter.minimum:g}{most or ' up'}", parameter.name)
    return float(value)


def _tiny() -> Network:
    """Two brokers and four users, three of whom want one channel and two the other."""
    users, channels = np.array([0, 1, 2, 0, 3]), np.array([0, 0, 0, 1, 1])
    return Network(
        tuple("abcd"),
        ("x", "y"),
        ("p", "q"),
        rows_of(4, users, channels, np.ones(5)),
        rows_of(4, users[::-1].copy(), channels[::-1].copy(), np.ones(5)),
        np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [3.0, 1.0]]),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.array([50.0, 50.0]),
    )
