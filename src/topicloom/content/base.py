"""What an assigner is: an algorithm with the function that gives users to brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topicloom.algorithms import Algorithm
from topicloom.content.network.channels_by_user import Ids, summed
from topicloom.content.network.network import Network
from topicloom.errors import InputError


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
    raise InputError(
        f"no assignment found that fits: user '{network.user_names[left]}' needs {demand[left]:.6g} and no broker has "
        f"more than {room:.6g} left; raise capacities"
    )
