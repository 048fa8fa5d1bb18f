"""Steiner-tree mixing: the Content paper, section IV-B, algorithm 3.

Rule: for each publisher and channel, build a tree over the users that want it, who join it nearest first by the
cheapest path from a broker in it (phase 1); weigh each link of a user to a broker by the traffic on it in all trees,
and draw the user's broker by its weights, within capacity (phase 2); route between brokers on minimum spanning trees
(phase 3).

Phase 1 may also grow one tree for each channel: "|B_u| is at most T, which is the number of sub-channels". It begins
with the user that publishes most there. Or that tree is the one of the metric closure, the textbook's approximation,
where "nodes (clients and brokers) are connected with shortest paths instead of edges": paths go from user to user, and
each end carries the whole channel.

A user without traffic, or whose weighted brokers are all full, goes to the cheapest broker with room.

Cost: users x brokers x (channels and brokers of use to a user), and for the trees brokers x subscriptions x the brokers
in a tree that are near a user. Memory: up to 48 bytes for each pair of a user and a broker of use to it, besides prices
and weights; 12 where all trees are stars. Trees of several channels are grown at a time, for which each needs as much
again for its own users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.algorithms import Parameter
from topicloom.content.assigning.mixing_trees import channel_weights, closure_weights, publisher_weights
from topicloom.content.base import Assigner, Placed, in_some_order
from topicloom.content.network.channels_by_user import Floats
from topicloom.content.network.network import Network
from topicloom.kernels.content.assigning import drawn

# A tree for each publisher and channel; one for each channel; that of the metric closure of the users of a channel.
_WEIGHTS = {"publisher": publisher_weights, "channel": channel_weights, "closure": closure_weights}
TREES = tuple(_WEIGHTS)


def link_weights(network: Network, trees: str = TREES[0]) -> Floats:
    """Phase 1: the traffic on the link of each user to each broker, in all trees together."""
    return _WEIGHTS[trees](network)


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Each user to a broker drawn by the traffic on its links in all trees."""
    weights, demand = link_weights(network, parameters["trees"]), network.traffic.demand
    return Placed(
        in_some_order(network, lambda order: drawn(weights, network.access, demand, network.capacity, order, rng))
    )


ALGORITHM = Assigner(
    name="steiner-mixing",
    paper="Content, section IV-B",
    rule="a broker drawn by the traffic on the user's links in the trees of all publishers and channels",
    assign=assign,
    parameters=(
        Parameter(
            "trees",
            str,
            "what there is a tree for: each publisher in each channel, each channel, or the metric closure of each",
            TREES[0],
            choices=TREES,
        ),
    ),
    random=True,
)
