"""Algorithms on many generated content-based networks: figures 9 and 10 of the Content paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.content import Network, cost, find_algorithm, run
from topicloom.errors import InputError
from topicloom.io.tables import write_parquet
from topicloom.io.whole import replacing
from topicloom.spark.grid import Cell, Grid, GridWatch, plan_grid, require_64_bits, run_grid
from topicloom.workloads.content import content_network

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("users", "brokers", "channels", "attributes")),
        ("width", pa.float64()),
        ("prices", pa.string()),
        ("access_to_core", pa.float64()),
        ("seed", pa.int64()),
        *((name, pa.string()) for name in ("algorithm", "routing")),
        *((name, pa.float64()) for name in ("total", "access", "core", "cost_reduction_ratio")),
        *((name, pa.float64()) for name in ("seconds", "processor_seconds")),
        ("error", pa.string()),
    ]
)


@dataclass(frozen=True)
class ContentSweep:
    """Networks to generate, all combinations of the values, each with every seed; and the algorithms to run on each."""

    users: tuple[int, ...]
    users_per_broker: tuple[int, ...]
    channels: int
    algorithms: tuple[str, ...]
    seeds: int
    access_to_core: tuple[float, ...] = (1.0,)
    width: float | None = None
    prices: str = "plane"
    routing: str = "shared"

    def networks(self) -> list[dict[str, Any]]:
        """The parameters of each network; an error where one cannot be generated."""
        for name in self.algorithms:
            find_algorithm(name)
        require_64_bits("seeds", self.seeds)
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
            for name in ("users", "channels"):
                require_64_bits(name, parameters[name])
            # A tiny one shows whether the parameters go together.
            content_network(**{**parameters, "users": min(users, 1), "brokers": 1})
            found.append(parameters)
        return found


@dataclass(frozen=True)
class PlannedContentSweep:
    """A content sweep before it runs: the file to write, and a cell for each of its rows, in their order."""

    out: Path
    cells: tuple[Cell, ...]
    grid: Grid


def content_sweep(spark: SparkSession, asked: ContentSweep, out: Path, *, watch: GridWatch | None = None) -> pa.Table:
    """Run what is not kept beside the file `out` yet, and write it: a row for each network and algorithm.

    It has the parameters, costs, and how many times that of random it saves. `watch` lets another thread see how far
    it is, or stop it, which raises `GridStopped` here.
    """
    plan = plan_content_sweep(asked, out)
    return write_content_sweep(plan, run_content_sweep(spark, plan, watch or GridWatch()))


def plan_content_sweep(asked: ContentSweep, out: Path) -> PlannedContentSweep:
    """Find which cells are still to run: all but those kept in the folder `out`.cells. Writes nothing."""
    networks = asked.networks()
    networks.sort(key=lambda network: [network[name] for name in ("users", "brokers", "access_to_core", "seed")])
    cells = [
        Cell(
            "content",
            {**network, "algorithm": name, "routing": asked.routing},
            cost=network["users"] * network["brokers"],
        )
        for network in networks
        for name in asked.algorithms
    ]
    return PlannedContentSweep(out, tuple(cells), plan_grid(cells, out.with_name(f"{out.name}.cells")))


def run_content_sweep(spark: SparkSession, plan: PlannedContentSweep, watch: GridWatch) -> dict[Cell, str]:
    """Run the cells that are still to run and keep each of them as soon as it is done; gives the errors of others."""
    return run_grid(spark, plan.grid, _in_executor, watch)


def write_content_sweep(plan: PlannedContentSweep, errors: Mapping[Cell, str]) -> pa.Table:
    """Put the cells, which all have run, together in one table and write it."""
    table = plan.grid.table(((cell, {"attributes": 1, **cell.parameters}) for cell in plan.cells), errors, SCHEMA)
    with replacing(plan.out) as temporary:
        write_parquet(table, temporary)
    return table


def network_row(parameters: Mapping[str, Any], algorithm: str, routing: str = "shared") -> dict[str, Any]:
    """Generate a network and run an algorithm on it: its cost, and how that of a random assignment compares."""
    network, random = _drawn(tuple(parameters.items()), routing)
    result = run(network, algorithm, seed=parameters["seed"])
    priced = cost(result.assignment, routing=routing, seed=parameters["seed"])
    return {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "cost_reduction_ratio": random / priced.total if priced.total else None,
        "seconds": result.seconds,
        "processor_seconds": result.processor_seconds,
    }


@lru_cache(maxsize=1)
def _drawn(parameters: tuple[tuple[str, Any], ...], routing: str) -> tuple[Network, float]:
    """A network and the cost of a random assignment. The algorithms' cells on a network follow each other, and a worker
    need not draw it for each: at 10,000 users that takes longer than all of them together."""
    given: dict[str, Any] = dict(parameters)
    network = content_network(**given).network
    placed = run(network, "random", seed=given["seed"]).assignment
    return network, cost(placed, routing=routing, seed=given["seed"]).total


def _in_executor(cell: Cell, sent: None) -> pa.Table:
    """Run a cell; this is the task."""
    asked = dict(cell.parameters)
    algorithm, routing = asked.pop("algorithm"), asked.pop("routing")
    return pa.Table.from_pylist([network_row(asked, algorithm, routing)])
