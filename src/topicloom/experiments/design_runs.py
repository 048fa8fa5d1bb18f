"""Designs: an overlay built and measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.designers import run as run_designer
from topicloom.metrics import measure
from topicloom.model import Interest

# What designers take; whatever else is among the parameters describes the workload.
_PARAMETERS = ("k", "max_edges", "max_degree", "budget_ratio", "greedy", "random", "folds")


def run_design(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """One row: the measures, the seconds of the designer alone, and its parameters as they came to be."""
    assert interest is not None
    given = {name: parameters[name] for name in _PARAMETERS if name in parameters}
    result = run_designer(interest, parameters["designer"], seed=parameters["seed"], **given)
    measures = measure(interest, result.overlay, diameters=parameters.get("diameters", False))
    assert result.overlay.provenance is not None
    chosen = {f"parameter_{name}": value for name, value in result.overlay.provenance.parameters.items()}
    return pa.Table.from_pylist([{**measures.to_dict(), "seconds": result.seconds, **chosen}])
