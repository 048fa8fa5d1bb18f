"""What an algorithm makes a content-based network cost: Content, figures 9 and 10 and table I."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.model import Interest
from topicloom.pipeline.sweeps.content_sweep import ContentSweep, network_row


def run_content(parameters: Mapping[str, Any], interest: Interest | None = None) -> pa.Table:
    """Draw a network and run one algorithm on it, as `topicloom content sweep` does.

    Its `seconds` are those of the processor: the quickest algorithm takes a thousandth of the time of the slowest, and
    a busy machine interrupts that one alone.
    """
    asked = ContentSweep(
        users=(parameters["users"],),
        users_per_broker=(parameters["users_per_broker"],),
        channels=parameters["channels"],
        algorithms=(parameters["algorithm"],),
        seeds=1,
        access_to_core=(parameters.get("access_to_core", 1.0),),
        width=parameters.get("width"),
        prices=parameters.get("prices", "plane"),
    )
    (network,) = asked.networks()
    row = network_row({**network, "seed": parameters["seed"]}, *asked.algorithms)
    row["seconds"] = row.pop("processor_seconds")
    return pa.Table.from_pylist([row])
