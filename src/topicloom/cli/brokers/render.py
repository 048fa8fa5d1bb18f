"""`topicloom render`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.present import numbers

EXAMPLES = """\b
Example:
  topicloom render plan.json --out configurations
  BRIDGE_PASSWORD=... topicloom render plan.json --out configurations
"""


def command(
    *,
    plan: options.PlanFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New folder to write the files to.")],
    printing: options.Printing,
) -> None:
    """Write the configuration of every broker.

    Passwords are looked up now, where the fleet file said they are; files that hold any can be read by their owner
    alone. `fleet.dot` is a picture of the fleet, for Graphviz.
    """
    from topicloom.deploy import read_plan, render

    checked_paths.require_readable(plan)
    checked_paths.require_new_folder(out)
    content = read_plan(plan)
    with checked_paths.new_folder(out) as folder:
        names = [path.name for path in render(content, folder)]
    facts = {"target": content.target, "files": names, "links": len(content.links), "out": str(out)}
    if printing.json:
        output.print_json(facts)
        return
    output.print_facts(
        [("configurations", numbers.count(len(content.brokers))), ("links", numbers.count(len(content.links)))]
    )
    printing.written(out)
