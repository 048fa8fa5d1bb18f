"""`topicloom spark stream`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.spark.stream import Batch

EXAMPLES = """
  topicloom spark stream subs.parquet overlay.parquet --events incoming \\
      --state fleet-state --out changes
  topicloom spark stream subs.parquet overlay.parquet --source kafka \\
      --option kafka.bootstrap.servers=host:9092 --option subscribe=fleet \\
      --state fleet-state --out s3a://data/changes --every 100
"""


@command("stream", examples=EXAMPLES, late=options.of_maintainers)
@options.subscriptions
@options.overlay
@options.option("--events", metavar="PLACE", help="Folder that files of events as JSON Lines are moved into.")
@options.option("--source", metavar="NAME", default="text", show_default=True, help="Streaming source of Spark.")
@options.option("--option", "source_options", metavar="KEY=VALUE", multiple=True, help="Option of the source.")
@options.file("--state", metavar="DIR", required=True, help="Local folder that keeps what is needed to go on.")
@options.option(
    "--out",
    "-o",
    metavar="PLACE",
    required=True,
    help="Folder for changes and refused events by batch, overlay and subscriptions.",
)
@options.option(
    "--every", metavar="N", type=options.WHOLE, help="Write the overlay after every N batches, not only at the end."
)
@options.flag("--once", help="Process what is there and end.")
@options.flag("--jointly", help="Repair the overlay once for each batch, not after each event.")
@options.seed
@options.spark
def stream(
    run: Run,
    overlay: Path,
    events: str | None,
    source: str,
    source_options: tuple[str, ...],
    state: Path,
    out: str,
    every: int | None,
    once: bool,
    jointly: bool,
    seed: int,
    **parameters: Any,
) -> View:
    """Repair an overlay as events come.

    Each batch of events is applied once, in the order of ids. Events that come late or again, or cannot have happened,
    are reported and not applied. Ctrl-C ends it; the same command goes on.
    """
    from topicloom.churn import Settings
    from topicloom.spark.stream import Follower, current, event_lines, write_current
    from topicloom.views import streams

    if every is not None and every < 1:
        raise InputError(f"every is {every}; give a whole number of at least 1", "every")
    settings = Settings(**parameters, seed=seed)
    reading = options.spark_settings(source_options, "option")
    if run.interest.roles is not None:
        raise InputError("stream takes all to subscribe and publish; maintain knows roles", "role_column", "filters")
    given = run.overlay(overlay)
    following = _Following(run)
    with run.on_spark("stream") as work:
        follower = Follower(given, state, out, settings, jointly=jointly, every=every, told=following.told)

        def follow(session: Any) -> None:
            lines = event_lines(session, events, source, reading)
            if not work.is_remote:
                follower.open()  # so that a state that does not fit is refused now
            following.wait(follower, follower.start(lines, once=once))
            write_current(session, follower.close() or current(given, state, settings), out)

        try:
            work.do("following", follow, watch=following, note=lambda: following.note)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped{following.where}; the same command goes on from there") from None
    return streams.followed(following.batches, out)


class _Following:
    """Prints each batch as it is done; can be asked to stop."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.batches = 0
        self.done = 0
        self.stopped = False
        self.where = ""
        self.note = ""

    def __getstate__(self) -> dict[str, Any]:
        # A server of Spark Connect has no terminal.
        return {**vars(self), "_run": None}

    def stop(self) -> None:
        """End after the batch that is at work."""
        self.stopped = True

    def told(self, batch: Batch) -> None:
        """A batch is done."""
        from topicloom.views import streams

        self.batches += 1
        self.done += batch.events
        self.where = f" after batch {batch.number}"
        self.note = f"batch {batch.number}, event {batch.last_event}"
        if self._run is not None:
            self._run.tell(streams.batch(batch))

    def wait(self, follower: Any, query: Any) -> None:
        """Wait until a query ends, or it is to end."""
        try:
            while not self.stopped and not query.awaitTermination(1):
                pass
        except Exception:
            if follower.error is None:
                raise
        finally:
            query.stop()
        # Lines that Spark was told not to read any more are read again the next time.
        if follower.error is not None and not (self.stopped and not isinstance(follower.error, InputError)):
            error = follower.error
            follower.close()
            raise error
