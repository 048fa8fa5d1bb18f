"""`topicloom status`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom status
  topicloom status --fleet fleet.toml --state fleet-state --json
"""


@command("status", examples=EXAMPLES)
@options.brokers
@options.state
def status(run: Run, state: Path) -> View:
    """Show what every broker should have, and what it has.

    Reads the files of brokers back, and asks whether their links are up; also while `watch` runs. Nothing is changed.
    Exit status 1 if a broker drifted, does not answer, or has links that are not up.
    """
    from topicloom.brokers.status import fleet_status
    from topicloom.brokers.store import beside
    from topicloom.views import fleet_status as views

    fleet = run.brokers
    with beside(state) as kept:
        brokers = run.step("asking brokers", fleet_status, kept, fleet)
        move = kept.move
    if move is not None or any(one.found for one in brokers):
        run.status = FOUND
    steps = None if move is None else (move.done, len(move.steps))
    return views.fleet_status(kept.has, steps, brokers)
