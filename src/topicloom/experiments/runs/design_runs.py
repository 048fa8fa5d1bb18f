"""Designs: an overlay built and measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.designers import DESIGNERS
from topicloom.model import Interest
from topicloom.pipeline.sweeps.designer_sweep import design_row


def run_design(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """A row as a sweep has it, of a designer that gets its own of the parameters.

    So a workload may give a budget which only some designers take. With `count` "each ring", links of rings are
    counted once for each of them.
    """
    assert interest is not None
    designer = DESIGNERS[parameters["designer"]]
    given = designer.own(parameters)
    row = design_row(interest, designer.name, given, parameters["seed"], diameters=parameters.get("diameters", False))
    if parameters.get("count") != "each ring":
        return row
    degree = 2 * row["ring_links"][0].as_py() / interest.node_count
    return row.set_column(row.column_names.index("average_degree"), "average_degree", pa.array([degree]))
