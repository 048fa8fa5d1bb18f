"""`topicloom events`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.model.demand import Demand

EXAMPLES = """
  topicloom events monday.parquet tuesday.parquet --out events.jsonl
  topicloom maintain monday.parquet overlay.parquet events.jsonl \\
      --out tuesday-overlay.parquet
"""


@command("events", examples=EXAMPLES)
@options.path("old", "OLD", "Subscriptions before, as SUBS of `topicloom design`.")
@options.path("new", "NEW", "Subscriptions after.")
@options.out("EVENTS", "JSON Lines file for the events.")
@options.columns
def events(run: Run, old: Path, new: Path, out: Path) -> View:
    """List joins, leaves and changes between two sets of subscriptions.

    Nodes join, change their topics and leave, in this order; `topicloom maintain` takes these events.
    """
    from topicloom.model.events import write_events
    from topicloom.views import collected

    output.require_writable(out, old, new, ending=".jsonl")
    before, after = (_demand(run, path) for path in (old, new))
    found = before.events_to(after)
    write_events(found, out)
    return collected.events(found, out)


def _demand(run: Run, path: Path) -> Demand:
    from topicloom.model import Interest
    from topicloom.model.demand import Demand
    from topicloom.model.events import topics_by_node
    from topicloom.model.filters import PLAIN

    interest = run.read_interest(path)
    if interest.filters is not None:
        # Events are about filters as nodes have them, and not about the topics that they come to.
        rows = interest.to_arrow().select(["node", "topic"]).replace_schema_metadata(None)
        interest = Interest.from_arrow(rows, filters=PLAIN)
    return Demand.of_topics(topics_by_node(interest))
