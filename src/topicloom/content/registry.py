"""All assignment algorithms by name: the one place that Python, the command line and the benchmarks choose from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from topicloom.content.assigning import clustering, exact, packing, random_assignment, steiner_mixing
from topicloom.content.base import Algorithm
from topicloom.content.migration import migration
from topicloom.errors import InputError

_MODULES = (random_assignment, packing, clustering, steiner_mixing, migration, exact)

ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType({module.ALGORITHM.name: module.ALGORITHM for module in _MODULES})


def find_algorithm(name: str) -> Algorithm:
    """The algorithm of that name; an unknown name is an error that lists the known ones."""
    if name not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{name}'; known are {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
