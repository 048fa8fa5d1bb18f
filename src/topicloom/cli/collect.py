"""`topicloom collect`."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers import Collection, Fleet, Look


EXAMPLES = """\b
Example:
  topicloom collect fleet.toml --out raw
  topicloom spark ingest raw --out fleet

\b
Follow the fleet, until Ctrl-C:
  topicloom collect fleet.toml --out raw --watch --events events.jsonl
"""

INCOMPLETE = 1
# More bridges of a broker than these are counted, not named.
_NAMED = 5


def command(
    *,
    fleet: Annotated[
        Path,
        typer.Argument(
            metavar="FLEET", help="TOML file of the fleet, with tables [brokers.NAME.collect].", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for subscriptions.parquet; goes on from there.")
    ],
    watch: Annotated[bool, typer.Option("--watch", help="Ask again and again, and write events.")] = False,
    events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE|DIR",
            help="With --watch: JSON Lines file to append to, or a folder for `topicloom stream`.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", help="With --watch: how long to wait between looks.")
    ] = 5.0,
    looks: Annotated[
        int | None,
        typer.Option("--looks", metavar="N", help="With --watch: end after so many looks.", min=1, show_default=False),
    ] = None,
    printing: options.Printing,
) -> None:
    """Ask running brokers who subscribes and publishes what.

    Reads logs of Mosquitto, and asks NATS, RabbitMQ and EMQX. Leaves out $SYS and what Topicloom itself has made at
    brokers. A broker that does not answer is named, and the others go on; the status is 1 then.
    """
    from topicloom.brokers import Collected, collect, fleet_changes
    from topicloom.brokers.fleet_file import read_fleet
    from topicloom.errors import InputError
    from topicloom.io.whole import exclusive_lock

    checked_paths.require_readable(fleet)
    if watch != (events is not None):
        raise InputError("--watch and --events go together; give both or none")
    if not 0 <= every < float("inf"):
        raise InputError(f"--every must be a number, 0 or more, not {every:g}")
    brokers = read_fleet(fleet)
    with exclusive_lock(out, ".lock"):
        if events is None:
            with printing.working() as working:
                collection = working.do(
                    f"asking {numbers.count_of(len(brokers.sources), 'broker')}",
                    lambda: collect(brokers, Collected.read(out), keep=lambda so_far: so_far.write(out)),
                )
            _tell(collection, brokers, printing, out)
            if collection.problems:
                raise typer.Exit(INCOMPLETE)
            return
        watching = _Watching(printing, looks)
        with watching.hearing_signals():
            for look in fleet_changes(brokers, out, events, every_seconds=every, until=lambda: watching.over):
                watching.of(look)
    if watching.problems:
        raise typer.Exit(INCOMPLETE)


def _tell(collection: Collection, fleet: Fleet, printing: options.Printing, out: Path) -> None:
    rows = collection.collected.to_arrow()
    per_role = {row["values"]: row["counts"] for row in rows["role"].value_counts().to_pylist()}
    bridges = collection.collected.bridges
    facts = {
        "brokers": len(fleet.sources),
        "brokers_not_asked": len(fleet.brokers) - len(fleet.sources),
        "brokers_without_answer": len(collection.problems),
        "subscriptions": per_role.get("sub", 0),
        "publications": per_role.get("pub", 0),
        "topics": len(rows["topic"].unique()),
        "clients": rows.group_by(["node", "client"]).aggregate([]).num_rows,
        "bridges": sum(map(len, bridges.values())),
    }
    _complain(collection)
    if printing.json:
        notes = [{"broker": name, "note": note} for name, note in collection.notes]
        listed = [{"broker": name, "bridge": bridge} for name, each in bridges.items() for bridge in each]
        output.print_json(
            {**facts, "bridges": listed, "problems": collection.problems, "notes": notes, "out": str(out)}
        )
        return
    output.print_facts([(name.replace("_", " "), numbers.count(number)) for name, number in facts.items()])
    for name, each in bridges.items():
        more = f" and {len(each) - _NAMED} more" if len(each) > _NAMED else ""
        output.say(f"  {name} has bridges, which are no clients: {output.one_line(', '.join(each[:_NAMED]))}{more}")
    printing.written(out)


def _complain(collection: Collection) -> None:
    for name, problem in [*collection.problems.items(), *collection.notes]:
        output.complain(f"{name}: {problem}")


class _Watching:
    """Prints what each look finds, and hears Ctrl-C, which ends it between two looks."""

    def __init__(self, printing: options.Printing, looks: int | None) -> None:
        self._printing = printing
        self._looks = looks
        self._done = 0
        self._told: dict[str, Any] = {}
        self.problems: dict[str, str] = {}
        self._stopped = False

    @property
    def over(self) -> bool:
        """Whether no other look is wanted."""
        return self._stopped or (self._looks is not None and self._done >= self._looks)

    def of(self, look: Look) -> None:
        """A look is done."""
        self._done += 1
        self.problems = look.collection.problems
        # What is wrong is said once, not at every look.
        news = dict([*self.problems.items(), *look.collection.notes])
        for name, text in news.items():
            if self._told.get(name) != text:
                output.complain(f"{name}: {text}")
        self._told = news
        if self._printing.json:
            for event in look.events:
                print(event.to_json(), flush=True)
        elif look.events:
            kinds = Counter(event.kind for event in look.events)
            named = ", ".join(
                numbers.count_of(kinds[kind], kind) for kind in ("join", "leave", "change") if kinds[kind]
            )
            output.say(f"event {look.events[-1].id}: {named}")

    @contextmanager
    def hearing_signals(self) -> Iterator[None]:
        """End between two looks where SIGINT or SIGTERM comes."""

        def stop(*_: object) -> None:
            self._stopped = True

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
