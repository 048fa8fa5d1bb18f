"""Many generated content-based networks, each a Spark task: figures 9 and 10 of the Content paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom._version import __version__
from topicloom.content import cost, find_algorithm, run
from topicloom.errors import InputError
from topicloom.workloads.content_networks import content_network

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("users", "brokers", "channels", "attributes")),
        ("width", pa.float64()),
        ("prices", pa.string()),
        ("access_to_core", pa.float64()),
        ("seed", pa.int64()),
        ("algorithm", pa.string()),
        *((name, pa.float64()) for name in ("total", "access", "core", "cost_reduction_ratio", "seconds")),
        ("error", pa.string()),
    ]
)


@dataclass(frozen=True)
class Grid:
    """Networks to generate: all combinations of the values, each with every seed."""

    users: tuple[int, ...]
    users_per_broker: tuple[int, ...]
    channels: int
    algorithms: tuple[str, ...]
    seeds: int
    access_to_core: tuple[float, ...] = (1.0,)
    width: float | None = None
    prices: str = "plane"

    def networks(self) -> list[dict[str, Any]]:
        """The parameters of each network; an error where one cannot be generated."""
        for name in self.algorithms:
            find_algorithm(name)
        if self.seeds < 1:
            raise InputError(f"seeds is {self.seeds}; give a whole number of at least 1")
        found = []
        for users, each, ratio, seed in product(
            self.users, self.users_per_broker, self.access_to_core, range(1, self.seeds + 1)
        ):
            if each < 1:
                raise InputError(f"users_per_broker is {each}; give a whole number of at least 1")
            parameters: dict[str, Any] = {
                "users": users,
                "brokers": max(1, users // each),
                "channels": self.channels,
                "width": self.width,
                "prices": self.prices,
                "access_to_core": ratio,
                "seed": seed,
            }
            # A tiny one shows whether the parameters go together.
            content_network(**{**parameters, "users": min(users, 1), "brokers": 1})
            found.append(parameters)
        return found


def content_sweep(spark: SparkSession, grid: Grid) -> pa.Table:
    """A row for each network and algorithm: the parameters, costs, and how many times that of random it saves."""
    networks = grid.networks()
    # Large ones first, so that none is left over when the others are done.
    networks.sort(key=lambda parameters: -parameters["users"] * parameters["brokers"])
    algorithms = grid.algorithms
    task = spark.sparkContext.parallelize(networks, len(networks))
    rows = task.flatMap(lambda parameters: run_network(parameters, algorithms, __version__)).collect()
    keys = ("users", "brokers", "access_to_core", "seed")
    rows.sort(key=lambda row: (*(row[key] for key in keys), algorithms.index(row["algorithm"])))
    return pa.Table.from_pylist(rows, SCHEMA)


def run_network(parameters: Mapping[str, Any], algorithms: Sequence[str], version: str) -> list[dict[str, Any]]:
    """Generate one network and run all algorithms on it; this is the task. What goes wrong is the row's error."""
    described = {"attributes": 1, **parameters}
    if version != __version__:
        error = f"the executor has topicloom {__version__} and the driver {version}"
        return [{**described, "algorithm": name, "error": error} for name in algorithms]
    network = content_network(**parameters).network
    seed = parameters["seed"]
    rows = []
    for name in algorithms:
        try:
            random = cost(run(network, "random", seed=seed).assignment).total
            result = run(network, name, seed=seed)
        except InputError as failure:
            rows.append({**described, "algorithm": name, "error": str(failure)})
            continue
        priced = cost(result.assignment)
        rows.append(
            {
                **described,
                "algorithm": name,
                "total": priced.total,
                "access": priced.access,
                "core": priced.core,
                "cost_reduction_ratio": random / priced.total if priced.total else None,
                "seconds": result.seconds,
                "processor_seconds": result.processor_seconds,
            }
        )
    return rows
