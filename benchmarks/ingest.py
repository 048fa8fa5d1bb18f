"""Ingest of raw CSV rows on Spark, against DuckDB with two threads doing the same, in one run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.memory import peak_memory
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.ingest import ingest

ROWS = (10_000_000, 100_000_000)
_CHUNK = 5_000_000
_JAVA_MEMORY = "4g"


def write_raw(file: Path, rows: int) -> None:
    """Rows of nodes, a tenth as many as rows, and heavy-tailed topics."""
    rng = np.random.default_rng(1)
    schema = pa.schema([("node", pa.string()), ("topic", pa.string())])
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for start in range(0, rows, _CHUNK):
            count = min(_CHUNK, rows - start)
            nodes = rng.integers(0, max(1, rows // 10), count)
            topics = np.minimum((rng.pareto(0.9, count) * 3).astype(np.int64), 200_000)
            writer.write_table(pa.table([_named("node-", nodes), _named("topic/", topics)], schema=schema))


def _named(prefix: str, numbers: np.ndarray) -> pa.Array:
    digits = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), 8, "0")
    return pc.binary_join_element_wise(prefix, digits, "")


def with_duckdb(raw: Path, out: Path) -> float:
    """Seconds that DuckDB takes for the same cleaning, interning and tables."""
    out.mkdir()
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    connection.execute("set preserve_insertion_order = false")
    began = time.perf_counter()
    connection.execute(
        "create temp table s as select distinct nfc_normalize(trim(node)) as node, nfc_normalize(trim(topic)) as topic "
        f"from read_csv('{raw}', all_varchar = true) where trim(node) <> '' and trim(topic) <> ''"
    )
    for table, column, counted in (("n", "node", "topics"), ("t", "topic", "nodes")):
        connection.execute(
            f"create temp table {table} as select row_number() over (order by name) - 1 as id, name, {counted} "
            f"from (select {column} as name, count(*) as {counted} from s group by 1)"
        )
        connection.execute(f"copy (select * from {table} order by id) to '{out}/{table}.parquet' (format parquet)")
    connection.execute(
        "copy (select s.node, s.topic, n.id as node_id, t.id as topic_id "
        "from s join n on s.node = n.name join t on s.topic = t.name order by 3, 4) "
        f"to '{out}/s.parquet' (format parquet)"
    )
    return time.perf_counter() - began


def with_spark(raw: Path, out: Path) -> dict[str, Any]:
    """Seconds of the session's start, of ingest and of its steps, and the stages that took longest."""
    began = time.perf_counter()
    with spark_session(
        SparkOptions(master="local[2]", conf={"spark.driver.memory": _JAVA_MEMORY}), "benchmark"
    ) as spark:
        spark.range(1).count()
        started = time.perf_counter()
        marks: list[tuple[str, float]] = []
        ingest(spark, [str(raw)], str(out), progress=lambda step: marks.append((step, time.perf_counter())))
        ended = time.perf_counter()
        stages = _stages(spark)
    ends = [mark for _, mark in marks[1:]] + [ended]
    return {
        "start_seconds": started - began,
        "seconds": ended - started,
        "steps": {step: end - mark for (step, mark), end in zip(marks, ends, strict=True)},
        "stages": stages,
    }


def _stages(spark: Any) -> list[dict[str, Any]]:
    """What Spark recorded of its stages: seconds over all tasks, and those of Java's processor time in them."""
    gateway = spark.sparkContext._gateway
    store = spark.sparkContext._jsc.sc().statusStore()
    listed = store.stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), None)
    stages = [
        {
            "stage": stage.stageId(),
            "at": Path(stage.name().split(" at ")[-1]).name,
            "tasks": stage.numTasks(),
            "task_seconds": stage.executorRunTime() / 1e3,
            "java_seconds": stage.executorCpuTime() / 1e9,
            "shuffled_bytes": stage.shuffleWriteBytes(),
        }
        for stage in (listed.apply(i) for i in range(listed.size()))
    ]
    return sorted(stages, key=lambda stage: -stage["task_seconds"])


def main(rows: int) -> dict[str, Any]:
    """Both ways on the same rows; DuckDB before and after, which shows whether the machine was busy otherwise."""
    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as name:
        folder = Path(name)
        write_raw(folder / "raw.csv", rows)
        before = with_duckdb(folder / "raw.csv", folder / "duckdb-before")
        with peak_memory() as peak:
            spark = with_spark(folder / "raw.csv", folder / "spark")
        after = with_duckdb(folder / "raw.csv", folder / "duckdb-after")
    return {
        "rows": rows,
        "duckdb_seconds": (before, after),
        "ratio": spark["seconds"] / min(before, after),
        "peak_bytes_of_all": peak[0],
        **spark,
    }


def report(console: Console, sizes: Sequence[int] = ROWS) -> list[dict[str, Any]]:
    """Ingest so many rows with both, and print their times, the ratio, and where Spark's time goes."""
    runs = [in_own_process(__name__, rows=rows) for rows in sizes]
    table = Table(title="ingest of raw CSV rows, two cores: seconds", title_justify="left")
    table.add_column("what")
    for run in runs:
        table.add_column(f"{run['rows']:,} rows", justify="right")
    for place, when in enumerate(("before", "after")):
        table.add_row(f"DuckDB, {when}", *(f"{run['duckdb_seconds'][place]:.1f}" for run in runs))
    table.add_row("Spark", *(f"{run['seconds']:.1f}" for run in runs))
    for step in runs[0]["steps"]:
        table.add_row(f"  {step}", *(f"{run['steps'][step]:.1f}" for run in runs))
    table.add_row("session start, apart", *(f"{run['start_seconds']:.1f}" for run in runs))
    table.add_row("Spark / the better of DuckDB's (at most 6)", *(f"{run['ratio']:.1f}" for run in runs))
    table.add_row("Spark / the first size", *(f"{run['seconds'] / runs[0]['seconds']:.1f}" for run in runs))
    table.add_row("peak memory of all processes", *(f"{run['peak_bytes_of_all'] / 1e9:.1f} GB" for run in runs))
    console.print(table)
    for run in runs:
        console.print(_longest_stages(run))
    return runs


def _longest_stages(run: dict[str, Any]) -> Table:
    table = Table(title=f"Spark's longest stages, {run['rows']:,} rows", title_justify="left")
    for heading in ("at", "tasks", "task seconds", "of them Java's", "shuffled"):
        table.add_column(heading, justify="left" if heading == "at" else "right")
    for stage in run["stages"][:6]:
        table.add_row(
            stage["at"],
            str(stage["tasks"]),
            f"{stage['task_seconds']:.1f}",
            f"{stage['java_seconds']:.1f}",
            f"{stage['shuffled_bytes'] / 1e6:,.0f} MB",
        )
    return table
