"""Sweeps: the same numbers as direct calls, kept cell by cell."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from topicloom import InputError, Interest, Prices, measure, synthetic
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.content import cost, run
from topicloom.designers import design
from topicloom.metrics import measure_prices
from topicloom.spark import sweep as sweep_frame
from topicloom.spark.cells import Cell, GridStopped, GridWatch, run_cells
from topicloom.spark.sweep import SweepResult, plan_sweep, run_sweep
from topicloom.spark.sweep_spec import NETWORK_SCHEMA, read_spec
from topicloom.workloads.content import content_network

sweeping = sys.modules["topicloom.spark.sweep"]

SPEC = """
seed = [1, 2]

[[workload]]
name = "drawn"
nodes = [20, 30]
topics = 10
popularity = "zipf"
sizes = "uniform"
min_topics = 2
max_topics = 4

[[workload]]
file = "subs.parquet"

[[designer]]
name = ["gm", "low-oda"]

[[designer]]
name = "random-m"
budget_ratio = 0.5
"""
CELLS = 2 * 2 * 3 + 2 + 2


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    synthetic(25, 8, min_topics=3, seed=9).write(tmp_path / "subs.parquet")
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


def swept(spark: SparkSession, spec: Path, out: Path, watch: GridWatch | None = None) -> SweepResult:
    return run_sweep(spark, plan_sweep(read_spec(spec)), str(out), watch or GridWatch())


def without_seconds(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["seconds"]).to_pylist()


def test_rows_are_those_of_direct_calls(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    result = swept(spark, spec, tmp_path / "out")
    assert (result.cells, result.ran, result.failed) == (CELLS, CELLS, 0)
    assert pyarrow.parquet.read_table(tmp_path / "out" / "results.parquet").equals(result.table)
    rows = result.table.to_pylist()
    expected = []
    for nodes, seed in ((20, 1), (20, 2), (30, 1), (30, 2), (None, None)):
        if nodes is None:
            interest = Interest.read(tmp_path / "subs.parquet")
        else:
            shape: Any = {"popularity": "zipf", "sizes": "uniform", "min_topics": 2, "max_topics": 4}
            interest = synthetic(nodes, 10, seed=seed or 0, **shape)
        expected += [direct(interest, "gm", 0), direct(interest, "low-oda", 0)]
        expected += [direct(interest, "random-m", own, budget_ratio=0.5) for own in ([seed] if seed else [1, 2])]
    for row, (parameters, seed, measures) in zip(rows, expected, strict=True):
        assert {name: row[name] for name in measures} == measures
        assert {name: row[f"parameter_{name}"] for name in parameters} == parameters
        assert row["seed"] == seed
        assert row["seconds"] > 0
        assert row["error"] is None
    drawn = {key: value for key, value in rows[0].items() if key.startswith("workload")}
    assert drawn == {
        "workload": "drawn",
        "workload_file": None,
        "workload_nodes": 20,
        "workload_topics": 10,
        "workload_popularity": "zipf",
        "workload_alpha": 2.0,
        "workload_sizes": "uniform",
        "workload_min_topics": 2,
        "workload_max_topics": 4,
        "workload_seed": 1,
    }
    assert (rows[-1]["workload"], rows[-1]["workload_file"], rows[-1]["workload_nodes"]) == (
        *("subs.parquet", "subs.parquet"),
        None,
    )


def direct(interest: Interest, designer: str, seed: int, **parameters: Any) -> tuple[Any, Any, dict[str, Any]]:
    overlay = design(interest, designer, seed=seed, **parameters)
    assert overlay.provenance is not None
    return dict(overlay.provenance.parameters), overlay.provenance.seed, measure(interest, overlay).to_dict()


def test_finished_cells_are_skipped(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = swept(spark, spec, out)
    again = swept(spark, spec, out)
    assert again.ran == 0
    assert again.table.equals(first.table)
    assert sweep_frame(spark, spec, str(out)).toArrow().equals(first.table)

    # Cells of a damaged file run again, and so does what the spec adds.
    damaged, *_ = sorted((out / "cells").glob("part-*.parquet"))
    rows = pyarrow.parquet.read_metadata(damaged).num_rows
    damaged.unlink()
    damaged.write_text("{")
    mended = swept(spark, spec, out)
    assert mended.ran == rows
    assert without_seconds(mended.table) == without_seconds(first.table)
    spec.write_text(SPEC + '[[designer]]\nname = "gm-fold"\nfolds = 2\n')
    longer = swept(spark, spec, out)
    assert longer.ran == 5
    others = [row for row in without_seconds(longer.table) if row["designer"] != "gm-fold"]
    assert others == without_seconds(first.table)

    # A file is what it holds: another name for it changes nothing, other content does.
    spec.write_text(SPEC.replace('file = "subs.parquet"', 'file = "moved.csv"'))
    pairs = Interest.read(tmp_path / "subs.parquet").to_arrow().to_pylist()
    lines = [f"{row['node']},{row['topic']}" for row in pairs]
    (tmp_path / "moved.csv").write_text("node,topic\n" + "\n".join(lines) + "\n")
    assert swept(spark, spec, out).ran == 0
    (tmp_path / "moved.csv").write_text("node,topic\n" + "\n".join(lines[:-1]) + "\n")
    assert swept(spark, spec, out).ran == 4


def test_a_failing_cell_is_a_row_and_is_tried_again(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    plan = plan_sweep(read_spec(spec))
    # No spec can say this, as it is checked; so say it here.
    first, *others = plan.cells[:4]
    wrong = Cell("sweep", {**first.parameters, "designer": "gpm", "parameters": {"max_degree": 0}})
    plan = replace(plan, rows=plan.rows[:4], cells=(wrong, *others))
    for ran in (4, 1):
        watch = GridWatch()
        result = run_sweep(spark, plan, str(tmp_path / "out"), watch)
        assert (watch.kept, watch.done) == (4 - ran, ran)
        assert (result.cells, result.ran, result.failed) == (4, ran, 1)
        row, *rows = result.table.to_pylist()
        assert row["error"] == "max_degree of gpm must be a whole number, 1 or more, not 0"
        assert (row["seconds"], row["support"], row["designer"]) == (None, None, "gm")
        assert [row["error"] for row in rows] == [None] * 3


def test_a_cell_that_kills_its_worker_fails_alone(
    spark: SparkSession, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sweeping._design_task

    def deadly(given: Any, sent: Any) -> Any:
        if given["designer"] == "low-oda" and given["workload"] is None:
            os._exit(1)
        return original(given, sent)

    monkeypatch.setattr(sweeping, "_design_task", deadly)
    result = swept(spark, spec, tmp_path / "out")
    errors = [row["error"] for row in result.table.to_pylist() if row["error"]]
    assert errors == ["the process that ran it died, most likely for want of memory"]
    monkeypatch.undo()
    again = swept(spark, spec, tmp_path / "out")
    assert (again.ran, again.failed) == (1, 0)


def test_a_stopped_sweep_goes_on(
    spark: SparkSession, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sweeping._design_task

    def slow(given: Any, sent: Any) -> Any:
        time.sleep(0.3)
        return original(given, sent)

    monkeypatch.setattr(sweeping, "_design_task", slow)
    out, watch = tmp_path / "out", GridWatch()
    threading.Thread(target=stop_after, args=(watch, 3), daemon=True).start()
    with pytest.raises(GridStopped):
        swept(spark, spec, out, watch=watch)
    kept = rows_kept(out)
    assert 3 <= kept < CELLS
    assert kept == watch.done
    assert not (out / "results.parquet").exists()
    monkeypatch.undo()
    result = swept(spark, spec, out)
    assert result.ran == CELLS - kept
    assert without_seconds(result.table) == without_seconds(swept(spark, spec, tmp_path / "whole").table)


def stop_after(watch: GridWatch, cells: int) -> None:
    while watch.done < cells:
        time.sleep(0.01)
    watch.stop()


def rows_kept(out: Path) -> int:
    return sum(pyarrow.parquet.read_metadata(file).num_rows for file in (out / "cells").glob("part-*.parquet"))


def test_a_killed_sweep_goes_on(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import sys; from topicloom.cli.main import run; sys.exit(run())"
    settings = ["--master", "local[1]", "--conf", "spark.driver.memory=512m"]
    arguments = ["spark", "sweep", str(spec), "--out", str(out), *settings]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 180
        while rows_kept(out) < 2 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    kept = rows_kept(out)
    assert kept >= 2
    result = swept(spark, spec, out)
    assert result.ran == CELLS - kept
    assert without_seconds(result.table) == without_seconds(swept(spark, spec, tmp_path / "whole").table)


NETWORKS = """
seed = [1, 2]
[[network]]
users = [60, 30]
users_per_broker = 10
channels = 8
access_to_core = [1, 4.0]
[[algorithm]]
name = ["random", "packing"]
"""


def test_a_sweep_of_networks_runs_what_everybody_runs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(NETWORKS)
    result = swept(spark, tmp_path / "spec.toml", tmp_path / "out")
    assert result.table.schema == NETWORK_SCHEMA
    rows = result.table.to_pylist()
    assert [(row["users"], row["access_to_core"], row["seed"], row["algorithm"]) for row in rows] == [
        *product((30, 60), (1.0, 4.0), (1, 2), ("random", "packing"))
    ]
    for row in rows:
        network = content_network(
            row["users"], row["brokers"], 8, access_to_core=row["access_to_core"], seed=row["seed"]
        )
        assert row["total"] == cost(run(network.network, row["algorithm"], seed=row["seed"]).assignment).total
        assert (row["seconds"] > 0, row["processor_seconds"] > 0, row["error"]) == (True, True, None)
    assert {row["cost_reduction_ratio"] for row in rows if row["algorithm"] == "random"} == {1.0}


def test_workers_do_not_collect_again_what_stays(spark: SparkSession) -> None:
    rows: list[pa.Table] = []
    run_cells(
        spark,
        [Cell("test", {"number": number}) for number in range(5)],
        lambda cell: lambda: pa.table({"spared": [gc.get_freeze_count()]}),
        lambda done: rows.extend(table for _, table in done),
        GridWatch(),
    )
    assert max(found["spared"][0].as_py() for found in rows) > 1000


def test_what_a_task_lacks_fails_that_cell(spark: SparkSession) -> None:
    def task(cell: Cell) -> Any:
        if cell.parameters["number"]:
            raise InputError("no such graph")
        return lambda: pa.table({"done": [1]})

    cells = [Cell("test", {"number": number}) for number in range(2)]
    rows: list[Cell] = []
    errors = run_cells(spark, cells, task, lambda done: rows.extend(cell for cell, _ in done), GridWatch())
    assert (errors, rows) == ({cells[1]: "no such graph"}, cells[:1])


def test_time_left_follows_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    watch = GridWatch()
    watch.begin(1000)
    watch.cell_done(10)
    now += 6
    assert watch.seconds_left is None, "too little to tell"
    watch.cell_done(590)
    assert watch.seconds_left == pytest.approx(4)


def test_a_fleet_and_prices_hold_in_every_cell(spark: SparkSession, tmp_path: Path) -> None:
    interest = synthetic(25, 8, min_topics=3, seed=9)
    interest.write(tmp_path / "subs.parquet")
    brokers = {
        name: {"host": name, "region": "eu" if number % 2 else "us", "max_links": 4, "accepts": number % 5 > 0}
        for number, name in enumerate(interest.node_names)
    }
    fleet = fleet_from_tables({"brokers": brokers})
    regions = {name: rule["region"] for name, rule in brokers.items()}
    prices = Prices(
        {("eu", "eu"): 1, ("us", "us"): 2, ("eu", "us"): 30}, {name: str(one) for name, one in regions.items()}
    )
    path = tmp_path / "spec.toml"
    path.write_text('[[workload]]\nfile = "subs.parquet"\n[[designer]]\nname = ["gm", "minmax-oda", "backbone"]\n')
    plan = plan_sweep(read_spec(path), fleet, lambda _: prices)
    table = run_sweep(spark, plan, str(tmp_path / "out"), GridWatch()).table
    assert table["error"].null_count == 3
    for row in table.to_pylist():
        overlay = design(interest, row["designer"], constraints=fleet.constraints, prices=prices)
        assert row["links"] == len(overlay)
        assert row["max_degree"] == int(overlay.degrees.max()) <= 4
        assert row["price"] == measure_prices(interest, overlay, prices).price
    # Without prices they are other cells.
    assert not set(plan.cells) & set(plan_sweep(read_spec(path), fleet).cells)
    assert plan.cells == plan_sweep(read_spec(path), fleet, lambda _: Prices.from_text(prices.text)).cells
