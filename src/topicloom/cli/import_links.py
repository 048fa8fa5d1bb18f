"""`topicloom import`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom import /srv/mosquitto --out there.parquet
  topicloom measure subs.parquet there.parquet
  topicloom improve subs.parquet there.parquet --changes 20 \\
      --out better.parquet
"""


@command("import", examples=EXAMPLES)
@options.configurations
@options.out("OVERLAY", "Parquet file for the links.")
@options.option("--kind", metavar="KIND", help="Kind of all brokers.  [default: what configurations show]")
def import_links(run: Run, paths: tuple[Path, ...], out: Path, kind: str | None) -> View:
    """Read existing bridges as an overlay.

    Reads bridges of Mosquitto, leaf nodes of NATS, and federation of RabbitMQ from files of definitions. A broker is
    named after its file. All commands that take an overlay take the result.
    """
    from topicloom.brokers.lint import existing_links
    from topicloom.model.overlay import write_links
    from topicloom.views import bridges

    output.require_writable(out, *paths)
    found = existing_links(paths, kind)
    write_links(found.links, out)
    return bridges.links(found, out)
