"""The functions that a figure's file may name, and the interests that they run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from topicloom.experiments.runs.backup_runs import run_backups
from topicloom.experiments.runs.ccdf_runs import run_ccdf
from topicloom.experiments.runs.churn_runs import run_churn
from topicloom.experiments.runs.content_runs import run_content
from topicloom.experiments.runs.design_runs import run_design
from topicloom.experiments.runs.step_runs import run_steps
from topicloom.model import Interest
from topicloom.pipeline.grids.cell import Cell
from topicloom.workloads import synthetic

# Each gets the parameters of its cell and the interest, if it has one, and gives the rows that it measured.
Run = Callable[[Mapping[str, Any], Interest | None], pa.Table]

RUNS: Mapping[str, Run] = {
    "design": run_design,
    "churn": run_churn,
    "backups": run_backups,
    "steps": run_steps,
    "content": run_content,
    "ccdf": run_ccdf,
}

# Runs that make what they run on by themselves.
WITHOUT_INTEREST = ("content",)

_SYNTHETIC = ("nodes", "topics", "popularity", "alpha", "sizes", "min_topics", "max_topics", "size_exponent", "seed")

_READ_AS = "exponential_as"


# A few are kept, as runs on one interest come close together, and a budget ratio costs a whole design.
@lru_cache(maxsize=4)
def _drawn(parameters: tuple[tuple[str, Any], ...]) -> Interest:
    """An interest; `exponential_as` says what popularity the exponential one is read as."""
    shape = dict(parameters)
    read_as = shape.pop(_READ_AS, None)
    if read_as and shape["popularity"] == "exponential":
        shape["popularity"] = read_as
    return synthetic(**shape)


def run_cell(cell: Cell, interest: Interest | None) -> pa.Table:
    """Run a cell; this is the task. A synthetic interest is drawn here, others are sent."""
    parameters = cell.parameters
    if interest is None and cell.run not in WITHOUT_INTEREST:
        interest = _drawn(tuple((name, parameters[name]) for name in (*_SYNTHETIC, _READ_AS) if name in parameters))
    return RUNS[cell.run](parameters, interest)
