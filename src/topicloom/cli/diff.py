"""`topicloom diff`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run, read_plan
from topicloom.views.view import View

EXAMPLES = """
  topicloom diff old.json new.json
  topicloom diff old.json new.json --json
"""


@command("diff", examples=EXAMPLES)
@options.path("old", "OLD", "Plan that the brokers have.")
@options.path("new", "NEW", "Plan that they are to get.")
def diff(run: Run, old: Path, new: Path) -> View:
    """Show what changes between two plans, and in which order.

    In this order no message goes in a cycle; topics that are interrupted meanwhile are named. Exit status 1 if there is
    anything to do, 0 if not.
    """
    from topicloom.brokers.diff import compare_plans
    from topicloom.views import plans

    difference = compare_plans(read_plan(old), read_plan(new))
    if difference.steps:
        run.status = FOUND
    return plans.difference(difference)
