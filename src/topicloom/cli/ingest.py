"""`topicloom ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import spark_work
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.spark.ingest import Manifest


EXAMPLES = """\b
Example:
  topicloom ingest logs/*.csv.gz --out fleet
  topicloom ingest audit.jsonl --node-column broker --topic-column filter \\
      --filters mqtt --where "action = 'subscribe'" --out fleet
  topicloom ingest audit.csv --role-column event --filters mqtt --out fleet
  topicloom ingest follows.tsv --no-header --graph directed --out follows
"""


def command(
    *,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files, folders or globs: CSV, TSV, JSON Lines or Parquet, compressed or not.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write to.")],
    node_column: Annotated[
        str | None,
        typer.Option(
            "--node-column",
            metavar="NAME",
            help="Column that names the node, or its position from 1 where there is no header (node, or the first).",
            show_default=False,
        ),
    ] = None,
    topic_column: Annotated[
        str | None,
        typer.Option(
            "--topic-column",
            metavar="NAME",
            help="Column that names the topic, likewise (topic, or the second).",
            show_default=False,
        ),
    ] = None,
    role_column: Annotated[
        str | None,
        typer.Option(
            "--role-column",
            metavar="NAME",
            help="Column that says whether the node subscribes (sub), publishes (pub) or both, likewise (role, where "
            "there is one; '' for none).",
            show_default=False,
        ),
    ] = None,
    filters: Annotated[
        Literal["mqtt", "nats", "amqp", "none"] | None,
        typer.Option(
            "--filters",
            help="Protocol whose wildcards topics may have, or none; unless the files say it.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        Literal["csv", "tsv", "jsonl", "parquet"] | None,
        typer.Option("--format", help="Format of all inputs; by the endings of their names unless given."),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="CHAR",
            help="Between columns of text files: a comma in .csv and a tab in .tsv unless given.",
            show_default=False,
        ),
    ] = None,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="Text files begin with data, not with the names of columns.")
    ] = False,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="SQL",
            help="Take only rows for which this Spark SQL condition holds; columns without names are _1, _2, ...",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        Literal["directed", "undirected"] | None,
        typer.Option(
            "--graph",
            help="Rows are edges of a social graph: every user is a topic, and who follows whom wants that topic.",
        ),
    ] = None,
    include_self: Annotated[
        bool, typer.Option("--include-self", help="In a graph: every user wants its own topic, too.")
    ] = False,
    max_name_bytes: Annotated[
        int, typer.Option("--max-name-length", metavar="BYTES", help="Rows with longer names are bad.")
    ] = 1024,
    max_bad: Annotated[
        float, typer.Option("--max-bad", metavar="SHARE", help="Fail where more than this share of the rows is bad.")
    ] = 0.1,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Clean raw subscriptions or social graphs, on Spark.

    Trims and normalises names, drops repeats, sets bad rows aside with their reasons, and writes a folder that every
    other command takes as SUBS.
    """
    from topicloom.io.whole import require_replaceable
    from topicloom.spark.clean import IngestOptions
    from topicloom.spark.ingest import ingest
    from topicloom.spark.raw_rows import files_by_format

    reading = IngestOptions(
        node_column=node_column,
        topic_column=topic_column,
        role_column=role_column,
        filters=filters,
        separator={"\\t": "\t"}.get(separator, separator) if separator else separator,
        header=not no_header,
        where=where,
        format=format_,
        graph=graph,
        include_self=include_self,
        max_name_bytes=max_name_bytes,
        max_bad=max_bad,
    )
    # Before Spark starts, which takes seconds.
    files_by_format(inputs, reading)
    require_replaceable(out)
    step = ["looking for files"]
    with spark_work(spark, printing, "topicloom ingest") as work:
        manifest = work.do(
            lambda: step[-1], lambda session: ingest(session, inputs, out, reading, progress=step.append)
        )
    if printing.json:
        output.print_json(manifest.as_dict() | {"out": str(out)})
        return
    _print(manifest)
    printing.written(out)


def _print(manifest: Manifest) -> None:
    counts = manifest.counts
    output.print_facts(
        [
            ("files", numbers.count(manifest.files)),
            ("rows", numbers.count(counts.rows)),
            *_unless_zero("left out by --where", counts.filtered),
            ("bad rows", numbers.count(counts.bad)),
            *((f"  {reason}", numbers.count(number)) for reason, number in counts.bad_by_reason.items()),
            *_unless_zero("self-loops", counts.self_loops),
            *_unless_zero("published, wanted by nobody", counts.unheard),
            ("repeats", numbers.count(counts.repeats)),
            *([] if counts.users is None else [("users", numbers.count(counts.users))]),
            ("nodes", numbers.count(counts.nodes)),
            ("topics", numbers.count(counts.topics)),
            ("subscriptions", numbers.count(counts.subscriptions)),
        ]
    )


def _unless_zero(name: str, number: int) -> list[tuple[str, output.Cell]]:
    return [(name, numbers.count(number))] if number else []
