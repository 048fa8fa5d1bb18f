"""`topicloom import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom import /srv/mosquitto --out there.parquet
  topicloom measure subs.parquet there.parquet
  topicloom improve subs.parquet there.parquet --changes 20 --out better.parquet
"""


def command(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR|FILE...",
            help="Configurations of all brokers: files, or folders that hold a file or a folder for each broker.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OVERLAY", help="Parquet file to write the links to.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Kind of all brokers; their configurations show it unless given."),
    ] = None,
    printing: options.Printing,
) -> None:
    """Turn the bridges that a fleet has into an overlay.

    Reads bridges of Mosquitto, leaf nodes of NATS, and RabbitMQ's federation from files of definitions. Brokers are
    called as their files. All commands that take an overlay take what is written.
    """
    from topicloom.brokers.lint import existing_links
    from topicloom.model.overlay import write_links

    checked_paths.require_writable(out, *paths)
    found = existing_links(paths, kind)
    write_links(found.links, out)
    facts = {"brokers": len(found.brokers), "bridges": found.bridges, "links": len(found.links)}
    if printing.json:
        output.print_json({**facts, "outside": list(found.outside), "out": str(out)})
        return
    output.print_facts([(name, numbers.count(number)) for name, number in facts.items()])
    for text in found.outside:
        output.say(output.one_line(f"  {text}"))
    printing.written(out)
