"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Subscriptions = Annotated[
    Path,
    typer.Argument(
        metavar="SUBS",
        help="Subscriptions, one a row: a .parquet, .csv or .tsv file; the latter two may be .gz. "
        "Or a folder that `topicloom ingest` wrote.",
        show_default=False,
    ),
]
IngestFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `topicloom ingest` wrote.", show_default=False)
]
OverlayFile = Annotated[
    Path,
    typer.Argument(
        metavar="OVERLAY",
        help="Links as `topicloom design` wrote them, or any file with the columns source and target.",
        show_default=False,
    ),
]
PlanFile = Annotated[
    Path,
    typer.Argument(metavar="PLAN", help="JSON file that `topicloom plan` wrote.", show_default=False),
]
TopicsOut = Annotated[
    Path | None,
    typer.Option(
        "--topics", metavar="FILE", help="Parquet file to write the measures of each topic to.", show_default=False
    ),
]
NodeColumn = Annotated[str, typer.Option("--node-column", metavar="NAME", help="Column of SUBS that names the node.")]
TopicColumn = Annotated[
    str, typer.Option("--topic-column", metavar="NAME", help="Column of SUBS that names the topic.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed; the same seed gives the same result.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Bound = Annotated[
    bool,
    typer.Option("--bound", help="Prove bounds too: how far from the best there is? Takes some seconds."),
]
NoDiameters = Annotated[
    bool, typer.Option("--no-diameters", help="Leave out topic diameters, which may take most of the time.")
]

Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs, such as local[4], spark://host:7077, yarn. "
        "Unless given: SPARK_MASTER, spark-defaults, or all cores of this machine.",
        show_default=False,
    ),
]
SparkConf = Annotated[
    list[str] | None,
    typer.Option("--spark-conf", metavar="KEY=VALUE", help="A setting of Spark; may be repeated.", show_default=False),
]
DriverMemory = Annotated[
    str | None,
    typer.Option(
        "--driver-memory",
        metavar="SIZE",
        help="Memory of Spark's driver, such as 8g; on one machine it does all the work.",
        show_default=False,
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show what Spark and Java say, instead of progress.")]

Recover = Annotated[
    bool,
    typer.Option(
        "--recover", help="Go on from the last good event of a damaged journal, which is kept aside as journal.damaged."
    ),
]
