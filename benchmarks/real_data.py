"""The sparse interests of the data sets beside the checkout: seconds and peak memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from topicloom.designers import DesignProblem, run
from topicloom.model import Interest

FOLDER = Path(os.environ.get("TOPICLOOM_DATA", Path(__file__).parents[2] / "shared" / "data"))
DESIGNERS = ("gm", "minmax-oda", "low-oda")


def youtube_groups() -> Interest:
    """Users and the groups they belong to."""
    table = pyarrow.csv.read_csv(
        FOLDER / "subscriptions" / "youtube_groups.tsv.gz",
        read_options=pyarrow.csv.ReadOptions(column_names=["node", "topic"]),
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
    )
    return Interest.from_arrow(table)


def slashdot_followers() -> Interest:
    """Users, each a topic to those who call it a friend."""
    table = pyarrow.csv.read_csv(FOLDER / "graphs" / "slashdot_followers.csv.gz")
    table = table.filter(pc.not_equal(table["src"], table["dst"]))
    return Interest.from_arrow(pa.table({"node": table["src"], "topic": table["dst"]}))


def deezer_genres() -> Interest:
    """Users and the genres they like."""
    return Interest.read(FOLDER / "subscriptions" / "deezer_genres.tsv.gz", node_column="user", topic_column="genre")


SETS = {read.__name__: read for read in (youtube_groups, slashdot_followers, deezer_genres)}


def main(name: str, designer: str) -> dict[str, Any]:
    """One designer on one data set, warm."""
    interest = SETS[name]()
    done = run(DesignProblem.of(interest), designer)
    return {
        "nodes": interest.node_count,
        "topics": interest.topic_count,
        "seconds": done.seconds,
        "links": len(done.overlay),
        "max_degree": int(done.overlay.degrees.max()),
    }


def report(console: Console) -> list[dict[str, Any]]:
    """Run them all and print a table."""
    if not FOLDER.is_dir():
        console.print(f"real data: skipped, there is no folder {FOLDER} (set TOPICLOOM_DATA)")
        return []
    table = Table(title="real, sparse interests", title_justify="left")
    table.add_column("data set")
    table.add_column("designer")
    for heading in ("nodes", "topics", "seconds", "links", "max degree", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = []
    for name in SETS:
        for designer in DESIGNERS:
            row = {"set": name, "designer": designer, **in_own_process(__name__, name=name, designer=designer)}
            rows.append(row)
            table.add_row(
                name,
                designer,
                f"{row['nodes']:,}",
                f"{row['topics']:,}",
                f"{row['seconds']:.1f}",
                f"{row['links']:,}",
                f"{row['max_degree']:,}",
                f"{row['peak_bytes'] / 1e6:,.0f} MB",
            )
    console.print(table)
    return rows
