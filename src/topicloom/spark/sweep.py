"""Sweeps: a grid of workloads, designers, parameters and seeds, or of generated networks and algorithms.

A cell runs the same designer, algorithm and measures as a direct call. The rows of cells that are done are appended to
`cells` in the place of the sweep, and left out when the same sweep runs again; `results.parquet` is the table of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.brokers import Fleet
from topicloom.content import Network, cost
from topicloom.content import run as run_algorithm
from topicloom.designers import DESIGNERS, DesignProblem, run
from topicloom.designers.contract import asked_for
from topicloom.designers.run import require_honoured
from topicloom.metrics import measure, measure_prices
from topicloom.model import Constraints, Interest, Prices
from topicloom.spark.cells import FOLDER, Cell, GridWatch, run_cells
from topicloom.spark.frames import frame_of, types_of
from topicloom.spark.places import Place
from topicloom.spark.shared import WITH_A_CELL_BYTES, Shared, shared
from topicloom.spark.sweep_spec import (
    NETWORK_SCHEMA,
    RESULTS,
    SCHEMA,
    NetworkRow,
    Spec,
    SweepRow,
    Workload,
    described,
    read_spec,
)
from topicloom.workloads import synthetic
from topicloom.workloads.content import content_network

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame, SparkSession

PricesOf = Callable[[Interest], Prices | None]


@dataclass(frozen=True)
class SweepResult:
    """Result of a sweep: the number of its cells, of those that ran this time and that failed, and its table."""

    cells: int
    ran: int
    failed: int
    table: pa.Table


def sweep(spark: SparkSession, spec: str | os.PathLike[str], out: str, *, watch: GridWatch | None = None) -> DataFrame:
    """Run the cells of a sweep that are not done yet; return a row for each cell.

    A cell that fails is a row with an `error`, and runs again the next time. The same spec gives the same rows but for
    `seconds`.

    Args:
        spark: the session to run on.
        spec: a TOML file that names workloads and designers, or networks and algorithms.
        out: a folder on any file system, or `table:NAME`. It gets `results.parquet`, and `cells` with what is done.
        watch: progress and cancellation, for another thread; a stop raises `GridStopped` here.

    Example:
        >>> import pathlib
        >>> _ = pathlib.Path("grid.toml").write_text('''
        ... [[workload]]
        ... nodes = [20, 30]
        ... topics = 10
        ... min_topics = 2
        ... [[designer]]
        ... name = "gm"
        ... ''')
        >>> from topicloom.spark import sweep
        >>> sweep(spark, "grid.toml", "results").select("nodes", "support").collect()
        [Row(nodes=20, support=1.0), Row(nodes=30, support=1.0)]
    """
    from pathlib import Path

    result = run_sweep(spark, plan_sweep(read_spec(Path(spec))), out, watch or GridWatch())
    return frame_of(spark, result.table)


@dataclass(frozen=True)
class SweepPlan:
    """A sweep before it runs: a cell for each row of its results, and the interests of files by fingerprint."""

    rows: tuple[SweepRow | NetworkRow, ...]
    cells: tuple[Cell, ...]
    interests: Mapping[str, Interest]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return NETWORK_SCHEMA if self.rows and isinstance(self.rows[0], NetworkRow) else SCHEMA


def plan_sweep(spec: Spec, fleet: Fleet | None = None, prices_of: PricesOf = lambda interest: None) -> SweepPlan:
    """Make the cells of a sweep. Reads the subscriptions that the spec names.

    With a fleet, designs keep to its constraints. It must have a broker for each node of a file; those of a synthetic
    workload that it does not name have its defaults. `prices_of` gives the prices of links for an interest from a file;
    synthetic ones have none.
    """
    constrained = {} if fleet is None else {"constraints": fleet.constraints.text}
    sources: dict[Workload, tuple[str | None, int, Prices | None]] = {}
    interests: dict[str, Interest] = {}
    cells = [_network_cell(row) for row in spec.networks]
    for row in spec.rows:
        if row.workload not in sources:
            sources[row.workload] = _known_of(row.workload, fleet, prices_of, interests)
        fingerprint, nodes, prices = sources[row.workload]
        require_honoured(DESIGNERS.find(row.designer), asked_for(None if fleet is None else fleet.constraints, prices))
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
    return SweepPlan((*spec.networks, *spec.rows), tuple(cells), interests)


def run_sweep(spark: SparkSession, plan: SweepPlan, out: str, watch: GridWatch) -> SweepResult:
    """Run the cells of a sweep that a place does not hold yet, and write the table of all."""
    cells = {cell.key: cell for cell in plan.cells}
    done = _Done(spark, out, plan.schema)
    pending = [cells[key] for key in done.missing_of(cells)]
    watch.kept = len(cells) - len(pending)
    # The longest first, so that none is left over when the others are done. Sorting keeps the order of equals.
    pending.sort(key=lambda cell: -cell.cost)
    errors: dict[Cell, str] = {}
    if pending:
        with ExitStack() as stack:
            needed = {cell.fingerprint for cell in pending if cell.fingerprint is not None}
            sent = {
                fingerprint: stack.enter_context(shared(spark, plan.interests[fingerprint], WITH_A_CELL_BYTES))
                for fingerprint in sorted(needed)
            }

            def task(cell: Cell) -> Callable[[], pa.Table]:
                if cell.run == _NETWORK:
                    return partial(_network_task, cell.parameters)
                return partial(_design_task, cell.parameters, sent.get(cell.fingerprint or ""))

            errors = run_cells(spark, pending, task, done.append, watch)
    table = done.results(plan, errors)
    return SweepResult(table.num_rows, len(pending), table.num_rows - table["error"].null_count, table)


class _Done:
    """The rows of cells that are done, in the place of a sweep."""

    def __init__(self, spark: SparkSession, place: str, schema: pa.Schema) -> None:
        self._spark = spark
        self._place = Place(spark, place)
        self._schema = pa.schema([("key", pa.string()), *schema])

    def missing_of(self, keys: Mapping[str, Cell]) -> list[str]:
        """Keys without a row, in their order."""
        wanted = frame_of(self._spark, pa.table({"order": range(len(keys)), "key": list(keys)}))
        kept = self._kept()
        missing = wanted if kept is None else wanted.join(kept.select("key"), "key", "left_anti")
        found: list[str] = missing.orderBy("order").toArrow()["key"].to_pylist()
        return found

    def append(self, rows: Sequence[tuple[Cell, pa.Table]]) -> None:
        """Keep the rows of some cells."""
        records = [{"key": cell.key, **record} for cell, table in rows for record in table.to_pylist()]
        frame = frame_of(self._spark, pa.Table.from_pylist(records, self._schema))
        self._place.write(frame.coalesce(1), FOLDER, "append")

    def results(self, plan: SweepPlan, errors: Mapping[Cell, str]) -> pa.Table:
        """Write and return a row for each cell: what describes it, and its measures or its error."""
        kept, measured = self._kept(), dict[str, dict[str, Any]]()
        if kept is not None:
            wanted = frame_of(self._spark, pa.table({"key": [cell.key for cell in dict.fromkeys(plan.cells)]}))
            measured = {record["key"]: record for record in kept.join(wanted, "key", "left_semi").toArrow().to_pylist()}
        records = []
        for row, cell in zip(plan.rows, plan.cells, strict=True):
            found = {"error": errors[cell]} if cell in errors else measured[cell.key]
            records.append({**described(row), **{name: value for name, value in found.items() if value is not None}})
        table = pa.Table.from_pylist(records, pa.schema(list(self._schema)[1:]))
        self._place.write(frame_of(self._spark, table).coalesce(1), RESULTS, "overwrite")
        return table

    def _kept(self) -> DataFrame | None:
        return self._place.find(FOLDER, types_of(self._schema))


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
    """Design and measure: a row of measures, seconds of the designer alone, its parameters and facts."""
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


def _design_task(given: Mapping[str, Any], sent: Shared[Interest] | None) -> pa.Table:
    interest = synthetic(**given["workload"]) if sent is None else sent.value
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
    workload: Workload, fleet: Fleet | None, prices_of: PricesOf, interests: dict[str, Interest]
) -> tuple[str | None, int, Prices | None]:
    """The fingerprint of a workload from a file, how many nodes it has, and its prices."""
    if workload.synthetic is not None:
        return None, int(dict(workload.synthetic)["nodes"]), None
    assert workload.path is not None
    interest = Interest.read(
        workload.path,
        node_column=workload.node_column,
        topic_column=workload.topic_column,
        filters=workload.filters,
    )
    if fleet is not None:
        fleet.require_brokers(interest.node_names)
    interests[interest.fingerprint] = interest
    return interest.fingerprint, interest.node_count, prices_of(interest)


_NETWORK = "content"


def _network_cell(row: NetworkRow) -> Cell:
    network = dict(row.network)
    parameters = {**network, "algorithm": row.algorithm, "routing": row.routing}
    return Cell(_NETWORK, parameters, cost=int(network["users"]) * int(network["brokers"]))


def _network_task(given: Mapping[str, Any]) -> pa.Table:
    parameters = {**given}
    algorithm, routing = parameters.pop("algorithm"), parameters.pop("routing")
    return pa.Table.from_pylist([network_row(parameters, algorithm, routing)])


def network_row(parameters: Mapping[str, Any], algorithm: str, routing: str = "shared") -> dict[str, Any]:
    """Generate a network and run an algorithm on it: its cost, and how that of a random assignment compares."""
    network, random = _drawn(tuple(parameters.items()), routing)
    result = run_algorithm(network, algorithm, seed=parameters["seed"])
    priced = cost(result.assignment, routing=routing, seed=parameters["seed"])
    return {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "cost_reduction_ratio": random / priced.total if priced.total else None,
        "seconds": result.seconds,
        "processor_seconds": result.processor_seconds,
    }


@lru_cache(maxsize=1)
def _drawn(parameters: tuple[tuple[str, Any], ...], routing: str) -> tuple[Network, float]:
    """Draw a network; return it and the cost of a random assignment.

    Cells of one network follow each other, so a worker keeps the latest: drawing 10,000 users takes longer than all
    algorithms together.
    """
    given: dict[str, Any] = dict(parameters)
    network = content_network(**given).network
    placed = run_algorithm(network, "random", seed=given["seed"]).assignment
    return network, cost(placed, routing=routing, seed=given["seed"]).total
