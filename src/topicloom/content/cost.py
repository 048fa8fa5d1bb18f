"""Cost of an assignment: access, core routing, and spanning trees.

How messages get from the broker of their publisher to those of their subscribers, and what a unit of that costs.

The Content paper says several things, each of which is a routing here:

- `shared`: a tree of least weight for each source and channel; "any message will not traverse a link more than once",
  "traffic of different channels can also be optimally routed on multiple spanning trees" (II-B, IV-B).
- `unicast`: a flow for each publisher and subscriber, over the direct link of their brokers, summed up; "traffic is
  routed using the shortest path algorithm" (III-A), "where flows traversing the same links are summed up" (II-B).
- `relayed`: as `shared`, and trees may pass through brokers that do not want the channel.
- `tree`: all brokers on one minimum spanning tree; "to rewire all the brokers into a connected acyclic graph" (II-A).
- `best-tree`: all brokers on one tree that is fitted to the traffic.
- `random-tree`: all brokers on one random tree; "all brokers and users are connected randomly" (VI-A).

What an assignment costs: access, core, the whole, and by broker.

Access: price of a user's link x (in + out). Core: for each source broker and channel, the rate published there x what a
unit costs from there to all brokers with a subscriber of the channel, by a routing of `core_routing`. A publisher is at
the root of its tree, so that it may be a subscriber of its own channel changes nothing: other brokers' subscribers are
others.

What an assignment costs in figures: what `topicloom content cost` prints as JSON, and pages show.

The traffic matrix: what each user sends to each other one. The Content paper, section I and figure 3.

It is users x users, so it is given a few rows at a time. No algorithm here needs it: sums by channel say the same.

The trees on which messages pass between brokers, one for each channel and broker at which it is published.

Their table: `channel`, `source`, and for each link `broker`, `other`, its `price`, and the `rate` that crosses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.content.assignment import Assignment
from topicloom.content.core_trees import (
    better_tree,
    channel_links,
    channel_sums,
    channel_weights,
    pair_rates,
    relayed_weights,
    spanning_tree,
    tree_route_weights,
)
from topicloom.content.network import Floats, Ids, Network, summed, transposed
from topicloom.errors import InputError
from topicloom.io.settings import Amount, Count, read_json
from topicloom.io.tables import names_column, numbers, read_table, write_parquet
from topicloom.io.whole import replacing

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


@dataclass(frozen=True)
class BrokerCost:
    """A broker: its users, their traffic against its capacity, and what it costs.

    `access` is the cost of its users' links, `core` that of the trees for what is published at it.
    """

    broker: str
    users: Count
    load: Amount
    capacity: Amount
    access: Amount
    core: Amount


@dataclass(frozen=True)
class CostSummary:
    """What an assignment costs; the fields are the keys of its JSON, without the last two where they are None.

    `cost_reduction_ratio` is how many times as much the random assignment costs; None where none fits.
    `core_on_one_tree` and `core_with_relays` are the core cost in other ways, where those were asked for.
    """

    users: Count
    brokers: Count
    channels: Count
    total: Amount
    access: Amount
    core: Amount
    cost_reduction_ratio: float | None
    demand: Amount
    capacity: Amount
    overloaded_brokers: Count
    unwanted_share: Amount
    by_broker: tuple[BrokerCost, ...]
    core_on_one_tree: Amount | None = None
    core_with_relays: Amount | None = None

    @classmethod
    def read(cls, path: Path) -> CostSummary:
        """From a JSON file."""
        read = read_json(path, cls)
        if not read.by_broker:
            raise InputError(f"{path}: 'by_broker' is empty; it should name every broker")
        return read

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        asked_for = {"core_on_one_tree": self.core_on_one_tree, "core_with_relays": self.core_with_relays}
        left_out = [name for name, cost in asked_for.items() if cost is None]
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def reduction_ratio(priced: Cost, random: Cost | None) -> float | None:
    """How many times as much the random assignment costs; None where there is none, or nothing costs anything."""
    return None if random is None or priced.total == 0 else random.total / priced.total


def cost_summary(
    assignment: Assignment,
    priced: Cost,
    random: Cost | None,
    *,
    one_tree: float | None = None,
    relays: float | None = None,
) -> CostSummary:
    """Put together what an assignment costs, beside the random one."""
    network = assignment.network
    columns = (
        network.broker_names,
        *(
            column.tolist()
            for column in (
                priced.users,
                priced.load,
                network.capacity,
                priced.access_by_broker,
                priced.core_by_broker,
            )
        ),
    )
    return CostSummary(
        users=network.user_count,
        brokers=network.broker_count,
        channels=network.channel_count,
        total=priced.total,
        access=priced.access,
        core=priced.core,
        cost_reduction_ratio=reduction_ratio(priced, random),
        demand=float(network.traffic.demand.sum()),
        capacity=float(network.capacity.sum()),
        # Sums may pass what they are equal to by rounding.
        overloaded_brokers=int((priced.load > network.capacity * (1 + 1e-9)).sum()),
        unwanted_share=network.traffic.unwanted_share,
        by_broker=tuple(BrokerCost(*row) for row in zip(*columns, strict=True)),
        core_on_one_tree=one_tree,
        core_with_relays=relays,
    )


def traffic_rows(network: Network, begin: int, end: int) -> Floats:
    """The rate of messages from each of the users from `begin` up to `end` to each user; nobody sends to itself."""
    rows: Floats = pair_rates(network.rates, transposed(network.wants, network.channel_count), begin, end)
    return rows


_NAMES, _NUMBERS = ("channel", "source", "broker", "other"), ("price", "rate")
TREE_COLUMNS = (*_NAMES, *_NUMBERS)


def core_trees(assignment: Assignment) -> pa.Table:
    """The links of all trees."""
    network = assignment.network
    tables = core_tables(network, assignment.brokers)
    parts = [
        channel_links(network.core, tables.published, tables.subscribers, channel)
        for channel in range(network.channel_count)
    ]
    channels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    links = np.concatenate(parts) if parts else np.empty((0, 3), np.int32)
    brokers = pa.array(network.broker_names, pa.string())
    columns = [
        pa.array(network.channel_names, pa.string()).take(pa.array(channels)),
        *(brokers.take(pa.array(links[:, k])) for k in range(3)),
        network.core[links[:, 1], links[:, 2]],
        tables.published[channels, links[:, 0]],
    ]
    return pa.table(columns, names=list(TREE_COLUMNS))


def write_trees(trees: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write the links of trees as Parquet."""
    with replacing(path) as temporary:
        write_parquet(trees, temporary)


def read_trees(path: str | os.PathLike[str]) -> pa.Table:
    """The links of trees from a file, checked."""
    where = os.fspath(path)
    table = read_table(path, TREE_COLUMNS)
    columns = [
        *(names_column(table, name, where) for name in _NAMES),
        *(numbers(table, name, where) for name in _NUMBERS),
    ]
    return pa.table(columns, names=list(TREE_COLUMNS))
