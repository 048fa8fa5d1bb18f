"""`topicloom design`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.algorithm_options import given, taking
from topicloom.cli.shared.design_work import designer_options, run_designer
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.model import Overlay

EXAMPLES = """\b
Example:
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom design subs.csv.gz --algorithm gpm --max-degree 8 \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gpa --budget-ratio 0.5 \\
      --out overlay.parquet --json
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
    json: options.Json = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Build an overlay: links that connect every topic.

    Links join nodes that want the same topic, until each topic is connected or the budget is spent.
    """
    from topicloom.designers import DESIGNERS
    from topicloom.model import Interest

    prepared = DESIGNERS.prepare(algorithm, seed, given(parameters))
    checked_paths.require_writable(out, subscriptions)
    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        result = run_designer(working, prepared, interest)
        facts = working.do("measuring", lambda: _facts(result.overlay))
    result.overlay.write(out)
    facts |= {"seconds": result.seconds, "out": str(out)}
    if json:
        output.print_json(facts)
    else:
        _print(facts)


def _facts(overlay: Overlay) -> dict[str, Any]:
    from topicloom.designers import measured

    interest, degrees = overlay.interest, overlay.degrees
    # Contributions as if added to one overlay: those of gm-fold count within their folds.
    merged = int(measured(interest, overlay.source, overlay.target).contribution.sum())
    mergeable = interest.subscription_count - interest.topic_count
    assert overlay.provenance is not None
    return {
        "algorithm": overlay.provenance.designer,
        "parameters": dict(overlay.provenance.parameters),
        "seed": overlay.provenance.seed,
        "nodes": interest.node_count,
        "topics": interest.topic_count,
        "subscriptions": interest.subscription_count,
        "edges": len(overlay),
        "average_degree": 2 * len(overlay) / interest.node_count,
        "max_degree": int(degrees.max()),
        "support": merged / mergeable if mergeable else 1.0,
        "topic_connected": merged == mergeable,
        **overlay.provenance.facts,
    }


def _print(facts: dict[str, Any]) -> None:
    proved = []
    if "lower_bound" in facts:
        proved = [("lower bound", output.count(facts["lower_bound"])), ("optimal", "yes" if facts["optimal"] else "no")]
    output.print_facts(
        [
            ("links", output.count(facts["edges"])),
            ("average degree", output.degree(facts["average_degree"])),
            ("max degree", output.count(facts["max_degree"])),
            ("support", output.share(facts["support"])),
            *proved,
            ("seconds", output.seconds(facts["seconds"])),
        ]
    )
    output.say(f"written to {output.one_line(facts['out'])}")
