"""What an algorithm makes a content-based network cost: Content, figures 9 and 10 and table I."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from topicloom.content import Network, cost, find_algorithm, run
from topicloom.content.traffic_matrix import traffic_rows
from topicloom.model import InputError, Interest
from topicloom.workloads.content_networks import content_network

_NETWORK = ("users", "channels", "width", "prices", "access_to_core", "core_price", "seed")
# Rows of the traffic matrix at a time.
_BLOCK = 256


def run_content(parameters: Mapping[str, Any], interest: Interest | None = None) -> pa.Table:
    """Draw a network, run one algorithm on it, and route its messages by `routing`.

    Seconds are those of the processor, as the quickest algorithm takes a thousandth of the time of the slowest: for
    placing users, for routing, and, where `steps` is `all`, for estimating the traffic of all pairs of users before,
    which every algorithm but the random one needs. `seconds` are all of these together.
    """
    given = {name: parameters[name] for name in _NETWORK if name in parameters}
    if parameters["users_per_broker"] < 1:
        raise InputError(f"users_per_broker is {parameters['users_per_broker']}; give a whole number of at least 1")
    brokers = max(1, parameters["users"] // parameters["users_per_broker"])
    network = _drawn((*given.items(), ("brokers", brokers)))
    whole = parameters.get("steps", "placing") == "all"
    name, seed = parameters["algorithm"], parameters["seed"]
    estimating = _estimating_seconds(network) if whole and name != "random" else 0.0
    result = run(network, name, seed=seed, **find_algorithm(name).own(parameters))
    routing = parameters.get("routing", "shared")
    cost(result.assignment, routing=routing, seed=seed)  # compiles
    began = time.thread_time()
    priced = cost(result.assignment, routing=routing, seed=seed)
    routed = time.thread_time() - began if whole else 0.0
    row = {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "published": float(network.traffic.out.sum()),
        "estimating_seconds": estimating,
        "placing_seconds": result.processor_seconds,
        "routing_seconds": routed,
        "seconds": estimating + result.processor_seconds + routed,
    }
    return pa.Table.from_pylist([row])


@lru_cache(maxsize=1)
def _drawn(parameters: tuple[tuple[str, Any], ...]) -> Network:
    given: dict[str, Any] = dict(parameters)
    return content_network(**given).network


def _estimating_seconds(network: Network) -> float:
    traffic_rows(network, 0, 1)  # compiles
    began = time.thread_time()
    for begin in range(0, network.user_count, _BLOCK):
        traffic_rows(network, begin, min(begin + _BLOCK, network.user_count))
    return time.thread_time() - began
