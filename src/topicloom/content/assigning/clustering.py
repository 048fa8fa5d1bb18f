"""Two-stage clustering: the Content paper, section III-B, algorithm 2.

Rule: each broker in turn begins with the two free users of the highest ratio of the traffic between them to the price
of their way over it; then each user, in the order of ids, goes to the broker with the highest ratio of its traffic
with the users there to its price, the cheapest among equals. The paper's listing takes the lowest ratio where its
text takes the highest; the text is followed. A broker for which no free pair has any traffic begins empty.

Cost: users x brokers x channels, and for the pairs users x brokers times the few users whose bound is above the best
pair; where all prices are equal no bound helps, and that is users^2 x brokers.

Symbols: b_ij is the traffic between users i and j, both ways; c_ij the sum of their prices to the broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.content.base import Assigner, Placed, in_some_order
from topicloom.content.network.network import Network
from topicloom.kernels.content.clusters import join_clusters, seed_pairs


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Users with much traffic among them to the same broker."""
    traffic, channels = network.traffic, network.channel_count
    limits = (network.access, traffic.demand, network.capacity)
    pairs = seed_pairs(*limits, traffic.out, network.rates, network.wants, channels)
    return Placed(
        in_some_order(
            network, lambda order: join_clusters(*limits, network.rates, network.wants, pairs, channels, order)
        )
    )


ALGORITHM = Assigner(
    name="clustering",
    paper="Content, section III-B",
    rule="the broker with whose users it has most traffic for its price",
    assign=assign,
)
