"""`topicloom content summarize`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import spark_work
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom content summarize log.csv.gz --space net/space.parquet \\
      --out summary
  cp summary/rates.parquet net
"""


def command(
    *,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...",
            help="Files, folders or globs: CSV, TSV, JSON Lines or Parquet, also compressed.",
            show_default=False,
        ),
    ],
    space: Annotated[
        Path,
        typer.Option("--space", metavar="FILE", help="Table of the content space; its attributes are columns of LOG."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write.")],
    user_column: Annotated[
        str, typer.Option("--user-column", metavar="NAME", help="Column that names the user.")
    ] = "user",
    time_column: Annotated[
        str, typer.Option("--time-column", metavar="NAME", help="Column of times: seconds, or dates with times.")
    ] = "time",
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="X",
            help="The time that LOG spans; unless given, from its first message to its last.",
            show_default=False,
        ),
    ] = None,
    max_bad: Annotated[
        float, typer.Option("--max-bad", metavar="X", help="Largest share of messages that may be bad.")
    ] = 0.1,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Turn message histories into rates, on Spark.

    LOG has a row for each message: its user, its attributes and its time. DIR gets rates.parquet, as a network has it,
    and sums by user and by channel. Bad messages go to DIR/quarantine with their reason.
    """
    from topicloom.content.tables import read_space
    from topicloom.io.whole import require_replaceable
    from topicloom.spark.places import require_inputs
    from topicloom.spark.summarize import summarize

    checked_paths.require_readable(space)
    read_space(space)
    require_inputs(inputs)
    require_replaceable(out)
    with spark_work(spark, printing, "topicloom summarize") as work:
        found = work.do(
            "counting messages",
            lambda session: summarize(
                session,
                inputs,
                space,
                out,
                user_column=user_column,
                time_column=time_column,
                seconds=seconds,
                max_bad=max_bad,
            ),
        )
    if printing.json:
        output.print_json(asdict(found) | {"out": str(out)})
        return
    output.print_facts(
        [
            ("messages", numbers.count(found.messages)),
            ("set aside", numbers.count(found.bad)),
            ("users", numbers.count(found.users)),
            ("channels", numbers.count(found.channels)),
            ("seconds in the log", numbers.amount(found.seconds)),
        ]
    )
    printing.written(out)
