"""What an assignment costs: access, core, the whole, and by broker.

Access: price of a user's link x (in + out). Core: for each source broker and channel, the rate published there x the
weight of the minimum spanning tree over that broker and all others with a subscriber of the channel. A publisher is
at the root of its tree, so that it may be a subscriber of its own channel changes nothing: other brokers' subscribers
are others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.content.assignment import Assignment
from topicloom.content.network.channels_by_user import Floats, Ids, summed
from topicloom.content.network.network import Network
from topicloom.kernels.content.core_traffic import (
    channel_sums,
    channel_weights,
    one_tree_cost,
    relayed_weights,
)
from topicloom.kernels.content.spanning import spanning_tree

Counts = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Cost:
    """What an assignment costs, in the units of rates x prices.

    By broker: what the links of its users cost, and the trees that begin there; how many users it has, and their
    traffic.
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
        """All trees between brokers."""
        return float(self.core_by_broker.sum())

    @property
    def total(self) -> float:
        """Both together."""
        return self.access + self.core


@dataclass(frozen=True, eq=False)
class Core:
    """Tables by channel and broker: the rate published there, and how many users there want the channel."""

    published: Floats
    subscribers: Counts


def core_tables(network: Network, brokers: Ids) -> Core:
    """What is published and wanted at each broker."""
    shape = (network.channel_count, network.broker_count)
    tables = Core(np.zeros(shape), np.zeros(shape, np.int32))
    channel_sums(brokers, network.rates, network.wants, tables.published, tables.subscribers)
    return tables


def cost(assignment: Assignment) -> Cost:
    """The cost of an assignment, whether it keeps to capacities or not."""
    network = assignment.network
    tables = core_tables(network, assignment.brokers)
    weights = channel_weights(network.core, tables.subscribers)
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
    network = assignment.network
    tables = core_tables(network, assignment.brokers)
    tree = spanning_tree(network.core, np.arange(network.broker_count, dtype=np.int32))
    return float(one_tree_cost(*tree, tables.published, tables.subscribers).sum())


def relayed_core(assignment: Assignment) -> float:
    """The core cost where trees may pass through brokers that do not want the channel; at most the core cost."""
    tables = core_tables(assignment.network, assignment.brokers)
    weights = relayed_weights(assignment.network.core, tables.published, tables.subscribers)
    return float((tables.published * weights).sum())
