"""Clustering of users by their interests.

Clusters of users with much traffic among themselves: a pair to begin with at each broker, then one by one.

Traffic between two users is what either publishes and the other wants. Traffic between a user and a broker's users
follows from sums by channel, so nothing here is users x users in size: 12 bytes for each channel and broker.

Two-stage clustering: the Content paper, section III-B, algorithm 2.

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

from topicloom.content.network import Network
from topicloom.content.placing import Assigner, Placed, fits, in_some_order
from topicloom.kernels.jit import kernel
from topicloom.registry import Parameter

# Bounds are sums in another order than what they bound.
_ROUNDING = 1 - 1e-9


@kernel()
def ratio(traffic, price):
    """Traffic for its price: zero where there is none, endless where it is free."""
    if traffic <= 0.0:
        return 0.0
    return traffic / price if price > 0.0 else np.inf


@kernel()
def seed_pairs(access, demand, capacity, out, rates, wants, channels):
    """For each broker in turn, the pair of free users of the highest ratio; -1 where no pair has any traffic.

    What a user gives another is at most all that it publishes, and at most its highest rate for each channel that the
    other wants. A pair's ratio is between those of its two sides. So users are tried from the highest bound down, until
    none can beat the best pair; among equals the lowest ids win.
    """
    users, brokers = access.shape
    pairs = np.full((brokers, 2), -1, np.int32)
    free = np.ones(users, np.bool_)
    own_rate = np.zeros(channels)
    own_want = np.zeros(channels, np.bool_)
    bound = np.empty(users)
    wanted = wants.start[1:] - wants.start[:-1]
    most_wanted = wanted.max() if users > 0 else 0
    highest = np.zeros(users)
    for user in range(users):
        for k in range(rates.start[user], rates.start[user + 1]):
            highest[user] = max(highest[user], rates.values[k])
    for broker in range(brokers):
        for user in range(users):
            given = min(out[user], highest[user] * most_wanted)
            bound[user] = ratio(given, access[user, broker]) if free[user] else -1.0
        best = 0.0
        while True:
            i = np.argmax(bound)
            if bound[i] <= 0.0 or bound[i] < best * _ROUNDING:
                break
            bound[i] = -1.0  # done: pairs of i are all looked at below
            for k in range(rates.start[i], rates.start[i + 1]):
                own_rate[rates.columns[k]] = rates.values[k]
            for k in range(wants.start[i], wants.start[i + 1]):
                own_want[wants.columns[k]] = True
            for j in range(users):
                if j == i or not free[j]:
                    continue
                price = access[i, broker] + access[j, broker]
                most = min(out[i], highest[i] * wanted[j]) + min(out[j], highest[j] * wanted[i])
                if ratio(most, price) < best * _ROUNDING or not fits(demand[i], demand[j], capacity[broker]):
                    continue
                traffic = 0.0
                for k in range(wants.start[j], wants.start[j + 1]):
                    traffic += own_rate[wants.columns[k]]
                for k in range(rates.start[j], rates.start[j + 1]):
                    if own_want[rates.columns[k]]:
                        traffic += rates.values[k]
                found = ratio(traffic, price)
                low, high = min(i, j), max(i, j)
                if found > best or (
                    found == best > 0 and (low, high) < (np.int64(pairs[broker, 0]), np.int64(pairs[broker, 1]))
                ):
                    best = found
                    pairs[broker] = low, high
            for k in range(rates.start[i], rates.start[i + 1]):
                own_rate[rates.columns[k]] = 0.0
            for k in range(wants.start[i], wants.start[i + 1]):
                own_want[wants.columns[k]] = False
        for user in pairs[broker]:
            if user >= 0:
                free[user] = False
    return pairs


@kernel()
def join_clusters(access, core, demand, capacity, rates, wants, pairs, channels, order, end_to_end):
    """Seed the brokers, then give each user to the broker of the highest ratio with room, the cheapest among equals.

    The ratio is that of its traffic with the users there to its price; or, end to end, of its traffic with all users so
    far to the average price of that over the broker and on to theirs.
    """
    users, brokers = access.shape
    assigned = np.full(users, -1, np.int32)
    load = np.zeros(brokers)
    published = np.zeros((channels, brokers))
    subscribers = np.zeros((channels, brokers))
    for broker in range(brokers):
        for user in pairs[broker]:
            if user >= 0:
                assigned[user] = broker
                load[broker] += demand[user]
                _add(user, broker, rates, wants, published, subscribers)
    traffic = np.empty(brokers)
    for user in order:
        if assigned[user] >= 0:
            continue
        traffic[:] = 0.0
        for k in range(rates.start[user], rates.start[user + 1]):
            row, rate = subscribers[rates.columns[k]], rates.values[k]
            for broker in range(brokers):
                traffic[broker] += rate * row[broker]
        for k in range(wants.start[user], wants.start[user + 1]):
            row = published[wants.columns[k]]
            for broker in range(brokers):
                traffic[broker] += row[broker]
        best, highest = -1, -1.0
        for broker in range(brokers):
            if access[user, broker] == np.inf or not fits(load[broker], demand[user], capacity[broker]):
                continue
            if end_to_end:
                whole = traffic.sum()
                found = ratio(whole * whole, whole * access[user, broker] + (traffic * core[broker]).sum())
            else:
                found = ratio(traffic[broker], access[user, broker])
            if found > highest or (found == highest and access[user, broker] < access[user, best]):
                best, highest = broker, found
        if best < 0:
            break
        assigned[user] = best
        load[best] += demand[user]
        _add(user, best, rates, wants, published, subscribers)
    return assigned


@kernel()
def _add(user, broker, rates, wants, published, subscribers):
    for k in range(rates.start[user], rates.start[user + 1]):
        published[rates.columns[k], broker] += rates.values[k]
    for k in range(wants.start[user], wants.start[user + 1]):
        subscribers[wants.columns[k], broker] += 1.0


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
