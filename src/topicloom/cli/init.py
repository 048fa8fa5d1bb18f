"""`topicloom init`."""

from __future__ import annotations

from pathlib import Path

import click

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom init berlin.example.net paris.example.net rome.example.net
  topicloom init hub=10.0.0.1:8883 10.0.0.2 10.0.0.3
  topicloom init --inventory hosts.ini --group brokers
"""


@command("init", examples=EXAMPLES)
@click.argument("hosts", metavar="[HOST...]", nargs=-1, help="Brokers: HOST, HOST:PORT, or NAME=HOST:PORT to name one.")
@options.file("--inventory", help="Ansible inventory with further brokers, in INI or YAML.")
@options.option("--group", metavar="NAME", help="Group of the inventory.  [default: all hosts]")
@options.option(
    "--kind",
    metavar="KIND",
    default="mosquitto",
    show_default=True,
    shell_complete=options.kinds,
    help="Kind of all brokers.",
)
@options.file("--out", "-o", metavar="FLEET", default=options.FLEET, show_default=True, help="TOML file for the fleet.")
@options.flag("--replace", help="Replace the file if there is one.")
def init(
    run: Run, hosts: tuple[str, ...], inventory: Path | None, group: str | None, kind: str, out: Path, replace: bool
) -> View:
    """Write a fleet file for some brokers, with comments.

    A broker is called by the first part of its host name, unless two would have the same name.
    """
    from topicloom.brokers import new_fleet
    from topicloom.io.whole import write_whole
    from topicloom.views import plans

    output.require_writable(out, *filter(None, [inventory]), ending=".toml")
    if out.exists() and not replace:
        raise InputError(f"{out}: already exists; give replace, or another file with out", "replace", "out")
    given = [new_fleet.host_from(host) for host in hosts]
    if inventory is not None:
        output.require_readable(inventory)
        given += new_fleet.read_inventory(inventory, group)
    elif group is not None:
        raise InputError("group needs inventory", "group", "inventory")
    if not given:
        raise InputError("no brokers; give at least one HOST, or an inventory", "inventory")
    named = new_fleet.with_short_names(given)
    write_whole(out, new_fleet.fleet_text(named, kind, str(out)))
    return plans.new_fleet([host.name for host in named], out)
