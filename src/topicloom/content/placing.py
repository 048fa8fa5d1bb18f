"""Assign users one by one within the capacity of brokers.

Giving users to brokers one after the other, within capacity.

`order` says in which order users come. A user that fits nowhere gets -1, and so do all after it.

What an assigner is: an algorithm with the function that gives users to brokers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topicloom.content.network import DoesNotFit, Ids, Network, summed
from topicloom.kernels.jit import kernel
from topicloom.registry import Algorithm

# Room is compared with this much slack, so that a broker filled to the last digit is not refused by rounding.
_SLACK = 1e-9


@kernel()
def fits(load, demand, capacity):
    """Whether a broker with this load can take this demand."""
    return load + demand <= capacity * (1 + _SLACK)


@kernel()
def cheapest(access, demand, capacity, order):
    """Each user to the cheapest broker that has room, the lowest id among equals."""
    assigned = np.full(order.shape[0], -1, np.int32)
    load = np.zeros(capacity.shape[0])
    for user in order:
        broker = cheapest_with_room(access[user], demand[user], load, capacity)
        if broker < 0:
            break
        assigned[user] = broker
        load[broker] += demand[user]
    return assigned


@kernel()
def cheapest_with_room(prices, demand, load, capacity):
    """The broker of the lowest price that has room, or -1; none that has no finite price."""
    best, lowest = -1, np.inf
    for broker in range(capacity.shape[0]):
        if prices[broker] < lowest and fits(load[broker], demand, capacity[broker]):
            best, lowest = broker, prices[broker]
    return best


@kernel()
def drawn(weights, access, demand, capacity, order, rng):
    """Each user to a broker drawn by the user's weights among those with room, or the cheapest if none of them has."""
    assigned = np.full(order.shape[0], -1, np.int32)
    load = np.zeros(capacity.shape[0])
    for user in order:
        broker = _draw(weights[user], demand[user], load, capacity, rng.random())
        if broker < 0:
            broker = cheapest_with_room(access[user], demand[user], load, capacity)
        if broker < 0:
            break
        assigned[user] = broker
        load[broker] += demand[user]
    return assigned


@kernel()
def _draw(weights, demand, load, capacity, chance):
    """The broker at `chance` (0 to 1) of the summed weights of brokers with room; -1 where that sum is zero."""
    total = 0.0
    for broker in range(capacity.shape[0]):
        if fits(load[broker], demand, capacity[broker]):
            total += weights[broker]
    point = chance * total
    last, passed = -1, 0.0
    for broker in range(capacity.shape[0]):
        if weights[broker] > 0 and fits(load[broker], demand, capacity[broker]):
            last = broker
            passed += weights[broker]
            if passed > point:
                break
    return last


@dataclass(frozen=True)
class Placed:
    """The broker of each user, and what else an algorithm has to say about its run."""

    brokers: Ids
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Assigner(Algorithm):
    """An algorithm that gives users to brokers."""

    assign: Callable[[Network, Mapping[str, Any], np.random.Generator], Placed]


def in_some_order(network: Network, place: Callable[[Ids], Ids]) -> Ids:
    """Brokers as `place` finds them for users in the order of ids; if one fits nowhere, for the largest users first.

    Whether an assignment fits is a packing problem. Placing the largest first finds one nearly always where there is
    one; where it does not either, the error says who was left over.
    """
    network.require_capacity()
    demand = network.traffic.demand
    by_id = np.arange(network.user_count, dtype=np.int32)
    for order in (by_id, np.argsort(-demand, kind="stable").astype(np.int32)):
        brokers = place(order)
        if (brokers >= 0).all():
            return brokers
    placed = brokers >= 0
    load = summed(brokers[placed], demand[placed], network.broker_count)
    left = next(user for user in order if brokers[user] < 0)
    room = (network.capacity - load).max()
    raise DoesNotFit(
        f"no assignment found that fits: user '{network.user_names[left]}' needs {demand[left]:.6g} and no broker has "
        f"more than {room:.6g} left; raise capacities"
    )
