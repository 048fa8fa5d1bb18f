"""Content-based networks on Spark: message histories to rates, and many generated networks."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from reference.summarize import summarized
from topicloom import InputError
from topicloom.content import cost, run
from topicloom.spark.content_sweep import SCHEMA, ContentSweep, content_sweep, plan_content_sweep
from topicloom.spark.grid import GridStopped, GridWatch
from topicloom.spark.summarize import Summary, summarize
from topicloom.workloads.content import content_network

ATTRIBUTES = [("price", 0.0, 50.0, 10), ("size", -1.0, 1.0, 3)]


def write_space(folder: Path) -> Path:
    names, lows, highs, cells = zip(*ATTRIBUTES, strict=True)
    table = pa.table({"attribute": list(names), "low": list(lows), "high": list(highs), "cells": list(cells)})
    pyarrow.parquet.write_table(table, folder / "space.parquet")
    return folder / "space.parquet"


def some_messages(count: int, bad: float) -> list[tuple]:
    rng = random.Random(7)
    messages = []
    for _ in range(count):
        row = [f"u{rng.randrange(9)}", float(rng.randrange(51)), rng.uniform(-1, 1), rng.uniform(1000, 2000)]
        if rng.random() < bad:
            place, wrong = rng.choice([(0, None), (0, "  "), (1, None), (1, 50.5), (2, -1.25), (3, None)])
            row[place] = wrong
        messages.append(tuple(row))
    return messages


def write_log(path: Path, messages: list[tuple]) -> Path:
    columns = dict(zip(("user", "price", "size", "time"), map(list, zip(*messages, strict=True)), strict=True))
    if path.suffix == ".csv":
        rows = ["user,price,size,time"]
        rows += [",".join("" if value is None else str(value) for value in message) for message in messages]
        path.write_text("\n".join(rows) + "\n")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, message, strict=True))) + "\n" for message in messages))
    else:
        pyarrow.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_summarize_counts_as_its_twin(spark: SparkSession, tmp_path: Path, ending: str) -> None:
    messages = some_messages(3000, bad=0.05)
    rates, reasons, seconds = summarized(messages, ATTRIBUTES)
    log = write_log(tmp_path / f"log.{ending}", messages)
    found = summarize(spark, [log], write_space(tmp_path), tmp_path / "out")
    assert found == Summary(3000, sum(reasons.values()), dict(reasons), 9, len({c for _, c in rates}), seconds)
    table = pyarrow.parquet.read_table(tmp_path / "out" / "rates.parquet").to_pylist()
    assert {(row["user"], row["channel"]): row["rate"] for row in table} == pytest.approx(rates)
    assert [(row["user"], row["channel"]) for row in table] == sorted(rates)
    users = pyarrow.parquet.read_table(tmp_path / "out" / "users.parquet").to_pandas()
    channels = pyarrow.parquet.read_table(tmp_path / "out" / "channels.parquet").to_pandas()
    assert users.messages.sum() == channels.messages.sum() == 3000 - found.bad
    assert users.rate.sum() == pytest.approx(sum(rates.values()))
    assert channels.publishers.sum() == users.channels.sum() == len(rates)
    quarantine = pyarrow.parquet.read_table(tmp_path / "out" / "quarantine").to_pandas()
    assert quarantine.reason.value_counts().to_dict() == dict(reasons)
    assert quarantine.file.str.endswith(f"log.{ending}").all()


def test_summarize_takes_dates_and_is_read_by_a_network(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "who,x,at\n" + "".join(f"u{k % 2 + 1},{k % 4},2026-01-01 00:00:{10 * k // 4:02}\n" for k in range(17))
    )
    drawn = content_network(2, 2, 4, seed=1)
    net = tmp_path / "net"
    net.mkdir()
    drawn.write(net)
    (net / "quadratics.parquet").unlink()
    space = pa.table({"attribute": ["x"], "low": [0.0], "high": [4.0], "cells": [4]})
    pyarrow.parquet.write_table(space, net / "space.parquet")
    boxes = pa.table({"user": ["u1", "u2"], "low_x": [0.0, 0.0], "high_x": [4.0, 4.0]})
    pyarrow.parquet.write_table(boxes, net / "boxes.parquet")
    found = summarize(spark, [log], net / "space.parquet", tmp_path / "out", user_column="who", time_column="at")
    assert found.seconds == 40
    (tmp_path / "out" / "rates.parquet").rename(net / "rates.parquet")
    from topicloom.content import read_network

    network = read_network(net)
    assert network.traffic.out.tolist() == pytest.approx([9 / 40, 8 / 40])
    assert network.traffic.into.tolist() == pytest.approx([8 / 40, 9 / 40])


def test_summarize_refuses(spark: SparkSession, tmp_path: Path) -> None:
    space = write_space(tmp_path)
    log = write_log(tmp_path / "log.csv", some_messages(200, bad=0.5))
    with pytest.raises(InputError, match=r"of 200 messages are bad, more than max_bad 0.1 accepts \("):
        summarize(spark, [log], space, tmp_path / "out")
    same = write_log(tmp_path / "same.csv", [("u", 1.0, 0.5, 7.0)] * 3)
    with pytest.raises(InputError, match="all messages have the same time; give how long the log spans, as seconds"):
        summarize(spark, [same], space, tmp_path / "out")
    with pytest.raises(InputError, match=r"same.csv: no column 'node'; it has 'user', 'price', 'size', 'time'"):
        summarize(spark, [same], space, tmp_path / "out", user_column="node")
    assert not (tmp_path / "out").exists()
    found = summarize(spark, [same], space, tmp_path / "out", seconds=6.0)
    assert (found.messages, found.seconds) == (3, 6)
    assert pyarrow.parquet.read_table(tmp_path / "out" / "rates.parquet")["rate"].to_pylist() == [0.5]


ASKED = ContentSweep((30, 60), (10,), 8, ("random", "packing"), seeds=2, access_to_core=(1.0, 4.0))


def test_sweep_runs_what_everybody_runs(spark: SparkSession, tmp_path: Path) -> None:
    table = content_sweep(spark, ASKED, tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").equals(table)
    assert table.schema == SCHEMA
    rows = table.to_pylist()
    assert [(row["users"], row["access_to_core"], row["seed"], row["algorithm"]) for row in rows] == [
        *product((30, 60), (1.0, 4.0), (1, 2), ASKED.algorithms)
    ]
    for row in rows:
        network = content_network(
            row["users"], row["brokers"], 8, access_to_core=row["access_to_core"], seed=row["seed"]
        )
        priced = cost(run(network.network, row["algorithm"], seed=row["seed"]).assignment)
        assert row["total"] == priced.total
        assert row["seconds"] > 0
        assert row["processor_seconds"] > 0
        assert row["error"] is None
    assert {row["cost_reduction_ratio"] for row in rows if row["algorithm"] == "random"} == {1.0}


def test_sweep_keeps_errors_in_their_rows_and_tries_again(spark: SparkSession, tmp_path: Path) -> None:
    out, watch = tmp_path / "out.parquet", GridWatch()
    asked = ContentSweep((900,), (30,), 9, ("exact", "random"), seeds=1)
    failed, done = content_sweep(spark, asked, out, watch=watch).to_pylist()
    assert failed["error"].startswith("exact is for small networks")
    assert (failed["users"], failed["total"], done["error"]) == (900, None, None)
    assert watch.done == 2
    assert [cell.parameters["algorithm"] for cell in plan_content_sweep(asked, out).grid.pending] == ["exact"]


def test_a_stopped_sweep_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    out, watch = tmp_path / "out.parquet", GridWatch()
    watch.cell_done = lambda cost: watch.stop()  # type: ignore[method-assign, misc]
    with pytest.raises(GridStopped):
        content_sweep(spark, ASKED, out, watch=watch)
    assert not out.exists()
    plan = plan_content_sweep(ASKED, out)
    assert 1 <= len(list(plan.grid.folder.iterdir())) == len(plan.cells) - len(plan.grid.pending) < 16
    watch = GridWatch()
    table = content_sweep(spark, ASKED, out, watch=watch)
    assert watch.done == len(plan.grid.pending)
    whole = content_sweep(spark, ASKED, tmp_path / "whole.parquet")
    times = ["seconds", "processor_seconds"]
    assert table.drop_columns(times).equals(whole.drop_columns(times))
    longer = plan_content_sweep(replace(ASKED, seeds=3), out)
    assert {cell.parameters["seed"] for cell in longer.grid.pending} == {3}


@pytest.mark.parametrize(
    ("others", "wrong"),
    [
        ({"algorithms": ("best",)}, "unknown algorithm 'best'"),
        ({"seeds": 2**63}, f"seeds is {2**63}; give a whole number of at most {2**63 - 1}"),
        ({"users": (10**20,)}, f"users is {10**20}; give a whole number of at most {2**63 - 1}"),
    ],
)
def test_sweep_refuses(tmp_path: Path, others: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=f"^{wrong}"):
        plan_content_sweep(replace(ASKED, **others), tmp_path / "out.parquet")
