"""`topicloom collect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run, hearing_signals
from topicloom.errors import InputError
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.brokers import Fleet

EXAMPLES = """
  topicloom collect --fleet fleet.toml --out raw
  topicloom spark ingest raw --out fleet

Follow the fleet, until Ctrl-C:
  topicloom collect --fleet fleet.toml --out raw --follow \\
      --events events.jsonl
"""


@command("collect", examples=EXAMPLES)
@options.brokers
@options.out("DIR", "Folder for subscriptions.parquet; goes on from what it has.")
@options.flag("--follow", help="Ask again and again, and write events.")
@options.file("--events", metavar="FILE|DIR", help="With --follow: JSON Lines file to append to, or folder.")
@options.option(
    "--every",
    metavar="SECONDS",
    type=options.NUMBER,
    default=5.0,
    show_default=True,
    help="With --follow: seconds between two rounds.",
)
@options.option("--looks", metavar="N", type=options.WHOLE, help="With --follow: stop after N rounds.")
def collect(run: Run, out: Path, follow: bool, events: Path | None, every: float, looks: int | None) -> View | None:
    """Ask running brokers who subscribes and publishes.

    Reads logs of Mosquitto, and asks NATS, RabbitMQ and EMQX. Leaves out $SYS, bridges, and what Topicloom made at
    brokers. Brokers that do not answer are listed; exit status 1.
    """
    from topicloom.brokers import Collected, collect
    from topicloom.io.whole import exclusive_lock
    from topicloom.views import collected
    from topicloom.views.numbers import count_of

    fleet = run.brokers
    if follow != (events is not None):
        raise InputError("follow and events go together; give both or none", "follow", "events")
    if not 0 <= every < float("inf"):
        raise InputError(f"every must be a number, 0 or more, not {every:g}", "every")
    if looks is not None and looks < 1:
        raise InputError(f"looks must be 1 or more, not {looks}", "looks")
    with exclusive_lock(out, ".lock"):
        if events is not None:
            _follow(run, fleet, out, events, every, looks)
            return None
        asking = f"asking {count_of(len(fleet.sources), 'broker')}"
        before = Collected.read(out)
        found = run.step(asking, lambda: collect(fleet, before, keep=lambda so_far: so_far.write(out)))
    for name, problem in found.problems.items():
        run.finding(f"{name}: {problem}")
    for name, note in found.notes:
        run.finding(f"{name}: {note}", 0)
    return collected.collection(found, fleet, out)


def _follow(run: Run, fleet: Fleet, out: Path, events: Path, every: float, looks: int | None) -> None:
    """Look at the fleet again and again; Ctrl-C ends it between two looks."""
    from topicloom.brokers import fleet_changes
    from topicloom.views import collected

    done = 0
    told: dict[str, str] = {}
    with hearing_signals() as heard:
        until = lambda: bool(heard) or done == looks  # noqa: E731
        for look in fleet_changes(fleet, out, events, every_seconds=every, until=until):
            done += 1
            # A problem is told when it is new, not at every look.
            news = dict([*look.collection.problems.items(), *look.collection.notes])
            for name, text in news.items():
                if told.get(name) != text:
                    output.complain(f"{name}: {text}")
            told = news
            run.status = FOUND if look.collection.problems else 0
            for view in collected.happened(look.events):
                run.tell(view)
