"""`topicloom profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.progress import Working
from topicloom.cli.shared.spark_work import on_spark, spark_options

if TYPE_CHECKING:
    from topicloom.pipeline.analysis.distribution import Distribution
    from topicloom.pipeline.analysis.profile import Profile

EXAMPLES = """\b
Example:
  topicloom profile fleet
  topicloom profile fleet --out fleet-profile
"""

_QUANTILES = (0.1, 0.5, 0.9, 0.99)


def command(
    folder: options.IngestFolder,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR2",
            help="New folder to write the full distributions and log-log plots to.",
            show_default=False,
        ),
    ] = None,
    max_pairs: Annotated[
        int,
        typer.Option(
            "--max-pairs",
            metavar="N",
            help="Count what pairs of nodes share exactly up to so many pairs; estimate it from a sample beyond.",
        ),
    ] = 20_000_000,
    seed: options.Seed = 0,
    master: options.Master = None,
    spark_conf: options.SparkConf = None,
    driver_memory: options.DriverMemory = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show how subscriptions are distributed, on Spark.

    How many topics nodes want, how popular topics are, what pairs of nodes share, and how much memory each designer
    would need.
    """
    from topicloom.pipeline.analysis.profile import profile
    from topicloom.pipeline.ingesting.ingested import Ingested

    settings = spark_options(master, spark_conf, driver_memory, verbose=verbose)
    Ingested.open(folder)
    if out is not None:
        checked_paths.require_new_folder(out)
    with Working(quiet=quiet or verbose) as working, on_spark(working, settings, "topicloom profile") as spark:
        found = spark.do("profiling", lambda session: profile(session, folder, max_pairs=max_pairs, seed=seed))
    if out is not None:
        with checked_paths.new_folder(out) as temporary:
            found.write(temporary)
    if json:
        output.print_json(found.to_dict() | {"out": None if out is None else str(out)})
        return
    _print(found)
    if out is not None:
        output.say(f"\nwritten to {output.one_line(str(out))}")


def _print(profile: Profile) -> None:
    output.print_facts(
        [
            ("nodes", output.count(profile.nodes)),
            ("topics", output.count(profile.topics)),
            ("subscriptions", output.count(profile.subscriptions)),
            *(
                (f"subscriptions in the top {share:.0%} of topics", output.share(part))
                for share, part in profile.popular_shares.items()
            ),
        ]
    )
    shared = profile.common_topics
    output.say("")
    output.print_table(
        ["", "min", *(f"{share:.0%}" for share in _QUANTILES), "max", "mean"],
        [
            _row("topics per node", profile.topics_per_node),
            _row("nodes per topic", profile.nodes_per_topic),
            _row("topics that pairs share", shared.distribution),
        ],
    )
    estimated = ""
    if shared.sampled_nodes is not None:
        estimated = (
            f", give or take {output.count(round(shared.standard_error))}, "
            f"estimated from {output.count(shared.sampled_nodes)} nodes"
        )
    output.say(f"\n{output.count(shared.pairs)} pairs of nodes share a topic{estimated}\n")
    output.print_table(
        ["memory for", "MB"],
        [[need.designer, f"{need.bytes / 1e6:,.1f}"] for need in profile.designer_memory],
    )


def _row(name: str, distribution: Distribution) -> list[str]:
    quantiles = [output.count(distribution.quantile(share)) for share in _QUANTILES]
    return [
        name,
        output.count(distribution.min),
        *quantiles,
        output.count(distribution.max),
        output.degree(distribution.mean),
    ]
