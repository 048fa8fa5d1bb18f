"""`topicloom sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.grid_work import run_and_write
from topicloom.errors import InputError
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom sweep grid.toml --out results
  topicloom sweep grid.toml --out results --master spark://host:7077
  topicloom sweep grid.toml --fleet fleet.toml --prices latency.csv \\
      --out results

\b
A SPEC, in which a list means all of its values:
  seed = [1, 2, 3]
  [[workload]]
  nodes = [1000, 2000]
  topics = 100
  popularity = ["uniform", "zipf"]
  min_topics = 10
  [[designer]]
  name = ["gm", "minmax-oda"]
  [[designer]]
  name = "gpm"
  max_degree = [4, 8]

docs/pipeline.md tells all of it.
"""

# Errors that are shown; the table has all of them.
_SHOWN_ERRORS = 5


def command(
    *,
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="TOML file that says what to run.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write to; new, or one that a sweep wrote.")
    ],
    limits: options.FleetLimits,
    costs: options.PriceFile,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Run a grid of workloads, designers and seeds on Spark.

    Each cell of the grid is one task. DIR/results.parquet gets a row for each: its parameters, all measures, seconds,
    and its error if it failed. Cells that are done are kept: after Ctrl-C or a crash the same command goes on, and
    cells that failed are tried again.
    """
    from topicloom.spark.sweep import plan_sweep, run_sweep, write_sweep
    from topicloom.spark.sweep_spec import read_spec

    read = read_spec(spec)
    if costs.prices is not None and any(row.workload.synthetic is not None for row in read.rows):
        raise InputError("prices are of nodes that a file names; leave out synthetic workloads, or prices", "prices")
    fleet = limits.read()
    with printing.working(spark) as working:
        plan = working.do(
            "looking for finished cells", lambda: plan_sweep(read, out, fleet, partial(costs.read, fleet))
        )
        result = run_and_write(
            working,
            spark,
            "sweep",
            plan.grid,
            lambda session, watch, _: run_sweep(session, plan, watch),
            ("writing results", lambda errors: write_sweep(plan, errors)),
        )
    facts = {"cells": result.cells, "ran": result.ran, "failed": result.failed, "out": str(result.results)}
    if printing.json:
        output.print_json(facts)
        return
    _print(facts, [row for row in result.table.to_pylist() if row["error"] is not None])
    printing.written(result.results)


def _print(facts: dict[str, Any], failed: Sequence[dict[str, Any]]) -> None:
    kept = facts["cells"] - facts["ran"]
    output.print_facts(
        [
            ("cells", numbers.count(facts["cells"])),
            ("run now", numbers.count(facts["ran"])),
            ("done before", numbers.count(kept)),
            ("failed", numbers.count(facts["failed"])),
        ]
    )
    for row in failed[:_SHOWN_ERRORS]:
        output.say(output.one_line(f"failed: {row['designer']} on {row['workload']}: {row['error']}"))
    if len(failed) > _SHOWN_ERRORS:
        output.say(f"and {numbers.count(len(failed) - _SHOWN_ERRORS)} more; see the column error")
