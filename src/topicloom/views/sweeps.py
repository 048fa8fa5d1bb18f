"""Views of a sweep that ran: how many cells, what failed, and the means of algorithms on content-based networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.views.numbers import Number, amount, count, mean, text
from topicloom.views.view import Column, Fact, Note, On, Table, View

if TYPE_CHECKING:
    import pyarrow as pa

    from topicloom.spark.sweep import SweepResult

# Errors that are shown; the table has all of them.
_SHOWN_ERRORS = 5
_KEYS = ("algorithm", "users", "brokers", "access_to_core")


def sweep(result: SweepResult, out: str) -> View:
    """The cells of a sweep, and the first that failed."""
    failed = [row for row in result.table.to_pylist() if row["error"] is not None]
    notes = [Note(printable(f"failed: {_name(row)}: {row['error']}")) for row in failed[:_SHOWN_ERRORS]]
    if len(failed) > _SHOWN_ERRORS:
        notes.append(Note(f"and {len(failed) - _SHOWN_ERRORS:,} more; see the column error"))
    networks = [_of_networks(result.table)] if "algorithm" in result.table.column_names else []
    return View(
        "sweep",
        "Sweep",
        (
            Fact("cells", result.cells, count),
            Fact("ran", result.ran, count, "run now"),
            Fact("kept", result.cells - result.ran, count, "done before"),
            Fact("failed", result.failed, count),
            *networks,
            *notes,
            Fact("out", out, on=On.DATA),
            Note(f"results written to {printable(out)}", on=On.TEXT),
        ),
    )


def _name(row: dict[str, Any]) -> str:
    if "designer" in row:
        return f"{row['designer']} on {row['workload']}"
    return f"{row['algorithm']} with {row['users']:,} users and seed {row['seed']}"


def _of_networks(table: pa.Table) -> Table:
    """The mean of each algorithm over the networks of one shape."""
    grouped = table.group_by(_KEYS, use_threads=False).aggregate(
        [("seed", "count"), ("cost_reduction_ratio", "mean"), ("seconds", "mean")]
    )
    records = grouped.rename_columns([*_KEYS, "networks", "cost_reduction_ratio", "seconds"]).to_pylist()
    columns = (
        Column("algorithm", text),
        Column("users", count),
        Column("brokers", count),
        Column("access_to_core", amount, "access\n/ core"),
        Column("networks", count),
        Column("cost_reduction_ratio", _known, "random\n/ this"),
        Column("seconds", _known),
    )
    return Table.of("networks", columns, records)


def _known(value: float | None) -> str | Number:
    return "" if value is None else mean(value)
