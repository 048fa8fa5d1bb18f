"""`topicloom spark sweep`."""

from __future__ import annotations

from pathlib import Path

import click

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark sweep grid.toml --out results
  topicloom spark sweep grid.toml --out s3a://data/results \\
      --master spark://host:7077
  topicloom spark sweep grid.toml --fleet fleet.toml --prices latency.csv \\
      --out results

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

docs/spark.md has all of it.
"""


@command("sweep", examples=EXAMPLES)
@click.argument("spec", metavar="SPEC", type=options.PATH, help="TOML file that says what to run.")
@options.option(
    "--out",
    "-o",
    metavar="PLACE",
    required=True,
    help="Folder or table:NAME of the results, new or of an earlier run.",
)
@options.fleet
@options.prices
@options.spark
def sweep(run: Run, spec: Path, out: str) -> View:
    """Run a grid of workloads, designers and seeds.

    PLACE/results.parquet gets a row for each cell of the grid: its parameters, all measures, seconds, and its error if
    it failed. Cells that are done are kept: after Ctrl-C or a crash the same command goes on, and runs cells that
    failed again. A SPEC with [[network]] and [[algorithm]] runs algorithms on content-based networks.
    """
    from topicloom.spark.cells import GridWatch, require_folder
    from topicloom.spark.places import has_scheme
    from topicloom.spark.sweep import plan_sweep, run_sweep
    from topicloom.spark.sweep_spec import read_spec
    from topicloom.views import sweeps
    from topicloom.views.numbers import time_left

    read = read_spec(spec)
    if run.shared["prices"] is not None and any(row.workload.synthetic is not None for row in read.rows):
        raise InputError("prices are of nodes that a file names; leave out synthetic workloads, or prices", "prices")
    if not has_scheme(out):
        require_folder(Path(out), "a sweep")
    plan = run.step("reading workloads", plan_sweep, read, run.fleet, run.prices_of)
    watch = GridWatch()
    with run.on_spark("sweep", little_data=True) as work:
        try:
            result = work.do(
                "cells",
                lambda session: run_sweep(session, plan, out, watch),
                watch=watch,
                total=len(plan.cells),
                note=lambda: time_left(watch.seconds_left),
            )
        except KeyboardInterrupt:
            # A person wants to know what is lost: nothing of what is done.
            done = f"{watch.kept + watch.done:,} of {len(set(plan.cells)):,} cells are done and kept"
            raise KeyboardInterrupt(f"stopped; {done}, the same command goes on from there") from None
    return sweeps.sweep(result, out)
