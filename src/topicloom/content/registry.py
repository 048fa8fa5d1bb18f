"""All assignment algorithms by name: the one place that Python, the command line and the benchmarks choose from."""

from __future__ import annotations

from topicloom.algorithms import Registry
from topicloom.content.assigning import clustering, least_cost, packing, random_assignment, steiner_mixing, sub_channel
from topicloom.content.base import Assigner
from topicloom.content.migration import migration

_MODULES = (random_assignment, packing, clustering, steiner_mixing, migration, sub_channel, least_cost)

ALGORITHMS: Registry[Assigner] = Registry(Assigner, (module.ALGORITHM for module in _MODULES))


def find_algorithm(name: str) -> Assigner:
    """The algorithm of that name; an unknown name is an error that lists the known ones."""
    return ALGORITHMS.find(name)
