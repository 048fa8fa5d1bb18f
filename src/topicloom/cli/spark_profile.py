"""`topicloom spark profile`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark profile fleet
  topicloom spark profile hdfs:///data/fleet --out profile
"""


@command("profile", examples=EXAMPLES)
@options.place
@options.file("--out", "-o", metavar="DIR", help="New folder for distributions and log-log plots.")
@options.option(
    "--max-pairs",
    metavar="N",
    type=options.WHOLE,
    default=20_000_000,
    show_default=True,
    help="Count pairs of nodes exactly up to this many; estimate beyond.",
)
@options.seed
@options.spark
def profile(run: Run, out: Path | None, max_pairs: int, seed: int) -> View:
    """Show how subscriptions are distributed.

    How many topics nodes want, how popular topics are, what pairs of nodes share, and how much memory each designer
    would need.
    """
    from topicloom.spark import profile as profile_interest
    from topicloom.views import ingested

    if out is not None:
        output.require_new_folder(out)
    with run.on_spark("profile") as work:
        interned = work.interned(run.place)
        found = work.do("profiling", lambda _: profile_interest(interned, max_pairs=max_pairs, seed=seed))
    if out is not None:
        found.write(out)
    return ingested.profile(found, out)
