"""Algorithms by name, and running them.

All assignment algorithms by name: the one place that Python, the command line and the benchmarks choose from.

Running an assigner: kernels compiled, time taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom.content import clustering, exact, migration, packing, random, steiner_mixing, sub_channel
from topicloom.content.assignment import Assignment
from topicloom.content.cost import cost
from topicloom.content.network import Network, rows_of
from topicloom.content.placing import Assigner
from topicloom.errors import InputError
from topicloom.model.provenance import Provenance
from topicloom.registry import Prepared, Registry, Run, Value, timed

_MODULES = (random, packing, clustering, steiner_mixing, migration, sub_channel, exact)

ALGORITHMS: Registry[Assigner] = Registry(Assigner, (module.ALGORITHM for module in _MODULES))


def find_algorithm(name: str) -> Assigner:
    """The algorithm of that name; an unknown name is an error that lists the known ones."""
    return ALGORITHMS.find(name)


@dataclass(frozen=True, kw_only=True)
class AssignmentRun(Run):
    """An assignment, the seconds that its algorithm took, and what else it said."""

    assignment: Assignment
    facts: Mapping[str, Any]


def assign(network: Network, algorithm: str, *, seed: int = 0, **parameters: Value | None) -> Assignment:
    """Give each user of a network to a broker.

    `algorithm` is a name of `ALGORITHMS`; `parameters` are those it takes. `seed` matters to random ones alone.
    """
    return run_prepared(ALGORITHMS.prepare(algorithm, seed, parameters), network).assignment


def run(
    network: Network, algorithm: str, *, seed: int = 0, then: Sequence[Network] = (), **parameters: Value | None
) -> AssignmentRun:
    """Assign as `assign` does, and say how long the algorithm itself took.

    `then` is for migration: the same network with other interests, to which users change once nothing improves. The
    assignment is that of the last one.
    """
    return run_prepared(ALGORITHMS.prepare(algorithm, seed, parameters), network, then)


def run_prepared(prepared: Prepared[Assigner], network: Network, then: Sequence[Network] = ()) -> AssignmentRun:
    """Assign with an algorithm whose parameters are checked already: `ALGORITHMS.prepare` gives one."""
    found, parameters = prepared.algorithm, prepared.parameters
    if then and found is not migration.ALGORITHM:
        raise InputError(f"{found.name} does not take networks with other interests; migration does")
    network.require_capacity()
    warm_up(prepared)
    rng = prepared.generator()
    placed, time = timed(
        lambda: migration.migrate([network, *then], parameters, rng) if then else found.assign(network, parameters, rng)
    )
    provenance = Provenance(found.name, MappingProxyType(dict(parameters)), prepared.seed_used)
    assignment = Assignment([network, *then][-1], placed.brokers, provenance)
    return AssignmentRun(assignment=assignment, facts=placed.facts, **vars(time))


def warm_up(prepared: Prepared[Assigner]) -> None:
    """Compile what an algorithm needs, by running it on a tiny network; once in a process."""
    _compile(prepared.algorithm, tuple(prepared.parameters.items()))


@lru_cache(maxsize=64)
def _compile(algorithm: Assigner, parameters: tuple[tuple[str, Value], ...]) -> None:
    tiny = _tiny()
    placed = algorithm.assign(tiny, dict(parameters), np.random.default_rng(0))
    cost(Assignment(tiny, placed.brokers))


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
