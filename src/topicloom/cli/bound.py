"""`topicloom bound`."""

from __future__ import annotations

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom bound subs.parquet
  topicloom bound subs.parquet --rounds 200 --json
"""


@command("bound", examples=EXAMPLES)
@options.subscriptions
@options.option(
    "--rounds",
    metavar="N",
    type=options.WHOLE,
    help="Rounds that improve the bound on links.  [default: up to 60, some seconds]",
)
def bound(run: Run, rounds: int | None) -> View:
    """Compute lower bounds on links and max degree.

    No overlay that connects every topic of these subscriptions has fewer links or a lower max degree. An overlay that
    reaches a bound is optimal.
    """
    from topicloom.metrics import bound as lower_bounds
    from topicloom.views import designs

    return designs.bounds(run.step("computing bounds", lower_bounds, run.interest, rounds=rounds))
