"""`topicloom spark`: large data and many runs, a group of commands."""

from __future__ import annotations

from importlib import import_module

import click

from topicloom.cli.command import Group

HELP = """Work on large data, and on many runs, with Spark.

It uses all cores of this machine, or a cluster. FLEET is what `topicloom spark ingest` wrote.
"""

EPILOG = """\
Example:
  topicloom spark ingest logs/*.csv.gz --out fleet
  topicloom spark design fleet --out overlay.parquet
  topicloom spark measure fleet overlay.parquet
  topicloom spark sweep grid.toml --out results

`topicloom spark COMMAND --help` says more about a command.
"""

SECTIONS = {
    "Commands": ("ingest", "profile", "sample", "design", "measure", "sweep", "stream", "rates"),
}


def _load(name: str) -> click.Command:
    command: click.Command = getattr(import_module(f"topicloom.cli.spark_{name}"), name)
    return command


spark = Group("spark", SECTIONS, _load, help=HELP, epilog=EPILOG)
