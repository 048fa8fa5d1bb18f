"""Sweeps: the same numbers as direct calls, kept cell by cell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from topicloom import Interest, Prices, measure, synthetic
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.designers import design
from topicloom.metrics import measure_prices
from topicloom.spark import sweep as sweeping
from topicloom.spark.grid import Cell, GridStopped, GridWatch, kept
from topicloom.spark.sweep import plan_sweep, run_sweep, sweep, write_sweep
from topicloom.spark.sweep_spec import read_spec

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


def without_seconds(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["seconds"]).to_pylist()


def test_rows_are_those_of_direct_calls(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    result = sweep(spark, spec, tmp_path / "out")
    assert (result.cells, result.ran, result.failed) == (CELLS, CELLS, 0)
    assert pyarrow.parquet.read_table(result.results).equals(result.table)
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


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Counts the tasks that ran since it was asked last."""
    log = tmp_path / "calls"
    original = sweeping._in_executor

    def counted(cell: Any, *others: Any) -> Any:
        with log.open("a") as file:
            file.write("called\n")
        return original(cell, *others)

    monkeypatch.setattr(sweeping, "_in_executor", counted)

    def since() -> int:
        count = len(log.read_text().splitlines()) if log.exists() else 0
        log.unlink(missing_ok=True)
        return count

    return since


def test_finished_cells_are_skipped(spark: SparkSession, spec: Path, tmp_path: Path, calls: Callable[[], int]) -> None:
    out = tmp_path / "out"
    first = sweep(spark, spec, out)
    assert calls() == CELLS
    again = sweep(spark, spec, out)
    assert (calls(), again.ran) == (0, 0)
    assert again.table.equals(first.table)

    # Damaged and missing cells run again, and so does what the spec adds.
    damaged, missing, *_ = sorted((out / "cells").iterdir())
    damaged.write_text("{")
    missing.unlink()
    mended = sweep(spark, spec, out)
    assert calls() == 2
    assert without_seconds(mended.table) == without_seconds(first.table)
    spec.write_text(SPEC + '[[designer]]\nname = "gm-fold"\nfolds = 2\n')
    longer = sweep(spark, spec, out)
    assert calls() == 5
    assert [row for row in without_seconds(longer.table) if row["designer"] != "gm-fold"] == without_seconds(
        first.table
    )

    # A file is what it holds: another name for it changes nothing, other content does.
    spec.write_text(SPEC.replace('file = "subs.parquet"', 'file = "moved.csv"'))
    rows = Interest.read(tmp_path / "subs.parquet").to_arrow().to_pylist()
    lines = [f"{row['node']},{row['topic']}" for row in rows]
    (tmp_path / "moved.csv").write_text("node,topic\n" + "\n".join(lines) + "\n")
    assert sweep(spark, spec, out).ran == 0
    (tmp_path / "moved.csv").write_text("node,topic\n" + "\n".join(lines[:-1]) + "\n")
    assert sweep(spark, spec, out).ran == 4


def test_a_failing_cell_is_a_row(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    plan = plan_sweep(read_spec(spec), tmp_path / "out")
    # No spec can say this, as it is checked; so say it here.
    first, *others = plan.cells[:4]
    wrong = Cell("sweep", {**first.parameters, "designer": "gpm", "parameters": {"max_degree": 0}})
    cells = (wrong, *others)
    spec_of_four = replace(plan.spec, rows=plan.spec.rows[:4])
    plan = replace(plan, spec=spec_of_four, cells=cells, grid=replace(plan.grid, cells=cells, pending=cells))
    watch = GridWatch()
    result = write_sweep(plan, run_sweep(spark, plan, watch))
    assert watch.done == 4
    assert kept(plan.grid.folder, wrong) is None, "it is to run again"
    assert (result.cells, result.failed) == (4, 1)
    row, *rows = result.table.to_pylist()
    assert row["error"] == "max_degree of gpm must be a whole number, 1 or more, not 0"
    assert (row["seconds"], row["support"], row["designer"]) == (None, None, plan.spec.rows[0].designer)
    assert [row["error"] for row in rows] == [None] * 3


def test_a_cell_that_kills_its_worker_fails_alone_and_is_tried_again(
    spark: SparkSession, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sweeping._in_executor

    def deadly(cell: Any, *others: Any) -> Any:
        if cell.parameters["designer"] == "low-oda" and cell.parameters["workload"] is None:
            os._exit(1)
        return original(cell, *others)

    monkeypatch.setattr(sweeping, "_in_executor", deadly)
    result = sweep(spark, spec, tmp_path / "out")
    errors = [row["error"] for row in result.table.to_pylist() if row["error"]]
    assert errors == ["the process that ran it died, most likely for want of memory"]
    monkeypatch.undo()
    again = sweep(spark, spec, tmp_path / "out")
    assert (again.ran, again.failed) == (1, 0)


def test_a_stopped_sweep_goes_on(
    spark: SparkSession, spec: Path, tmp_path: Path, calls: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = sweeping._in_executor

    def slow(cell: Any, *others: Any) -> Any:
        time.sleep(0.3)
        return counted(cell, *others)

    monkeypatch.setattr(sweeping, "_in_executor", slow)
    out, watch = tmp_path / "out", GridWatch()
    threading.Thread(target=stop_after, args=(watch, 3), daemon=True).start()
    with pytest.raises(GridStopped):
        sweep(spark, spec, out, watch=watch)
    kept = len(list((out / "cells").iterdir()))
    assert 3 <= kept < CELLS
    assert kept == watch.done
    assert not (out / "results.parquet").exists()
    time.sleep(1)  # tasks that were cancelled may still be asleep
    calls()
    result = sweep(spark, spec, out)
    assert (calls(), result.ran) == (CELLS - kept, CELLS - kept)
    assert without_seconds(result.table) == without_seconds(sweep(spark, spec, tmp_path / "whole").table)


def stop_after(watch: GridWatch, cells: int) -> None:
    while watch.done < cells:
        time.sleep(0.01)
    watch.stop()


def test_a_killed_sweep_goes_on(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import sys; from topicloom.cli.main import run; sys.exit(run())"
    arguments = ["sweep", str(spec), "--out", str(out), "--master", "local[1]", "--driver-memory", "512m"]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 180
        while len(list(out.glob("cells/*.arrow"))) < 2 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    kept = len(list(out.glob("cells/*.arrow")))
    assert kept >= 2
    result = sweep(spark, spec, out)
    assert result.ran == CELLS - kept
    assert without_seconds(result.table) == without_seconds(sweep(spark, spec, tmp_path / "whole").table)


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
    plan = plan_sweep(read_spec(path), tmp_path / "out", fleet, lambda _: prices)
    table = write_sweep(plan, run_sweep(spark, plan, GridWatch())).table
    assert table["error"].null_count == 3
    for row in table.to_pylist():
        overlay = design(interest, row["designer"], constraints=fleet.constraints, prices=prices)
        assert row["links"] == len(overlay)
        assert row["max_degree"] == int(overlay.degrees.max()) <= 4
        assert row["price"] == measure_prices(interest, overlay, prices).price
    again = plan_sweep(read_spec(path), tmp_path / "out", fleet)
    assert len(again.grid.pending) == 3  # without prices they are other cells
    free = plan_sweep(read_spec(path), tmp_path / "out", fleet, lambda _: Prices.from_text(prices.text))
    assert len(free.grid.pending) == 0
