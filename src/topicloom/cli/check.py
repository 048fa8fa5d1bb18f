"""`topicloom check`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run, read_fleet
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom check
  topicloom check fleet.toml --seconds 2 --json
"""

_MOST_SECONDS = 3600


@command("check", examples=EXAMPLES)
@options.path("fleet", "[FLEET]", "Fleet file.  [default: fleet.toml]", required=False)
@options.target
@options.option(
    "--seconds",
    metavar="SECONDS",
    type=options.NUMBER,
    default=5.0,
    show_default=True,
    help="Deadline of a broker's connection, and of each command.",
)
def check(run: Run, fleet: Path | None, target: str, seconds: float) -> View:
    """Try whether brokers can be reached, logged in to, and given files.

    For each broker: its name resolves to an address of its own, its port is open, TLS is trusted, the protocol answers,
    the login is taken, the folder can be written to, and the programs of commands are there. Nothing is changed. Exit
    status 1 if something is wrong.
    """
    from topicloom.brokers.check import WRONG, check_fleet
    from topicloom.brokers.kinds import KINDS
    from topicloom.views import fleet_status as views

    if not 0 < seconds <= _MOST_SECONDS:
        raise InputError(f"seconds must be above 0, at most {_MOST_SECONDS:,}, not {seconds:g}", "seconds")
    known = read_fleet(options.FLEET if fleet is None else fleet)
    checked = run.step("asking brokers", check_fleet, known, KINDS.find(target).name, seconds=seconds)
    if any(one.state == WRONG for one in checked):
        run.status = FOUND
    return views.checked(checked)
