"""Two-stage clustering: the Content paper, section III-B, algorithm 2.

Rule: each broker in turn begins with the two free users of the highest ratio of the traffic between them to the price
of their way over it; then each user, in the order of ids, goes to the broker with the highest ratio of its traffic
with the users there to its price, the cheapest among equals. The paper's listing takes the lowest ratio where its
text takes the highest; the text is followed. A broker for which no free pair has any traffic begins empty.

By the price `end-to-end` a user's traffic with all users so far counts, and the average price of its way to their
brokers: "users that have a large amount of traffic to the same broker that has the minimum end-to-end cost".

Cost: users x brokers x channels, and for the pairs users x brokers times the few users whose bound is above the best
pair; where all prices are equal no bound helps, and that is users^2 x brokers.

Symbols: b_ij is the traffic between users i and j, both ways; c_ij the sum of their prices to the broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.algorithms import Parameter
from topicloom.content.base import Assigner, Placed, in_some_order
from topicloom.content.network.network import Network
from topicloom.kernels.content.clusters import join_clusters, seed_pairs


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Users with much traffic among them to the same broker."""
    traffic, channels = network.traffic, network.channel_count
    end_to_end = parameters["price"] == "end-to-end"
    limits = (network.access, traffic.demand, network.capacity)
    pairs = seed_pairs(*limits, traffic.out, network.rates, network.wants, channels)
    return Placed(
        in_some_order(
            network,
            lambda order: join_clusters(
                network.access,
                network.core,
                *limits[1:],
                network.rates,
                network.wants,
                pairs,
                channels,
                order,
                end_to_end,
            ),
        )
    )


ALGORITHM = Assigner(
    name="clustering",
    paper="Content, section III-B",
    rule="the broker with whose users it has most traffic for its price",
    assign=assign,
    parameters=(
        Parameter(
            "price",
            str,
            "what a user's traffic is weighed against: the price of its link, or of its way to other users' brokers",
            "access",
            choices=("access", "end-to-end"),
        ),
    ),
)
