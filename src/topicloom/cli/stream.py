"""`topicloom stream`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import on_spark
from topicloom.cli.typer_options import maintainer_options, taking
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.spark.stream import Batch


EXAMPLES = """\b
Example:
  topicloom stream subs.parquet overlay.parquet --events incoming \\
      --state fleet-state --out plan
  topicloom stream subs.parquet overlay.parquet --events incoming \\
      --state fleet-state --out plan --once --json
"""


@taking(maintainer_options)
def command(
    *,
    subs: options.InterestFile,
    overlay: options.OverlayFile,
    events: Annotated[
        Path,
        typer.Option(
            "--events", metavar="DIR", help="Folder of JSON Lines files with events; more may be moved into it."
        ),
    ],
    state: Annotated[
        Path, typer.Option("--state", metavar="DIR", help="Folder that keeps what is needed to go on after any end.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR2",
            help="Folder for changes/ and refused/, a file for each batch, and the present overlay and subscriptions.",
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="Process what is there and leave.")] = False,
    jointly: Annotated[
        bool, typer.Option("--jointly", help="Mend once for each batch, instead of after each event.")
    ] = False,
    seed: options.Seed = 0,
    spark: options.Spark,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Mend an overlay as events come, on Spark.

    Each batch of events is applied once, in the order of ids. Events that come late or again, or cannot have happened,
    are reported and not applied. Ctrl-C ends it; the same command goes on.
    """
    from topicloom.churn import Settings
    from topicloom.errors import InputError
    from topicloom.model import Overlay
    from topicloom.spark.stream import event_lines, follow

    settings = Settings(**parameters, seed=seed)
    telling = _Telling(json=printing.json)
    with printing.working(spark) as working:
        interest = subs.read(working)
        if interest.roles is not None:
            raise InputError(
                "stream takes all to subscribe and publish; maintain knows roles", "role_column", "filters"
            )
        given = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        with on_spark(working, spark.options(), "topicloom stream") as work:
            try:
                work.do(
                    "following",
                    lambda session: follow(
                        event_lines(session, events),
                        given,
                        state=state,
                        out=out,
                        settings=settings,
                        once=once,
                        jointly=jointly,
                        told=telling.of,
                        until=lambda: telling.stopped,
                    ),
                    watch=telling,
                    note=lambda: telling.note,
                )
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"stopped{telling.where}; the same command goes on from there") from None
    if not telling.batches and not printing.json:
        output.say("no new events")


class _Telling:
    """Prints each batch as it is done; can be asked to stop."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self.batches = 0
        self.done = 0
        self.stopped = False
        self.where = ""
        self.note = ""

    def stop(self) -> None:
        """End after the batch that is at work."""
        self.stopped = True

    def of(self, batch: Batch) -> None:
        """A batch is done."""
        self.batches += 1
        self.done += batch.events
        self.where = f" after batch {batch.number}"
        self.note = f"batch {batch.number}, event {batch.last_event}"
        if self._json:
            output.print_json_line(vars(batch))
            return
        refused = f", {numbers.count(batch.refused)} refused" if batch.refused else ""
        links = f"{numbers.count_of(batch.links_added, 'link')} added, {numbers.count(batch.links_removed)} removed"
        output.say(f"batch {batch.number}: {numbers.count_of(batch.events, 'event')}{refused}; {links}")
