"""How messages get from the broker of their publisher to those of their subscribers, and what a unit of that costs.

The Content paper says several things, each of which is a routing here:

- `shared`: a tree of least weight for each source and channel; "any message will not traverse a link more than once",
  "traffic of different channels can also be optimally routed on multiple spanning trees" (II-B, IV-B).
- `unicast`: a flow for each publisher and subscriber, over the direct link of their brokers, summed up; "traffic is
  routed using the shortest path algorithm" (III-A), "where flows traversing the same links are summed up" (II-B).
- `relayed`: as `shared`, and trees may pass through brokers that do not want the channel.
- `tree`: all brokers on one minimum spanning tree; "to rewire all the brokers into a connected acyclic graph" (II-A).
- `best-tree`: all brokers on one tree that is fitted to the traffic.
- `random-tree`: all brokers on one random tree; "all brokers and users are connected randomly" (VI-A).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.content.network.channels_by_user import Floats, Ids
from topicloom.content.network.network import Network
from topicloom.errors import InputError
from topicloom.kernels.content.core_traffic import (
    better_tree,
    channel_sums,
    channel_weights,
    relayed_weights,
    tree_route_weights,
)
from topicloom.kernels.content.spanning import spanning_tree

Counts = npt.NDArray[np.int32]


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


@dataclass(frozen=True, eq=False)
class BrokerTree:
    """All brokers on one tree: in an order where each follows its parent, the place of that, and the price to it."""

    order: Ids
    parent: Ids
    price: Floats

    @property
    def links(self) -> list[tuple[int, int]]:
        """The two brokers of each link, the parent first."""
        return [(int(self.order[self.parent[place]]), int(self.order[place])) for place in range(1, len(self.order))]


def least_tree(network: Network) -> BrokerTree:
    """The tree of least weight over all brokers."""
    return BrokerTree(*spanning_tree(network.core, _everybody(network)))


def random_tree(network: Network, seed: int) -> BrokerTree:
    """A random tree over all brokers: the one of least weight where prices are random numbers."""
    prices = np.random.default_rng(seed).random((network.broker_count, network.broker_count))
    order, parent, _ = spanning_tree(prices + prices.T, _everybody(network))
    price = np.where(parent >= 0, network.core[order, order[parent]], 0.0)
    return BrokerTree(order, parent, price)


def fitted_tree(network: Network, tables: Core) -> BrokerTree:
    """A tree over all brokers on which their traffic is cheap: from the one of least weight, links are moved for as
    long as that helps."""
    start = least_tree(network)
    return BrokerTree(
        *better_tree(network.core, start.order, start.parent, start.price, tables.published, tables.subscribers)
    )


def route_weights(network: Network, tables: Core, routing: str, seed: int = 0) -> Floats:
    """What a unit of each channel costs from each broker to all that want it; the seed is for random trees."""
    if routing not in _WEIGHTS:
        raise InputError(f"routing '{routing}' is unknown; known are {', '.join(ROUTINGS)}", "routing")
    weights: Floats = _WEIGHTS[routing](network, tables, seed)
    return weights


def _everybody(network: Network) -> Ids:
    return np.arange(network.broker_count, dtype=np.int32)


def _on(tree: BrokerTree, tables: Core) -> Floats:
    weights: Floats = tree_route_weights(tree.order, tree.parent, tree.price, tables.subscribers)
    return weights


_WEIGHTS: Mapping[str, Callable[[Network, Core, int], Floats]] = {
    "shared": lambda network, tables, seed: channel_weights(network.core, tables.subscribers),
    "unicast": lambda network, tables, seed: tables.subscribers @ network.core,
    "relayed": lambda network, tables, seed: relayed_weights(network.core, tables.published, tables.subscribers),
    "tree": lambda network, tables, seed: _on(least_tree(network), tables),
    "best-tree": lambda network, tables, seed: _on(fitted_tree(network, tables), tables),
    "random-tree": lambda network, tables, seed: _on(random_tree(network, seed), tables),
}

ROUTINGS: tuple[str, ...] = tuple(_WEIGHTS)
