"""What an algorithm makes a content-based network cost: Content, figures 9 and 10 and table I."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom._version import __version__
from topicloom.model import InputError, Interest
from topicloom.pipeline.grids.content_sweep import Grid, run_network

_MEASURED = ("total", "access", "core", "cost_reduction_ratio")


def run_content(parameters: Mapping[str, Any], interest: Interest | None = None) -> pa.Table:
    """Draw a network and run one algorithm on it, as `topicloom content sweep` does.

    Its `seconds` are those of the processor: the quickest algorithm takes a thousandth of the time of the slowest, and
    a busy machine interrupts that one alone.
    """
    grid = Grid(
        users=(parameters["users"],),
        users_per_broker=(parameters["users_per_broker"],),
        channels=parameters["channels"],
        algorithms=(parameters["algorithm"],),
        seeds=1,
        access_to_core=(parameters.get("access_to_core", 1.0),),
        width=parameters.get("width"),
        prices=parameters.get("prices", "plane"),
    )
    (network,) = grid.networks()
    (row,) = run_network({**network, "seed": parameters["seed"]}, grid.algorithms, __version__)
    if "error" in row:
        raise InputError(row["error"])
    return pa.Table.from_pylist([{**{name: row[name] for name in _MEASURED}, "seconds": row["processor_seconds"]}])
