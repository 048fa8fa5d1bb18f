"""Traces of churn from the files that `topicloom maintain` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.files.name_tables import read_table
from topicloom.report.page.kind import Form, Reading

# As far as the page shows them.
TRACE_COLUMNS = (
    *("event", "kind", "node", "error", "seconds", "upkeep_seconds", "links_added", "links_removed"),
    *("repair_ratio", "shadow", "nodes", "links", "average_degree", "max_degree"),
)
TRACE = Form("trace", columns=TRACE_COLUMNS)


@dataclass(frozen=True, eq=False)
class Trace:
    """What events did to an overlay, one a row."""

    name: str
    table: pa.Table


def read_traces(reading: Reading) -> list[Trace]:
    """Read all traces."""
    return [Trace(name, table) for name, table in reading.named(TRACE, _trace)]


def _trace(path: Path) -> pa.Table:
    table = read_table(path, TRACE_COLUMNS)
    for name in TRACE_COLUMNS:
        kind = table.schema.field(name).type
        if name not in ("kind", "node", "error") and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InputError(f"{path}: column '{name}' holds {kind}, not numbers; give a trace as 'maintain' wrote it")
        if name != "error" and table[name].null_count:
            raise InputError(f"{path}: column '{name}' holds nulls; give a trace as 'maintain' wrote it")
    return table
