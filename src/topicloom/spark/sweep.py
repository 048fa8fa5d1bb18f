"""Sweeps: a grid of workloads, designers, parameters and seeds.

A cell runs the same designer and measures as everybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.brokers import Fleet
from topicloom.designers import DESIGNERS, DesignProblem, run
from topicloom.designers.contract import asked_for
from topicloom.designers.run import require_honoured
from topicloom.errors import InputError
from topicloom.metrics import measure, measure_prices
from topicloom.model import Constraints, Interest, Prices
from topicloom.spark.grid import FOLDER, Cell, Grid, GridWatch, plan_grid, require_grid_folder, run_grid
from topicloom.spark.sweep_spec import RESULTS, SCHEMA, Spec, Workload, described, read_spec, write_sweep_table
from topicloom.workloads import synthetic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class PlannedSweep:
    """A sweep before it runs: a cell for each row of its results, and the files to read, by their fingerprints."""

    spec: Spec
    out: Path
    cells: tuple[Cell, ...]
    files: Mapping[str, Workload]
    grid: Grid


@dataclass(frozen=True)
class SweepResult:
    """What a sweep came to: how many cells it has, how many of them ran this time, and failed; and its table."""

    cells: int
    ran: int
    failed: int
    results: Path
    table: pa.Table


def sweep(spark: SparkSession, spec: Path, out: Path, *, watch: GridWatch | None = None) -> SweepResult:
    """Run the cells of a spec that the folder `out` does not hold yet, then write its `results.parquet`.

    Cells that failed before run again. The same spec gives the same table but for `seconds`. `watch` lets another
    thread see how far it is, or stop it, which raises `GridStopped` here.
    """
    plan = plan_sweep(read_spec(spec), out)
    return write_sweep(plan, run_sweep(spark, plan, watch or GridWatch()))


def plan_sweep(
    spec: Spec,
    out: Path,
    fleet: Fleet | None = None,
    prices_of: Callable[[Interest], Prices | None] = lambda interest: None,
) -> PlannedSweep:
    """Find which cells are still to run. Reads the subscriptions that the spec names; writes nothing.

    With a fleet, designs keep to its constraints. It must have a broker for each node of a file; those of a synthetic
    workload that it does not name have its defaults. `prices_of` gives the prices of links for an interest from a file;
    synthetic ones have none.
    """
    require_grid_folder(out, "a sweep")
    constrained = {} if fleet is None else {"constraints": fleet.constraints.text}
    sources: dict[Workload, tuple[str | None, int, Prices | None]] = {}
    cells = []
    for row in spec.rows:
        if row.workload not in sources:
            sources[row.workload] = _known_of(row.workload, fleet, prices_of)
        fingerprint, nodes, prices = sources[row.workload]
        require_honoured(DESIGNERS.find(row.designer), asked_for(fleet, prices))
        parameters = {
            "workload": None if row.workload.synthetic is None else dict(row.workload.synthetic),
            "designer": row.designer,
            "parameters": dict(row.parameters),
            "seed": row.seed,
            "diameters": row.diameters,
            **constrained,
            **({} if prices is None else {"prices": prices.text}),
        }
        # Designers look at pairs of nodes.
        cells.append(Cell("sweep", parameters, fingerprint, cost=nodes * nodes))
    files = {fingerprint: workload for workload, (fingerprint, *_) in sources.items() if fingerprint is not None}
    return PlannedSweep(spec, out, tuple(cells), files, plan_grid(cells, out / FOLDER))


def run_sweep(spark: SparkSession, plan: PlannedSweep, watch: GridWatch) -> dict[Cell, str]:
    """Run the cells that are still to run and keep each of them as soon as it is done; gives the errors of others."""

    def needed(cell: Cell) -> tuple[str, Callable[[], Interest]] | None:
        """The interest that an executor needs, as it may not see the file; None where it is drawn there."""
        fingerprint = cell.fingerprint
        return None if fingerprint is None else (fingerprint, lambda: _unchanged(plan.files[fingerprint], fingerprint))

    return run_grid(spark, plan.grid, _in_executor, watch, needed)


def write_sweep(plan: PlannedSweep, errors: Mapping[Cell, str]) -> SweepResult:
    """Put the cells, which all have run, together in one table and write it."""
    rows = zip(plan.cells, map(described, plan.spec.rows), strict=True)
    table = plan.grid.table(rows, errors, SCHEMA)
    path = plan.out / RESULTS
    write_sweep_table(path, table, plan.spec.text)
    failed = table.num_rows - table["error"].null_count
    return SweepResult(table.num_rows, len(plan.grid.pending), failed, path, table)


def design_row(
    interest: Interest,
    designer: str,
    parameters: Mapping[str, Any],
    seed: int,
    *,
    diameters: bool,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
) -> pa.Table:
    """Design and measure: one row of measures, seconds of the designer alone, parameters as they came to be, and what
    else the designer has to say."""
    problem = DesignProblem.of(interest, constraints=constraints, prices=prices, seed=seed)
    result = run(problem, designer, **parameters)
    measures = measure(interest, result.overlay, diameters=diameters)
    assert result.overlay.provenance is not None
    chosen = {f"parameter_{name}": value for name, value in result.overlay.provenance.parameters.items()}
    return pa.Table.from_pylist(
        [
            {
                **measures.to_dict(),
                **({} if prices is None else measure_prices(interest, result.overlay, prices).to_dict()),
                "seconds": result.seconds,
                **chosen,
                **result.overlay.provenance.facts,
            }
        ]
    )


def _in_executor(cell: Cell, interest: Interest | None) -> pa.Table:
    """Run a cell; this is the task."""
    given = cell.parameters
    if interest is None:
        interest = synthetic(**given["workload"])
    text, prices = given.get("constraints"), given.get("prices")
    return design_row(
        interest,
        given["designer"],
        given["parameters"],
        given["seed"] or 0,
        diameters=given["diameters"],
        constraints=None if text is None else Constraints.from_text(text),
        prices=None if prices is None else Prices.from_text(prices),
    )


def _known_of(
    workload: Workload, fleet: Fleet | None, prices_of: Callable[[Interest], Prices | None]
) -> tuple[str | None, int, Prices | None]:
    """The fingerprint of a workload from a file, how many nodes it has, and its prices."""
    if workload.synthetic is not None:
        return None, int(dict(workload.synthetic)["nodes"]), None
    interest = _read(workload)
    if fleet is not None:
        fleet.require_brokers(interest.node_names)
    return interest.fingerprint, interest.node_count, prices_of(interest)


def _read(workload: Workload) -> Interest:
    assert workload.path is not None
    return Interest.read(
        workload.path,
        node_column=workload.node_column,
        topic_column=workload.topic_column,
        filters=workload.filters,
    )


def _unchanged(workload: Workload, fingerprint: str) -> Interest:
    interest = _read(workload)
    if interest.fingerprint != fingerprint:
        raise InputError("has changed since the sweep began; run it again", file=workload.path)
    return interest
