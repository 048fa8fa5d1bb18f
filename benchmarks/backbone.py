"""The backbone designer against gm and low-oda, on one machine and on Spark: links, degrees, seconds, growth.

Goals: links at most 1.03 x those of gm with at most a third of its highest degree; with a limit of 1.2 x the highest
degree of low-oda at most its links; at most a fifth of gm's time. A million nodes and 10 million subscriptions: at
most 3 minutes on one machine, 4 minutes and 8 GB on Spark.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.memory import peak_memory
from benchmarks.real_data import FOLDER, SETS
from topicloom.designers import DESIGNERS, DesignProblem, run
from topicloom.metrics import support_curve
from topicloom.model import Interest
from topicloom.workloads import synthetic

DENSE = ("zipf", "exponential", "uniform")
REAL = ("youtube_groups", "deezer_genres")
GROWTH = (100_000, 300_000, 1_000_000)
LIMIT = 1.2


def sparse(nodes: int, topics: int = 10_000, seed: int = 1) -> Interest:
    """Sizes from 5 to 50 by a power law, topics by Zipf 0.9, drawn with repeats, which are dropped."""
    rng = np.random.default_rng(seed)
    sizes = np.arange(5, 51)
    drawn = rng.choice(sizes, size=nodes, p=sizes**-2.0 / (sizes**-2.0).sum())
    popularity = np.cumsum(np.arange(1, topics + 1) ** -0.9)
    chosen = np.searchsorted(popularity, rng.random(int(drawn.sum())) * popularity[-1])
    names = (tuple(f"n{k:08}" for k in range(nodes)), tuple(f"t{k:05}" for k in range(topics)))
    return Interest.from_ids(*names, np.repeat(np.arange(nodes), drawn), np.minimum(chosen, topics - 1))


def workload(name: str) -> Interest:
    """One of the named interests."""
    if name in DENSE:
        return synthetic(20_000, 1000, popularity=name, sizes="power-law", min_topics=20, max_topics=600, seed=1)
    return SETS[name]() if name in SETS else sparse(int(name))


def main(name: str, designer: str, **parameters: int) -> dict[str, Any]:
    """One designer on one workload, warm."""
    interest = workload(name)
    done = run(DesignProblem.of(interest), designer, **parameters)
    return {
        "subscriptions": interest.subscription_count,
        "seconds": done.seconds,
        "links": len(done.overlay),
        "max_degree": int(done.overlay.degrees.max()),
        "support": float(support_curve(interest, done.overlay)[-1]),
    }


def report(console: Console) -> list[dict[str, Any]]:
    """Run all and print the tables."""
    names = (*DENSE, "50000", *(REAL if FOLDER.is_dir() else ()))
    rows = [row for name in names for row in _compared(name)]
    _print(console, "backbone beside gm, and with a limit beside low-oda", rows)
    growth = [
        {
            "workload": str(nodes),
            "designer": "backbone",
            **in_own_process(__name__, name=str(nodes), designer="backbone"),
        }
        for nodes in GROWTH
    ]
    _print(console, "growth on one machine: 10,000 topics, 11 topics a node", growth)
    on_spark = [{"workload": str(nodes), "designer": "backbone on Spark", **_on_spark(nodes)} for nodes in GROWTH]
    _print(console, "growth on Spark, two cores, from an ingested folder to a written overlay", on_spark)
    return [*rows, *growth, *on_spark]


def _compared(name: str) -> list[dict[str, Any]]:
    found = {designer: in_own_process(__name__, name=name, designer=designer) for designer in ("gm", "low-oda")}
    found["backbone"] = in_own_process(__name__, name=name, designer="backbone")
    limit = int(LIMIT * found["low-oda"]["max_degree"])
    found[f"backbone, at most {limit}"] = in_own_process(__name__, name=name, designer="backbone", max_degree=limit)
    rows = [{"workload": name, "designer": designer, **row} for designer, row in found.items()]
    for row, other in zip(rows[2:], rows[:2], strict=True):
        row["link_ratio"] = row["links"] / other["links"]
        row["degree_ratio"] = row["max_degree"] / other["max_degree"]
        row["time_ratio"] = row["seconds"] / rows[0]["seconds"]
    return rows


def _on_spark(nodes: int) -> dict[str, Any]:
    """From an ingested folder to an overlay's; the start of Spark and the ingest do not count."""
    from topicloom.spark import SparkOptions, read_interest, spark_session
    from topicloom.spark.design import design_links
    from topicloom.spark.ingest import ingest

    with tempfile.TemporaryDirectory() as name, spark_session(SparkOptions(master="local[2]"), "bench") as spark:
        folder = Path(name)
        sparse(nodes).write(folder / "subs.parquet")
        ingest(spark, [str(folder / "subs.parquet")], str(folder / "fleet"))
        with peak_memory() as peak:
            began = time.perf_counter()
            interned = read_interest(spark, str(folder / "fleet"))
            done = design_links(interned, DESIGNERS.prepare("backbone", 0, {}))
            done.write(str(folder / "overlay"))
            seconds = time.perf_counter() - began
        return {
            "subscriptions": interned.totals.subscriptions,
            "seconds": seconds,
            "links": len(done.links.source),
            "max_degree": done.max_degree,
            "support": done.support,
            "peak_bytes": peak[0],
        }


def _print(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("workload")
    table.add_column("designer")
    for heading in (
        "subscriptions",
        "links",
        "max degree",
        "support",
        "seconds",
        "links /",
        "degree /",
        "gm's time",
        "peak",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["workload"],
            row["designer"],
            f"{row['subscriptions']:,}",
            f"{row['links']:,}",
            f"{row['max_degree']:,}",
            f"{row['support']:.4f}",
            f"{row['seconds']:.2f}",
            *(f"{row[ratio]:.3f}" if ratio in row else "" for ratio in ("link_ratio", "degree_ratio", "time_ratio")),
            f"{row['peak_bytes'] / 1e6:,.0f} MB",
        )
    console.print(table)
