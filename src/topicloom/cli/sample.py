"""`topicloom sample`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import spark_work
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom sample follows --nodes 1000 --seeds 3 --seed 7 --out part
  topicloom sample fleet --nodes 1000 --uniform --out part
"""


def command(
    *,
    folder: options.IngestFolder,
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", help="How many nodes the sample has.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR2", help="Folder to write to.")],
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", help="How many random users to begin with (3).", show_default=False),
    ] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="Take random nodes, near each other or not.")] = False,
    seed: options.Seed = 0,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Take a part of ingested subscriptions, on Spark.

    Begins with a few random nodes and spreads breadth-first until it has as many as asked for, then takes all
    relations among them. The result is a folder like that of `ingest`.
    """
    from topicloom.errors import InputError
    from topicloom.io.ingest_folder import read_manifest
    from topicloom.spark.sample_folder import write_sample

    if uniform and seeds is not None:
        raise InputError("--seeds is of no use with --uniform; leave one of them out")
    read_manifest(folder)
    if out.exists() and out.samefile(folder):
        raise InputError(f"{out}: is read by this command; give another folder to write to")
    step = ["drawing nodes"]
    with spark_work(spark, printing, "topicloom sample") as work:
        found = work.do(
            lambda: step[-1],
            lambda session: write_sample(
                session,
                folder,
                out,
                nodes=nodes,
                seed=seed,
                uniform=uniform,
                progress=step.append,
                **({} if seeds is None else {"seeds": seeds}),
            ),
        )
    if printing.json:
        output.print_json(asdict(found) | {"out": str(out)})
        return
    output.say(
        f"{numbers.count_of(found.nodes, 'node')}, {numbers.count_of(found.topics, 'topic')}, "
        f"{numbers.count_of(found.subscriptions, 'subscription')}, written to {output.one_line(str(out))}"
    )
    if found.nodes < nodes:
        output.say(f"{numbers.count(nodes)} were asked for; there is no sample of exactly as many")
