"""`topicloom design`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.algorithm_options import given, taking
from topicloom.cli.shared.design_work import designer_options, run_designer
from topicloom.present import numbers

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
    *,
    subs: options.InterestFile,
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", metavar="NAME", help="One of those that `topicloom designers` lists.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OVERLAY", help="Parquet file to write the links to.")],
    seed: options.Seed = 0,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Build an overlay: links that connect every topic.

    Links join nodes that want the same topic, until each topic is connected or the budget is spent.
    """
    from topicloom.designers import DESIGNERS

    prepared = DESIGNERS.prepare(algorithm, seed, given(parameters))
    checked_paths.require_writable(out, subs.path)
    with printing.working() as working:
        interest = subs.read(working)
        result = run_designer(working, prepared, interest)
        facts = working.do("measuring", lambda: _facts(result.overlay))
    result.overlay.write(out)
    facts |= {"seconds": result.seconds, "out": str(out)}
    if printing.json:
        output.print_json(facts)
    else:
        _print(facts)
        printing.written(out)


def _facts(overlay: Overlay) -> dict[str, Any]:
    from topicloom.metrics import support_curve

    interest, degrees = overlay.interest, overlay.degrees
    support = float(support_curve(interest, overlay)[-1])
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
        "support": support,
        "topic_connected": support == 1,
        **overlay.provenance.facts,
    }


def _print(facts: dict[str, Any]) -> None:
    proved = []
    if "lower_bound" in facts:
        proved = [
            ("lower bound", numbers.count(facts["lower_bound"])),
            ("optimal", "yes" if facts["optimal"] else "no"),
        ]
    output.print_facts(
        [
            ("links", numbers.count(facts["edges"])),
            ("average degree", numbers.mean(facts["average_degree"])),
            ("max degree", numbers.count(facts["max_degree"])),
            ("support", numbers.share(facts["support"])),
            *proved,
            ("seconds", numbers.seconds(facts["seconds"])),
        ]
    )
