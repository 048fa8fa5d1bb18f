"""The results of a sweep as one table: a row for each cell, in the order of the spec.

Its columns are the same for every sweep, so that results of several can be put together:

- `workload` (its name), `workload_file`, and the parameters of synthetic ones: `workload_nodes`, ...
- `designer`, its parameters, `parameter_k`, ..., and `seed`, null for designers that draw nothing
- all fields of `Measures`, then `seconds` of the designer alone, and `error`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from topicloom._version import __version__
from topicloom.designers import DESIGNERS
from topicloom.files.atomic import replacing
from topicloom.metrics import Measures
from topicloom.pipeline.grids.sweep_cells import Outcome
from topicloom.pipeline.grids.sweep_spec import SYNTHETIC_KINDS, Cell

_TYPES: dict[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    # Annotations of Measures are text.
    "int": pa.int64(),
    "int | None": pa.int64(),
    "float": pa.float64(),
    "float | None": pa.float64(),
    "bool": pa.bool_(),
}


def _columns() -> Iterator[tuple[str, pa.DataType]]:
    yield "workload", pa.string()
    yield "workload_file", pa.string()
    yield from ((f"workload_{key}", _TYPES[kind]) for key, kind in SYNTHETIC_KINDS.items())
    yield "designer", pa.string()
    parameters = {p.name: p.kind for designer in DESIGNERS.values() for p in designer.parameters}
    yield from ((f"parameter_{name}", _TYPES[kind]) for name, kind in (parameters | {"budget_ratio": float}).items())
    yield "seed", pa.int64()
    yield from ((field.name, _TYPES[field.type]) for field in fields(Measures))
    yield "seconds", pa.float64()
    yield "error", pa.string()


SCHEMA = pa.schema(list(_columns()))


def results_table(rows: Sequence[tuple[Cell, Outcome]]) -> pa.Table:
    """The table of cells and what they gave."""
    return pa.Table.from_pylist([_row(cell, outcome) for cell, outcome in rows], SCHEMA)


def write_results(path: Path, table: pa.Table, spec: str) -> None:
    """Write the table as Parquet, with the text of the spec and our version in its metadata."""
    with replacing(path) as temporary:
        pyarrow.parquet.write_table(table.replace_schema_metadata({"version": __version__, "spec": spec}), temporary)


def _row(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    parameters = dict(cell.parameters) | outcome.parameters
    return {
        "workload": cell.workload.name,
        "workload_file": cell.workload.file,
        **{f"workload_{key}": value for key, value in cell.workload.synthetic or ()},
        "designer": cell.designer,
        **{f"parameter_{name}": value for name, value in parameters.items()},
        "seed": cell.seed,
        **outcome.measures,
        "seconds": outcome.seconds,
        "error": outcome.error,
    }
