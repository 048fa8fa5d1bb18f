"""`topicloom bound`."""

from __future__ import annotations

from functools import partial

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom bound subs.parquet
  topicloom bound subs.parquet --rounds 200 --json
  topicloom bound subs.parquet --seconds 60
  topicloom bound subs.parquet --prices latency.csv
"""


@command("bound", examples=EXAMPLES)
@options.subscriptions
@options.option(
    "--rounds",
    metavar="N",
    type=options.WHOLE,
    help="Rounds that improve the bounds.  [default: as many as some seconds allow]",
)
@options.option(
    "--seconds",
    metavar="S",
    type=options.NUMBER,
    help="Seconds to improve the bounds; the result depends on time.",
)
@options.fleet
@options.prices
def bound(run: Run, rounds: int | None, seconds: float | None) -> View:
    """Compute lower bounds on links, price and max degree.

    No overlay that connects every topic of these subscriptions has fewer links, a lower price or a lower max degree. An
    overlay that reaches a bound is optimal. A fleet gives regions to prices; its limits do not count.
    """
    from topicloom.metrics import bound as lower_bounds
    from topicloom.registry import Watch
    from topicloom.views import designs

    watch, interest, prices = Watch(), run.interest, run.prices
    work = partial(lower_bounds, interest, prices=prices, rounds=rounds, seconds=seconds, watch=watch)
    return designs.bounds(run.step("computing bounds", work, watch=watch))
