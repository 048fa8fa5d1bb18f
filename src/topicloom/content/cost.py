"""What an assignment costs: access, core, the whole, and by broker.

Access: price of a user's link x (in + out). Core: for each source broker and channel, the rate published there x what a
unit costs from there to all brokers with a subscriber of the channel, by a routing of `core_routing`. A publisher is at
the root of its tree, so that it may be a subscriber of its own channel changes nothing: other brokers' subscribers are
others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.content.assignment import Assignment
from topicloom.content.core_routing import core_tables, route_weights
from topicloom.content.network.channels_by_user import Floats, summed


@dataclass(frozen=True, eq=False)
class Cost:
    """What an assignment costs, in the units of rates x prices.

    By broker: what the links of its users cost, and what is published there on its way to other brokers; how many users
    it has, and their traffic.
    """

    access_by_broker: Floats
    core_by_broker: Floats
    users: npt.NDArray[np.int64]
    load: Floats

    @property
    def access(self) -> float:
        """All links of users."""
        return float(self.access_by_broker.sum())

    @property
    def core(self) -> float:
        """All links between brokers."""
        return float(self.core_by_broker.sum())

    @property
    def total(self) -> float:
        """Both together."""
        return self.access + self.core


def cost(assignment: Assignment, *, routing: str = "shared", seed: int = 0) -> Cost:
    """The cost of an assignment, whether it keeps to capacities or not.

    Args:
        assignment: which broker each user connects to.
        routing: how messages pass between brokers, a name of `ROUTINGS`.
        seed: which random tree, for the routing `random-tree`.
    """
    network = assignment.network
    tables = core_tables(network, assignment.brokers)
    weights = route_weights(network, tables, routing, seed)
    prices = network.access[np.arange(network.user_count), assignment.brokers]
    count = network.broker_count
    return Cost(
        summed(assignment.brokers, prices * network.traffic.demand, count),
        (tables.published * weights).sum(axis=0),
        np.bincount(assignment.brokers, minlength=count),
        assignment.load,
    )


def one_tree_core(assignment: Assignment) -> float:
    """The core cost where all brokers are on one minimum spanning tree and all traffic is routed on it."""
    return cost(assignment, routing="tree").core


def relayed_core(assignment: Assignment) -> float:
    """The core cost where trees may pass through brokers that do not want the channel; at most the core cost."""
    return cost(assignment, routing="relayed").core
