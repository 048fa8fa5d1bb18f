"""The results of a sweep as one table, `results.parquet`: a row for each cell, in the order of the spec.

Its columns are the same for every sweep, so that results of several can be put together:

- `workload` (its name), `workload_file`, and the parameters of synthetic ones: `workload_nodes`, ...
- `designer`, its parameters, `parameter_k`, ..., and `seed`, null for designers that draw nothing
- all fields of `Measures`, those of `PriceMeasures`, which are null without prices
- `seconds` of the designer alone, and `error`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom._version import __version__
from topicloom.designers import DESIGNERS
from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.files.name_tables import column_names, names_column, read_table
from topicloom.files.parquet import write_parquet
from topicloom.metrics import Measures, PriceMeasures
from topicloom.pipeline.sweeps.sweep_spec import SYNTHETIC_KINDS, SweepRow

RESULTS = "results.parquet"
# How the columns begin that tell the settings of workloads and of designers.
WORKLOAD, PARAMETER = "workload_", "parameter_"

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
    yield from ((f"{WORKLOAD}{key}", _TYPES[kind]) for key, kind in SYNTHETIC_KINDS.items())
    yield "designer", pa.string()
    parameters = {p.name: p.kind for designer in DESIGNERS.values() for p in designer.parameters}
    yield from ((f"{PARAMETER}{name}", _TYPES[kind]) for name, kind in (parameters | {"budget_ratio": float}).items())
    yield "seed", pa.int64()
    yield from ((field.name, _TYPES[field.type]) for field in fields(Measures))
    yield from ((field.name, _TYPES[field.type]) for field in fields(PriceMeasures))
    yield "seconds", pa.float64()
    yield "error", pa.string()


SCHEMA = pa.schema(list(_columns()))


def described(row: SweepRow) -> dict[str, Any]:
    """What a row says of its run: the columns before the measures."""
    return {
        "workload": row.workload.name,
        "workload_file": row.workload.file,
        **{f"{WORKLOAD}{key}": value for key, value in row.workload.synthetic or ()},
        "designer": row.designer,
        **{f"{PARAMETER}{name}": value for name, value in row.parameters},
        "seed": row.seed,
    }


def write_sweep_table(path: Path, table: pa.Table, spec: str) -> None:
    """Write the table as Parquet, with the text of the spec and our version in its metadata."""
    with replacing(path) as temporary:
        write_parquet(table.replace_schema_metadata({"version": __version__, "spec": spec}), temporary)


def read_sweep_table(path: Path, measures: Sequence[str]) -> pa.Table:
    """Results of sweeps from a file, or from the folder of one: `workload`, `designer`, their settings, these measures
    and `error`. A setting is null where it does not apply, a measure where there is an error."""
    file = path / RESULTS if path.is_dir() else path
    present = column_names(file)
    settings = [name for name in present if name.startswith((WORKLOAD, PARAMETER))]
    # As version 0.1 called it.
    asked = [
        "edges" if name == "links" and "links" not in present and "edges" in present else name for name in measures
    ]
    table = read_table(file, ("workload", "designer", *asked, "error"), optional=settings)
    table = table.rename_columns(["links" if name == "edges" else name for name in table.column_names])
    for column in ("workload", "designer"):
        names_column(table, column, str(file))
    for column in (*settings, "error"):
        kind = table.schema.field(column).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise InputError(f"column '{column}' holds {kind}, not numbers or text", file=file)
    return table
