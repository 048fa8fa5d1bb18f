"""`topicloom spark ingest`."""

from __future__ import annotations

from typing import Any

import click

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark ingest logs/*.csv.gz --out fleet
  topicloom spark ingest s3a://logs/2026/ --out s3a://data/fleet --overwrite
  topicloom spark ingest audit.jsonl --node-column broker \\
      --topic-column filter --filters mqtt \\
      --where "action = 'subscribe'" --out fleet
  topicloom spark ingest follows.tsv --no-header --graph directed \\
      --out follows
"""
READING = "Reading"
CLEANING = "Cleaning"


@command("ingest", examples=EXAMPLES)
@click.argument(
    "inputs",
    metavar="INPUT...",
    nargs=-1,
    required=True,
    help="Files, folders or patterns, on any file system that Spark knows.",
)
@options.out_place("an interest")
@options.raw_rows("rows", READING, CLEANING)
@options.option(
    "--option", "reader", metavar="KEY=VALUE", multiple=True, section=READING, help="Option of Spark's reader."
)
@options.option("--separator", metavar="CHAR", section=READING, help="Separator of columns in text files.")
@options.flag("--no-header", section=READING, help="Text files begin with data; columns are numbers from 1.")
@options.option(
    "--node-column", metavar="NAME", section=READING, help="Column of nodes.  [default: node, or the first]"
)
@options.option(
    "--topic-column", metavar="NAME", section=READING, help="Column of topics.  [default: topic, or the second]"
)
@options.option(
    "--role-column", metavar="NAME", section=READING, help="Column of roles; '' for none.  [default: role, if any]"
)
@options.option(
    "--filters",
    type=click.Choice(["mqtt", "nats", "amqp", "none"]),
    section=CLEANING,
    help="Treat topics as wildcard filters of this protocol.  [default: what files say]",
)
@options.option("--where", metavar="SQL", section=CLEANING, help="Keep only rows that fulfil this SQL condition.")
@options.option(
    "--graph",
    type=click.Choice(["directed", "undirected"]),
    section=CLEANING,
    help="Rows are edges of a social graph, whose users are topics.",
)
@options.flag("--include-self", section=CLEANING, help="In a graph, subscribe each user to its own topic.")
@options.option(
    "--max-name-length",
    "max_name_bytes",
    metavar="BYTES",
    type=options.WHOLE,
    default=1024,
    show_default=True,
    section=CLEANING,
    help="Reject rows with longer names.",
)
@options.spark
def ingest(
    run: Run,
    inputs: tuple[str, ...],
    out: str,
    overwrite: bool,
    input_format: str | None,
    reader: tuple[str, ...],
    separator: str | None,
    no_header: bool,
    **cleaning: Any,
) -> View:
    """Clean raw subscriptions or social graphs.

    Trims and normalises names, drops repeats, rejects rows that cannot be used, with reasons, and writes what other
    commands take as FLEET or SUBS.
    """
    from topicloom.spark.ingest import IngestOptions
    from topicloom.spark.ingest import ingest as ingest_files
    from topicloom.spark.places import require_inputs, require_place
    from topicloom.views import ingested

    chosen = IngestOptions(
        separator="\t" if separator == "\\t" else separator,
        header=not no_header,
        format=input_format,
        reader=options.spark_settings(reader, "option"),
        **cleaning,
    )
    require_inputs(list(inputs))
    require_place(out)
    doing = ["looking for files"]
    with run.on_spark("ingest") as work:
        made = work.do(
            lambda: doing[-1],
            lambda spark: ingest_files(spark, inputs, out, chosen, overwrite=overwrite, progress=doing.append),
        )
    return ingested.ingest(made, out)
