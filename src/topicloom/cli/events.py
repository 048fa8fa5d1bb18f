"""`topicloom events`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom events monday.parquet tuesday.parquet --out events.jsonl
  topicloom maintain monday.parquet overlay.parquet events.jsonl \\
      --out tuesday-overlay.parquet
"""


def command(
    *,
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="Subscriptions as they were, as SUBS of `design`.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Subscriptions as they are.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="EVENTS", help="JSON Lines file to write.")],
    columns: options.InterestColumns,
    printing: options.Printing,
) -> None:
    """Write the events that lead from some subscriptions to others.

    Nodes join, change their topics and leave, in this order; `topicloom maintain` takes them.
    """
    from topicloom.model import Interest
    from topicloom.model.demand import Demand
    from topicloom.model.events import topics_by_node, write_events
    from topicloom.model.filters import PLAIN

    checked_paths.require_writable(out, old, new, ending=".jsonl")

    def topics_in(path: Path) -> Demand:
        interest = Interest.read(
            path,
            node_column=columns.node_column,
            topic_column=columns.topic_column,
            role_column=columns.role_column,
            filters=columns.filters,
        )
        if interest.filters is not None:
            # Events are about filters as nodes have them, and not about the topics that they come to.
            rows = interest.to_arrow().select(["node", "topic"]).replace_schema_metadata(None)
            interest = Interest.from_arrow(rows, filters=PLAIN)
        return Demand.of_topics(topics_by_node(interest))

    with printing.working() as working:
        before = working.do(f"reading {old.name}", lambda: topics_in(old))
        after = working.do(f"reading {new.name}", lambda: topics_in(new))
    events = before.events_to(after)
    write_events(events, out)
    kinds = Counter(event.kind for event in events)
    counts = {kind: kinds[kind] for kind in ("join", "leave", "change")}
    if printing.json:
        output.print_json({"events": len(events), **counts, "out": str(out)})
        return
    named = ", ".join(numbers.count_of(count, kind) for kind, count in counts.items())
    output.say(f"{numbers.count_of(len(events), 'event')} ({named}), written to {output.one_line(str(out))}")
