"""Two-stage greedy packing: the Content paper, section III-A, algorithm 1.

Rule: each user, in the order of ids, to the broker of the lowest price that has room; traffic between brokers is then
routed on minimum spanning trees.

Guarantee: the least access cost while capacity does not bind; so the least cost where core prices are zero.

Cost: users x brokers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.content.network import Network
from topicloom.content.placing import Assigner, Placed, cheapest, in_some_order


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Each user to the cheapest broker."""
    demand = network.traffic.demand
    return Placed(in_some_order(network, lambda order: cheapest(network.access, demand, network.capacity, order)))


ALGORITHM = Assigner(
    name="packing", paper="Content, section III-A", rule="the cheapest broker that has room", assign=assign
)
