"""Ingest of raw CSV rows on Spark, against DuckDB with two threads doing the same: processor seconds in one run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
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
from benchmarks.memory import keep_orphans, peak_memory, processor_seconds
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.ingest import ingest

ROWS = (10_000_000, 100_000_000)
PLAIN, HOT_TOPIC, HOT_NODE = SHAPES = ("plain", "one topic, half of all nodes", "one node, half of all topics")
_CHUNK = 5_000_000
_TOPICS = 200_000
_JAVA_MEMORY = "4g"


def write_raw(file: Path, rows: int, shape: str = PLAIN) -> None:
    """Rows of nodes, a tenth as many as rows, and heavy-tailed topics.

    In the other shapes half of all nodes want one topic, or one node wants half of all topics.
    """
    rng = np.random.default_rng(1)
    schema = pa.schema([("node", pa.string()), ("topic", pa.string())])
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for start in range(0, rows, _CHUNK):
            count = min(_CHUNK, rows - start)
            nodes = rng.integers(0, max(1, rows // 10), count)
            topics = np.minimum((rng.pareto(0.9, count) * 3).astype(np.int64), _TOPICS)
            place = np.arange(start, start + count)
            if shape == HOT_TOPIC:
                hot = place < rows // 20
                nodes[hot], topics[hot] = place[hot], 7
            elif shape == HOT_NODE:
                hot = place < _TOPICS // 2
                nodes[hot], topics[hot] = 7, place[hot]
            writer.write_table(pa.table([_named("node-", nodes), _named("topic/", topics)], schema=schema))


def _named(prefix: str, numbers: np.ndarray) -> pa.Array:
    digits = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), 8, "0")
    return pc.binary_join_element_wise(prefix, digits, "")


def with_duckdb(raw: Path, out: Path) -> float:
    """Processor seconds that DuckDB takes for the same cleaning, interning and tables."""
    out.mkdir()
    connection = duckdb.connect()
    connection.execute("set threads = 2")
    connection.execute("set preserve_insertion_order = false")
    began = time.process_time()
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
    return time.process_time() - began


def with_spark(raw: Path, out: Path) -> dict[str, Any]:
    """Seconds and processor seconds of ingest and of its steps in a session that has just started."""
    keep_orphans()
    conf = {"spark.driver.memory": _JAVA_MEMORY}
    with spark_session(SparkOptions(master="local[2]", conf=conf), "benchmark") as spark:
        spark.range(1).count()
        marks: list[tuple[str, float, float]] = []

        def mark(step: str) -> None:
            marks.append((step, time.perf_counter(), processor_seconds()))

        mark("finding files")
        ingest(spark, [str(raw)], str(out), progress=mark)
        mark("")
    return {
        "seconds": marks[-1][1] - marks[0][1],
        "processor": marks[-1][2] - marks[0][2],
        "steps": {step: after[2] - before for (step, _, before), after in pairwise(marks)},
    }


def main(rows: int, shape: str = PLAIN) -> dict[str, Any]:
    """Both ways on the same rows; DuckDB before and after, which shows whether the machine was busy otherwise."""
    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as name:
        folder = Path(name)
        write_raw(folder / "raw.csv", rows, shape)
        before = with_duckdb(folder / "raw.csv", folder / "duckdb-before")
        with peak_memory() as peak:
            spark = with_spark(folder / "raw.csv", folder / "spark")
        after = with_duckdb(folder / "raw.csv", folder / "duckdb-after")
    return {
        "duckdb": (before, after),
        "ratio": spark["processor"] / min(before, after),
        "peak_bytes_of_all": peak[0],
        **spark,
    }


def report(console: Console, sizes: Sequence[int] = ROWS) -> list[dict[str, Any]]:
    """Ingest so many rows with both, and print what they take, the ratio, and where Spark's time goes."""
    inputs = [(sizes[0], shape) for shape in SHAPES] + [(rows, PLAIN) for rows in sizes[1:]]
    runs = [
        {"rows": rows, "shape": shape, **in_own_process(__name__, rows=rows, shape=shape)} for rows, shape in inputs
    ]
    table = Table(title="ingest of raw CSV rows, two cores: processor seconds", title_justify="left")
    table.add_column("what")
    for rows, shape in inputs:
        table.add_column(f"{rows:,} rows" if shape == PLAIN else shape, justify="right")
    for place, when in enumerate(("before", "after")):
        table.add_row(f"DuckDB, {when}", *(f"{run['duckdb'][place]:.1f}" for run in runs))
    table.add_row("Spark, without the start of its session", *(f"{run['processor']:.1f}" for run in runs))
    for step in runs[0]["steps"]:
        table.add_row(f"  {step}", *(f"{run['steps'][step]:.1f}" for run in runs))
    table.add_row("Spark / the better of DuckDB's (at most 6)", *(f"{run['ratio']:.1f}" for run in runs))
    table.add_row("Spark / the first", *(f"{run['processor'] / runs[0]['processor']:.1f}" for run in runs))
    table.add_row("seconds of Spark", *(f"{run['seconds']:.1f}" for run in runs))
    table.add_row("peak memory of all processes", *(f"{run['peak_bytes_of_all'] / 1e9:.1f} GB" for run in runs))
    console.print(table)
    return runs
