"""`topicloom generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom generate --nodes 2000 --topics 200 --popularity zipf --alpha 2.0 \\
      --sizes power-law --min-topics 10 --max-topics 90 --seed 1 \\
      --out subs.parquet
"""


def command(
    *,
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", help="How many nodes.")],
    topics: Annotated[int, typer.Option("--topics", metavar="N", help="How many topics there are to choose from.")],
    popularity: Annotated[
        Literal["uniform", "zipf", "exponential", "steep-exponential"],
        typer.Option("--popularity", help="How often each topic is chosen."),
    ] = "uniform",
    alpha: Annotated[float, typer.Option("--alpha", metavar="X", help="Exponent of zipf.")] = 2.0,
    sizes: Annotated[
        Literal["fixed", "uniform", "power-law", "shifted-zipf", "by-chance"],
        typer.Option("--sizes", help="How many topics the nodes want."),
    ] = "fixed",
    min_topics: Annotated[
        int, typer.Option("--min-topics", metavar="N", help="The fewest topics of a node; by chance, the mean.")
    ],
    max_topics: Annotated[
        int | None,
        typer.Option(
            "--max-topics",
            metavar="N",
            help="The most topics of a node; leave it out where sizes are fixed or by chance.",
            show_default=False,
        ),
    ] = None,
    size_exponent: Annotated[float, typer.Option("--size-exponent", metavar="X", help="Exponent of power-law.")] = 2.0,
    seed: options.Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SUBS", help="Parquet file to write.")],
    printing: options.Printing,
) -> None:
    """Make random subscriptions, shaped as in the papers."""
    from topicloom.workloads import synthetic

    checked_paths.require_writable(out)
    with printing.working() as working:
        interest = working.do(
            "drawing topics",
            lambda: synthetic(
                nodes,
                topics,
                popularity=popularity,
                alpha=alpha,
                sizes=sizes,
                min_topics=min_topics,
                max_topics=max_topics,
                size_exponent=size_exponent,
                seed=seed,
            ),
        )
    interest.write(out)
    if printing.json:
        output.print_json(
            {
                "nodes": interest.node_count,
                "topics": interest.topic_count,
                "subscriptions": interest.subscription_count,
                "seed": seed,
                "out": str(out),
            }
        )
        return
    drawn = numbers.count_of(interest.topic_count, "topic")
    if interest.topic_count < topics:
        drawn = f"{numbers.count(interest.topic_count)} of {numbers.count_of(topics, 'topic')}"
    output.say(
        f"{numbers.count_of(interest.node_count, 'node')}, {drawn}, "
        f"{numbers.count_of(interest.subscription_count, 'subscription')}, written to {output.one_line(str(out))}"
    )
