"""Designs: an overlay built and measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.designers import DESIGNERS
from topicloom.designers import run as run_designer
from topicloom.metrics import measure
from topicloom.model import Interest


def run_design(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """One row: the measures, the seconds of the designer alone, and its parameters as they came to be.

    Of the parameters each designer gets its own, so that a workload may give a budget which only some of them take.
    """
    assert interest is not None
    designer = DESIGNERS[parameters["designer"]]
    result = run_designer(interest, designer.name, seed=parameters["seed"], **designer.own(parameters))
    measures = measure(interest, result.overlay, diameters=parameters.get("diameters", False))
    assert result.overlay.provenance is not None
    chosen = {f"parameter_{name}": value for name, value in result.overlay.provenance.parameters.items()}
    return pa.Table.from_pylist([{**measures.to_dict(), "seconds": result.seconds, **chosen}])
