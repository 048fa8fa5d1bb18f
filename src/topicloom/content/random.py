"""Random assignment: the Content paper, section VI-B, its yardstick.

Rule: each user to a broker drawn evenly from those that it knows and that have room.

Cost: users x brokers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.content.network import Network
from topicloom.content.placing import Assigner, Placed, drawn, in_some_order


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Each user to some broker."""
    even = network.knows.astype(np.float64)
    limits = (network.access, network.traffic.demand, network.capacity)
    return Placed(in_some_order(network, lambda order: drawn(even, *limits, order, rng)))


ALGORITHM = Assigner(
    name="random",
    paper="Content, section VI-B",
    rule="a broker drawn evenly from those with room",
    assign=assign,
    random=True,
)
