"""What brokers have told each other: the sums by channel and the load of each, and what follows for a user's move.

All brokers hear the same announcements in the same order, and none decides before it has heard all. So what they know
is the same, and is kept once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.content.core_routing import Counts, core_tables
from topicloom.content.network.channels_by_user import Floats, Ids, summed
from topicloom.content.network.network import Network
from topicloom.kernels.content.assigning import fits
from topicloom.kernels.content.core_traffic import channel_weights
from topicloom.kernels.content.moving import (
    ChannelTrees,
    first_that_may_move,
    move_changes,
    set_weights,
    user_demand,
    users_demand,
)


@dataclass(frozen=True, eq=False)
class Record:
    """What a broker holds of a user: what it registered, and the rates summarized from its messages."""

    user: int
    channels: Ids
    rates: Floats
    wants: Ids
    prices: Floats


def record(network: Network, user: int) -> Record:
    """What a user registers, with the rates of its history."""
    published = slice(network.rates.start[user], network.rates.start[user + 1])
    wanted = slice(network.wants.start[user], network.wants.start[user + 1])
    return Record(
        user,
        network.rates.columns[published],
        network.rates.values[published],
        network.wants.columns[wanted],
        network.access[user],
    )


class Told:
    """The announced sums, and the weights of the trees that follow from them."""

    def __init__(self, network: Network, brokers: Ids) -> None:
        tables = core_tables(network, brokers)
        self.published: Floats = tables.published
        self.subscribers: Counts = tables.subscribers
        self.load: Floats = summed(brokers, network.traffic.demand, network.broker_count)
        self._total: Floats = tables.published.sum(axis=1)
        self._wanting = tables.subscribers.sum(axis=1)
        self._core, self._capacity = network.core, network.capacity
        self._network = network
        channels, count = network.channel_count, network.broker_count
        # Growth and pairs are filled where they are needed: pages that nobody writes take no memory.
        self._trees = ChannelTrees(
            weights=channel_weights(network.core, tables.subscribers),
            outside=(tables.subscribers == 0).sum(axis=1),
            growth=np.empty((channels, count)),
            growth_is_known=np.zeros(channels, np.bool_),
            pairs=np.empty((channels, count, count)),
            pair_is_known=np.zeros(channels, np.bool_),
        )

    def demand(self, of: Record) -> float:
        """What a user sends and is delivered."""
        return float(user_demand(self._own(of), of.wants, self._total, self._wanting))

    def changes(self, of: Record, home: int, demand: float) -> Floats:
        """How the cost changes if a user of that demand leaves its home for each broker."""
        found: Floats = move_changes(
            self._core,
            of.prices,
            demand,
            home,
            self._own(of),
            of.wants,
            self.published,
            self.subscribers,
            self._trees,
        )
        return found

    def demands(self, users: Ids) -> Floats:
        """What each of some users sends and is delivered."""
        found: Floats = users_demand(users, self._network.rates, self._network.wants, self._total, self._wanting)
        return found

    def first_that_may_move(self, users: Ids, demand: Floats, begin: int, home: int) -> int:
        """The place of the first of a broker's users, from one on, for whom some move may lower the cost."""
        network = self._network
        given = (network.access, network.rates, network.wants, network.capacity)
        sums = (self.published, self.subscribers, self.load, self._trees)
        return int(first_that_may_move(users, demand, begin, home, self._core, given, *sums))

    def own_changes(self, of: Record, home: int, demand: float) -> Floats:
        """How what a user itself costs changes if it leaves its home for each broker: its link, and its messages."""
        links = (of.prices - of.prices[home]) * demand
        weights = self._trees.weights[of.channels]
        trees = weights - weights[:, home : home + 1]
        changes: Floats = links + of.rates @ trees
        changes[home] = 0.0
        return changes

    def has_room(self, broker: int, demand: float) -> bool:
        """Whether a broker can take a user."""
        return bool(fits(self.load[broker], demand, self._capacity[broker]))

    def is_full(self, broker: int) -> bool:
        """Whether a broker has more than its capacity."""
        return not self.has_room(broker, 0.0)

    def hear_moved(self, of: Record, home: int, foreign: int) -> None:
        """A user is at another broker now."""
        demand = self.demand(of)
        self.load[home] -= demand
        self.load[foreign] += demand
        self.published[of.channels, home] -= of.rates
        self.published[of.channels, foreign] += of.rates
        self.subscribers[of.wants, home] -= 1
        self.subscribers[of.wants, foreign] += 1
        others = (self.subscribers[of.wants, home] == 0) | (self.subscribers[of.wants, foreign] == 1)
        self._trees.growth_is_known[of.channels] = False
        for channel in of.wants[others]:
            set_weights(self._core, self.subscribers, channel, self._trees)

    def _own(self, of: Record) -> Floats:
        own = np.zeros(len(self._total))
        own[of.channels] = of.rates
        return own
