"""Results of sweeps from files: runs that differ in nothing but their seeds, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.files.columns import numbers
from topicloom.files.name_tables import column_names, names_column, read_table
from topicloom.report.page.kind import Form, Reading

# What is shown of each run: its column, and what it is called.
MEASURES: Mapping[str, str] = {
    "support": "support",
    "average_degree": "average degree",
    "max_degree": "max degree",
    "edges": "links",
    "seconds": "seconds",
}
RESULTS = "results.parquet"
SWEEP = Form("sweep", columns=("workload", "designer", *MEASURES, "error"), parts=(RESULTS, "cells"))

_WORKLOAD, _PARAMETER = "workload_", "parameter_"
# What a budget ratio came to, which differs from seed to seed.
_BUDGETS = ("max_edges", "max_degree")


@dataclass(frozen=True)
class SweptCell:
    """Runs of a designer on a workload with different seeds: how many there were, and the mean of each measure."""

    workload: tuple[Any, ...]
    designer: str
    runs: int
    means: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class ShownSweep:
    """Cells of a grid. `varying` names what differs between workloads, in the order of `SweptCell.workload`."""

    name: str
    varying: tuple[str, ...]
    cells: tuple[SweptCell, ...]
    errors: tuple[tuple[str, str], ...]


def read_sweeps(reading: Reading) -> list[ShownSweep]:
    """Read all results of sweeps."""
    return [ShownSweep(name, *read) for name, read in reading.named(SWEEP, _sweep)]


def _sweep(path: Path) -> tuple[tuple[str, ...], tuple[SweptCell, ...], tuple[tuple[str, str], ...]]:
    file = path / RESULTS if path.is_dir() else path
    present = column_names(file)
    settings = [name for name in present if name.startswith((_WORKLOAD, _PARAMETER)) and name != f"{_WORKLOAD}seed"]
    table = read_table(file, SWEEP.columns, optional=settings)
    _require_plain(table, [*settings, "error"], str(file))
    for column in ("workload", "designer"):
        names_column(table, column, str(file))
    rows = table.to_pylist()
    done = table.filter(pa.array([row["error"] is None for row in rows], pa.bool_()))
    measured = {column: numbers(done, column, str(file)).tolist() for column in MEASURES}
    workload = ["workload", *(name for name in settings if name.startswith(_WORKLOAD))]
    varying = [name for name in workload if len({row[name] for row in rows}) > 1]
    groups: dict[tuple[tuple[Any, ...], str], list[int]] = {}
    for at, row in enumerate(done.to_pylist()):
        groups.setdefault((tuple(row[name] for name in varying), _designer(row)), []).append(at)
    cells = tuple(
        SweptCell(
            key[0], key[1], len(at), {name: sum(values[i] for i in at) / len(at) for name, values in measured.items()}
        )
        for key, at in groups.items()
    )
    errors = tuple((_designer(row), str(row["error"])) for row in rows if row["error"] is not None)
    return tuple(name.removeprefix(_WORKLOAD) for name in varying), cells, errors


def setting(value: Any) -> str:
    """A setting of a workload or a designer as text."""
    if value is None:
        return "–"
    return f"{value:,g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _require_plain(table: pa.Table, columns: list[str], where: str) -> None:
    for column in columns:
        kind = table.schema.field(column).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise InputError(f"{where}: column '{column}' holds {kind}, not numbers or text")


def _designer(row: Mapping[str, Any]) -> str:
    """The designer with its parameters; of a budget ratio, not the budget that it came to."""
    given = {
        name.removeprefix(_PARAMETER): value
        for name, value in row.items()
        if name.startswith(_PARAMETER) and value is not None
    }
    if "budget_ratio" in given:
        given = {name: value for name, value in given.items() if name not in _BUDGETS}
    told = ", ".join(f"{name} {setting(value)}" for name, value in given.items())
    return f"{row['designer']} ({told})" if told else str(row["designer"])
