"""What events did, one a row, and what it comes to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from topicloom.churn.maintainer import Maintainer
from topicloom.churn.state import Outcome
from topicloom.errors import InputError
from topicloom.io.tables import read_table, text_column, write_parquet
from topicloom.io.whole import replacing
from topicloom.model.events import CHANGE, JOIN, LEAVE

SCHEMA = pa.schema(
    [
        ("event", pa.int64()),
        ("kind", pa.string()),
        ("node", pa.string()),
        ("error", pa.string()),
        ("seconds", pa.float64()),
        ("upkeep_seconds", pa.float64()),
        ("links_added", pa.int64()),
        ("links_removed", pa.int64()),
        ("repair_ratio", pa.float64()),
        ("shadow", pa.int64()),
        ("nodes", pa.int64()),
        ("links", pa.int64()),
        ("average_degree", pa.float64()),
        ("max_degree", pa.int64()),
        ("support", pa.float64()),
    ]
)
# What every trace has; those of version 0.1 tell no support.
NEEDED = tuple(name for name in SCHEMA.names if name != "support")


@dataclass(frozen=True)
class TraceRow:
    """What an event did, and how the overlay was after it; the fields are the columns of a trace."""

    event: int
    kind: str
    node: str
    error: str | None
    seconds: float
    upkeep_seconds: float
    links_added: int
    links_removed: int
    repair_ratio: float
    shadow: int
    nodes: int
    links: int
    average_degree: float
    max_degree: int
    support: float


def trace_row(outcome: Outcome, maintainer: Maintainer) -> TraceRow:
    """The row of an event that has just happened.

    The repair ratio is the links that came and went against those that there were before.
    """
    change = outcome.change
    added, removed = (len(change.added), len(change.removed)) if change else (0, 0)
    nodes, links = maintainer.node_count, maintainer.link_count
    return TraceRow(
        event=outcome.event.id,
        kind=outcome.event.kind,
        node=outcome.event.node,
        error=outcome.error,
        seconds=outcome.seconds,
        upkeep_seconds=outcome.upkeep_seconds,
        links_added=added,
        links_removed=removed,
        repair_ratio=(added + removed) / outcome.links_before if outcome.links_before else 0.0,
        shadow=change.shadow if change else 0,
        nodes=nodes,
        links=links,
        average_degree=2 * links / nodes if nodes else 0.0,
        max_degree=maintainer.max_degree,
        support=maintainer.support,
    )


def write_trace(rows: Sequence[TraceRow], path: str | os.PathLike[str]) -> None:
    """Write a trace as Parquet."""
    columns = {name: [getattr(row, name) for row in rows] for name in SCHEMA.names}
    with replacing(path) as temporary:
        write_parquet(pa.table(columns, schema=SCHEMA), temporary)


def read_trace(path: str | os.PathLike[str]) -> pa.Table:
    """A trace from a file; other columns than those of `SCHEMA` are left out, and support may be missing."""
    where = os.fspath(path)
    table = read_table(path, NEEDED, ["support"])
    for at, name in enumerate(table.column_names):
        kind = table.schema.field(name).type
        if pa.types.is_string(SCHEMA.field(name).type):
            if not pa.types.is_null(kind):
                table = table.set_column(at, name, text_column(table, name, where))
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InputError(f"{where}: column '{name}' holds {kind}, not numbers; give a trace as 'maintain' wrote it")
        if name != "error" and table[name].null_count:
            raise InputError(f"{where}: column '{name}' holds nulls; give a trace as 'maintain' wrote it")
    return table


def summary(rows: Sequence[TraceRow]) -> dict[str, Any]:
    """What a trace comes to, for each kind of event that was applied and for all."""
    applied = [row for row in rows if row.error is None]
    return {
        "events": len(rows),
        "refused": len(rows) - len(applied),
        **{kind: _means([row for row in applied if row.kind == kind]) for kind in (JOIN, LEAVE, CHANGE)},
    }


def _means(rows: Sequence[TraceRow]) -> dict[str, float | int | None]:
    """How many events, and the means of what they did; None where there are none."""
    names = ("links_added", "links_removed", "repair_ratio", "shadow", "seconds", "upkeep_seconds")
    means = {name: sum(getattr(row, name) for row in rows) / len(rows) if rows else None for name in names}
    return {"events": len(rows), **means}
