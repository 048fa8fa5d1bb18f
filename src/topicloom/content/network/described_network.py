"""A network as it is described: densities and boxes in a space, and prices; made into a network, or into its folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from topicloom.content.network.access_table import write_access
from topicloom.content.network.channels_by_user import Floats
from topicloom.content.network.network import Network
from topicloom.content.network.space import Space, box_cells, quadratic_rates
from topicloom.files.parquet import write_parquet


@dataclass(frozen=True, eq=False)
class Drawn:
    """One quadratic density and one box for each user; all brokers have the same capacity.

    `coefficients` has shape (users, attributes, 3), `lows` and `highs` (users, attributes). Capacities sum to the
    users' demand times `capacity_to_demand`.
    """

    space: Space
    coefficients: Floats
    lows: Floats
    highs: Floats
    access: Floats
    core: Floats
    capacity_to_demand: float

    @cached_property
    def network(self) -> Network:
        """The network that this describes."""
        users, brokers = self.access.shape
        everybody = np.arange(users)
        rates = quadratic_rates(self.space, users, everybody, self.coefficients)
        wants = box_cells(self.space, users, everybody, self.lows, self.highs)
        names = (_names("u", users), _names("b", brokers), self.space.channel_names)
        unlimited = Network(*names, rates, wants, self.access, self.core, np.full(brokers, np.inf))
        capacity = np.full(brokers, self.capacity_to_demand * unlimited.traffic.demand.sum() / brokers)
        return Network(*names, rates, wants, self.access, self.core, capacity)

    def write(self, folder: Path) -> None:
        """Write the tables into a folder that is there."""
        network = self.network
        for name, table in self._tables().items():
            write_parquet(table, folder / f"{name}.parquet")
        write_access(folder / "access.parquet", network.user_names, network.broker_names, network.access)

    def _tables(self) -> dict[str, pa.Table]:
        network, attributes = self.network, self.space.attributes
        users = pa.array(network.user_names, pa.string())
        brokers = pa.array(network.broker_names, pa.string())
        names = [attribute.name for attribute in attributes]
        one, other = np.triu_indices(network.broker_count, 1)
        bounds = {
            f"{end}_{name}": values[:, k]
            for k, name in enumerate(names)
            for end, values in (("low", self.lows), ("high", self.highs))
        }
        flat = self.coefficients.reshape(-1, 3)
        return {
            "space": pa.table(
                {
                    "attribute": pa.array(names, pa.string()),
                    "low": [attribute.low for attribute in attributes],
                    "high": [attribute.high for attribute in attributes],
                    "cells": [attribute.cells for attribute in attributes],
                }
            ),
            "quadratics": pa.table(
                {
                    "user": users.take(pa.array(np.repeat(np.arange(len(users)), len(names)))),
                    "attribute": pa.array(names * len(users), pa.string()),
                    **{name: flat[:, k] for k, name in enumerate("abc")},
                }
            ),
            "boxes": pa.table({"user": users, **bounds}),
            "brokers": pa.table({"broker": brokers, "capacity": network.capacity}),
            "core": pa.table(
                {
                    "broker": brokers.take(pa.array(one)),
                    "other": brokers.take(pa.array(other)),
                    "price": network.core[one, other],
                }
            ),
        }


def _names(letter: str, count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"{letter}{i:0{width}}" for i in range(1, count + 1))
