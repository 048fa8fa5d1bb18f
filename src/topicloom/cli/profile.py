"""`topicloom profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import spark_work
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.spark.profile import Profile
    from topicloom.spark.profile_folder import Distribution


EXAMPLES = """\b
Example:
  topicloom profile fleet
  topicloom profile fleet --out fleet-profile
"""

_QUANTILES = (0.1, 0.5, 0.9, 0.99)


def command(
    *,
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
        int | None,
        typer.Option(
            "--max-pairs",
            metavar="N",
            help="Count what pairs of nodes share exactly up to so many pairs; estimate it from a sample beyond "
            "(20,000,000).",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Show how subscriptions are distributed, on Spark.

    How many topics nodes want, how popular topics are, what pairs of nodes share, and how much memory each designer
    would need.
    """
    from topicloom.spark.ingest import Ingested
    from topicloom.spark.profile import MAX_PAIRS, profile

    Ingested.open(folder)
    if out is not None:
        checked_paths.require_new_folder(out)
    most = MAX_PAIRS if max_pairs is None else max_pairs
    with spark_work(spark, printing, "topicloom profile") as work:
        found = work.do("profiling", lambda session: profile(session, folder, max_pairs=most, seed=seed))
    if out is not None:
        found.write(out)
    if printing.json:
        output.print_json(found.to_dict() | {"out": None if out is None else str(out)})
        return
    _print(found)
    if out is not None:
        printing.written(out)


def _print(profile: Profile) -> None:
    output.print_facts(
        [
            ("nodes", numbers.count(profile.nodes)),
            ("topics", numbers.count(profile.topics)),
            ("subscriptions", numbers.count(profile.subscriptions)),
            *(
                (f"subscriptions in the top {share:.0%} of topics", numbers.share(part))
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
    shared_by = numbers.count_of(shared.pairs, "pair of nodes shares", "pairs of nodes share")
    estimated = ""
    if shared.sampled_nodes is not None:
        estimated = (
            f", give or take {numbers.count(round(shared.standard_error))}, "
            f"estimated from {numbers.count_of(shared.sampled_nodes, 'node')}"
        )
    output.say(f"\n{shared_by} a topic{estimated}\n")
    output.print_table(
        ["memory for", "MB"],
        [[need.designer, f"{need.bytes / 1e6:,.1f}"] for need in profile.designer_memory],
    )


def _row(name: str, distribution: Distribution) -> list[output.Cell]:
    quantiles = [numbers.count(distribution.quantile(share)) for share in _QUANTILES]
    return [
        name,
        numbers.count(distribution.min),
        *quantiles,
        numbers.count(distribution.max),
        numbers.mean(distribution.mean),
    ]
