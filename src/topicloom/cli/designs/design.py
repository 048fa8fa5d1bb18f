"""`topicloom design`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.algorithm_options import given, taking
from topicloom.cli.shared.design_work import designer_options, run_designer
from topicloom.cli.shared.progress import Working
from topicloom.cli.shared.spark_work import on_spark, spark_options

if TYPE_CHECKING:
    from topicloom.algorithms import Prepared
    from topicloom.designers import Designer
    from topicloom.model import Overlay
    from topicloom.pipeline import SparkOptions

EXAMPLES = """\b
Example:
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom design subs.csv.gz --algorithm gpm --max-degree 8 \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gpa --budget-ratio 0.5 \\
      --out overlay.parquet --json
  topicloom design fleet --algorithm backbone --spark \\
      --out overlay.parquet
"""


@taking(designer_options)
def command(
    subscriptions: options.Subscriptions,
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", metavar="NAME", help="One of those that `topicloom designers` lists.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OVERLAY", help="Parquet file to write the links to.")],
    seed: options.Seed = 0,
    node_column: options.NodeColumn = "node",
    topic_column: options.TopicColumn = "topic",
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Design on Spark what `topicloom ingest` wrote; for backbone. Same links."),
    ] = False,
    master: options.Master = None,
    spark_conf: options.SparkConf = None,
    driver_memory: options.DriverMemory = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Build an overlay: links that connect every topic.

    Links join nodes that want the same topic, until each topic is connected or the budget is spent.
    """
    from topicloom.designers import DESIGNERS
    from topicloom.errors import InputError

    prepared = DESIGNERS.prepare(algorithm, seed, given(parameters))
    if not spark and (master or spark_conf or driver_memory or verbose):
        raise InputError("master, spark_conf, driver_memory and verbose are for designs on Spark; give --spark too")
    checked_paths.require_writable(out, *([] if subscriptions.is_dir() else [subscriptions]))
    if spark:
        settings = spark_options(master, spark_conf, driver_memory, verbose=verbose)
        facts = _design_on_spark(prepared, subscriptions, out, settings, quiet=quiet or verbose)
    else:
        facts = _design_here(prepared, subscriptions, out, node_column, topic_column, quiet=quiet)
    facts["out"] = str(out)
    if json:
        output.print_json(facts)
    else:
        _print(facts)
    if prepared.name == "backbone" and not facts["topic_connected"]:
        output.say("some topics are not connected: max_degree leaves no room for them; raise it")
        raise typer.Exit(1)


def _design_here(
    prepared: Prepared[Designer], subscriptions: Path, out: Path, node_column: str, topic_column: str, *, quiet: bool
) -> dict[str, Any]:
    from topicloom.model import Interest

    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        result = run_designer(working, prepared, interest)
        facts = working.do("measuring", lambda: _facts(result.overlay))
    result.overlay.write(out)
    return facts | {"seconds": result.seconds}


def _design_on_spark(
    prepared: Prepared[Designer], folder: Path, out: Path, settings: SparkOptions, *, quiet: bool
) -> dict[str, Any]:
    from topicloom.pipeline.designing.design_on_spark import design_on_spark, require_backbone
    from topicloom.pipeline.ingesting.ingested import Ingested

    require_backbone(prepared.name)
    Ingested.open(folder)
    doing = ["backbone"]
    with Working(quiet=quiet) as working, on_spark(working, settings, "topicloom design") as spark:
        began = time.perf_counter()
        result = spark.do(lambda: doing[-1], lambda session: design_on_spark(session, folder, prepared, doing.append))
        result.overlay.write(out)
        seconds = time.perf_counter() - began
    return _shown(result.overlay, result.topics, result.subscriptions, result.merged) | {"seconds": seconds}


def _facts(overlay: Overlay) -> dict[str, Any]:
    from topicloom.designers import measured

    interest = overlay.interest
    # Contributions as if added to one overlay: those of gm-fold count within their folds.
    merged = int(measured(interest, overlay.source, overlay.target).contribution.sum())
    return _shown(overlay, interest.topic_count, interest.subscription_count, merged)


def _shown(overlay: Overlay, topics: int, subscriptions: int, merged: int) -> dict[str, Any]:
    nodes, mergeable = overlay.interest.node_count, subscriptions - topics
    assert overlay.provenance is not None
    return {
        "algorithm": overlay.provenance.designer,
        "parameters": dict(overlay.provenance.parameters),
        "seed": overlay.provenance.seed,
        "nodes": nodes,
        "topics": topics,
        "subscriptions": subscriptions,
        "edges": len(overlay),
        "average_degree": 2 * len(overlay) / nodes,
        "max_degree": int(overlay.degrees.max()),
        "support": merged / mergeable if mergeable else 1.0,
        "topic_connected": merged == mergeable,
    }


def _print(facts: dict[str, Any]) -> None:
    output.print_facts(
        [
            ("links", output.count(facts["edges"])),
            ("average degree", output.degree(facts["average_degree"])),
            ("max degree", output.count(facts["max_degree"])),
            ("support", output.share(facts["support"])),
            ("seconds", output.seconds(facts["seconds"])),
        ]
    )
    output.say(f"written to {output.one_line(facts['out'])}")
