"""Results of sweeps from files: runs that differ in nothing but their seeds, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.files.columns import numbers
from topicloom.pipeline.sweeps.sweep_table import PARAMETER, RESULTS, WORKLOAD, read_sweep_table
from topicloom.report.page.kind import Form, Reading

# What is shown of each run: its column, and what it is called.
MEASURES: Mapping[str, str] = {
    "support": "support",
    "average_degree": "average degree",
    "max_degree": "max degree",
    "links": "links",
    "seconds": "seconds",
}
# Without links, which version 0.1 called edges.
_TOLD_BY = ("workload", "designer", *(name for name in MEASURES if name != "links"), "error")
SWEEP = Form("sweep", columns=_TOLD_BY, parts=(RESULTS, "cells"))

# What a budget ratio came to, which differs from seed to seed.
_BUDGETS = ("max_edges", "max_degree")


@dataclass(frozen=True)
class Averaged:
    """Runs of a designer on a workload with different seeds: how many there were, and the mean of each measure."""

    workload: tuple[Any, ...]
    designer: str
    runs: int
    means: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class ShownSweep:
    """Averaged runs. `varying` names what differs between workloads, in the order of `Averaged.workload`."""

    name: str
    varying: tuple[str, ...]
    cells: tuple[Averaged, ...]
    errors: tuple[tuple[str, str], ...]


def read_sweeps(reading: Reading) -> list[ShownSweep]:
    """Read all results of sweeps."""
    return [ShownSweep(name, *read) for name, read in reading.named(SWEEP, _sweep)]


def _sweep(path: Path) -> tuple[tuple[str, ...], tuple[Averaged, ...], tuple[tuple[str, str], ...]]:
    where, table = str(path / RESULTS if path.is_dir() else path), read_sweep_table(path, tuple(MEASURES))
    rows = table.to_pylist()
    done = table.filter(pa.array([row["error"] is None for row in rows], pa.bool_()))
    measured = {column: numbers(done, column, where).tolist() for column in MEASURES}
    workload = [name for name in table.column_names if name.startswith("workload") and name != f"{WORKLOAD}seed"]
    varying = [name for name in workload if len({row[name] for row in rows}) > 1]
    groups: dict[tuple[tuple[Any, ...], str], list[int]] = {}
    for at, row in enumerate(done.to_pylist()):
        groups.setdefault((tuple(row[name] for name in varying), _designer(row)), []).append(at)
    cells = tuple(
        Averaged(*key, len(at), {name: sum(values[i] for i in at) / len(at) for name, values in measured.items()})
        for key, at in groups.items()
    )
    errors = tuple((_designer(row), str(row["error"])) for row in rows if row["error"] is not None)
    return tuple(name.removeprefix(WORKLOAD) for name in varying), cells, errors


def setting(value: Any) -> str:
    """A setting of a workload or a designer as text."""
    if value is None:
        return "–"
    return f"{value:,g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _designer(row: Mapping[str, Any]) -> str:
    """The designer with its parameters; of a budget ratio, not the budget that it came to."""
    given = {
        name.removeprefix(PARAMETER): value
        for name, value in row.items()
        if name.startswith(PARAMETER) and value is not None
    }
    if "budget_ratio" in given:
        given = {name: value for name, value in given.items() if name not in _BUDGETS}
    told = ", ".join(f"{name} {setting(value)}" for name, value in given.items())
    return f"{row['designer']} ({told})" if told else str(row["designer"])
