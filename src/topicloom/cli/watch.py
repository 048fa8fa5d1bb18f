"""`topicloom watch`."""

from __future__ import annotations

import importlib.util
import signal
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topicloom.brokers import Fleet
    from topicloom.brokers.watch import StatusBoard
    from topicloom.views.status import Pages
    from topicloom.views.watched_fleet import WatchedFleet
    from topicloom.views.web_reply import Reply


EXAMPLES = """\b
Example:
  topicloom watch fleet.toml --state fleet-state --subs subs.csv \\
      --events events.jsonl
  topicloom watch fleet.toml --state fleet-state --events incoming --apply \\
      --listen 127.0.0.1:9500
  topicloom watch fleet.toml --state fleet-state --collect --apply \\
      --changes 30 --between 22:00-05:00
"""


def command(
    *,
    fleet: Annotated[
        Path,
        typer.Argument(metavar="FLEET", help="TOML file of the fleet.", show_default=False),
    ],
    state: Annotated[
        Path, typer.Option("--state", metavar="DIR", help="Folder that keeps what was decided and what the fleet has.")
    ],
    subs: Annotated[
        Path | None,
        typer.Option(
            "--subs",
            metavar="SUBS",
            help="Subscriptions to begin with, where the state is new and brokers are not asked.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="PATH",
            help="Events: a file that grows, a folder that gets .jsonl files, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    collect: Annotated[
        bool, typer.Option("--collect", help="Ask the brokers who subscribes, as the fleet file says.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Change the fleet; else only say what would be done.")] = False,
    changes: Annotated[
        int,
        typer.Option("--changes", metavar="N", help="The most brokers that may get another file in an hour.", min=1),
    ] = 120,
    between: Annotated[
        str | None,
        typer.Option(
            "--between",
            metavar="HH:MM-HH:MM",
            help="When the fleet may be changed; always unless given.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", help="How long between looks.", min=0.1)] = 1.0,
    down: Annotated[
        float, typer.Option("--down", metavar="SECONDS", help="How long a broker is silent before it counts as gone.")
    ] = 3.0,
    up: Annotated[
        float,
        typer.Option(
            "--up", metavar="SECONDS", help="How long it answers before it counts as back; twice that after each loss."
        ),
    ] = 5.0,
    hold: Annotated[
        float,
        typer.Option(
            "--hold",
            metavar="SECONDS",
            help="How long what brokers no longer tell still counts, with --collect.",
            min=0,
        ),
    ] = 30.0,
    health: Annotated[bool, typer.Option("--health/--no-health", help="Look whether brokers answer.")] = True,
    target: options.Target = "mosquitto",
    filters: options.Filters = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Serve metrics for Prometheus, JSON and a page there; nothing can be changed over it.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do and leave.")] = False,
    token: options.StatusToken,
    printing: options.Printing,
) -> None:
    """Follow a fleet: mend, plan and apply what changes.

    Everything that it sees, decides and does is on disk before it goes on, so that it may be ended in any way at any
    time. Brokers that do not answer are left out until they do, and flapping ones for longer each time.
    """
    from topicloom.brokers import Collected
    from topicloom.brokers import collect as ask
    from topicloom.brokers.decisions import Decisions, Plannable
    from topicloom.brokers.feed import CollectedFeed, Feed, LineFeed
    from topicloom.brokers.fleet_file import read_fleet
    from topicloom.brokers.kinds import one_tree
    from topicloom.brokers.store import opened
    from topicloom.brokers.watch import Allowance, Controller, StatusBoard, WatchSettings, read_window, watch
    from topicloom.model.demand import Demand
    from topicloom.model.filters import PLAIN
    from topicloom.views.status import serving

    checked_paths.require_readable(fleet)
    ways = read_fleet(fleet)
    tree = one_tree(ways.brokers.values(), target)
    if tree:
        ways.constraints.require_forest(ways.where)
    if collect and events is not None:
        raise InputError("give either collect or events", "collect", "events")
    allowance = Allowance(changes, None if between is None else read_window(between))
    settings = WatchSettings(target, apply, every, health, down, up)
    ended = [False]

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended[0] = True

    def say(text: str) -> None:
        if printing.json:
            output.print_json_line({"at": round(time.time(), 3), "said": text})
        elif not printing.quiet:
            print(output.one_line(f"{datetime.now():%H:%M:%S}  {text}"), flush=True)

    with ExitStack() as stack:
        begin = None if subs is None else Demand.read(subs, filters)
        kind = begin.filters if begin is not None else None if filters == PLAIN else filters
        fleet_state = stack.enter_context(opened(state))
        folder = state / "collected"
        if collect:
            folder.mkdir(exist_ok=True)
            first = ask(ways, Collected.read(folder), keep=lambda so_far: so_far.write(folder)).collected
            begin = begin or Demand.from_table(first.to_arrow(), kind)
        plannable = Plannable(ways, target)
        decisions = Decisions(fleet_state, ways.constraints, begin, filters=kind, tree=tree, plannable=plannable)
        stack.callback(decisions.close)
        feed: Feed = lambda: ([], [])  # noqa: E731  nothing comes
        if collect:
            feed = CollectedFeed(ways, folder, decisions.demand, decisions.last_event + 1, hold)
        elif events is not None:
            feed = LineFeed(events, decisions.last_event, fleet_state.store.meta)
        controller = Controller(ways, decisions, fleet_state, feed, allowance, settings, say, ending=lambda: ended[0])
        if isinstance(feed, LineFeed):
            controller.kept = feed.kept
        for name in (signal.SIGTERM, signal.SIGINT):
            before = signal.signal(name, end)
            stack.callback(signal.signal, name, before)
        board = StatusBoard()
        if listen is not None:
            serve = serving(board, listen, token.read(), _pages(board, ways), say)
            say(f"status at {stack.enter_context(serve)}")
        watch(controller, once=once, until=lambda: ended[0], after=board.update)
        if once and controller.waiting is not None:
            output.complain(controller.waiting)
            raise typer.Exit(1)


def _pages(board: StatusBoard, fleet: Fleet) -> Pages | None:
    """The explorer's pages of a fleet, where what draws them is installed; imported when somebody looks."""
    if not all(importlib.util.find_spec(library) for library in ("bokeh", "igraph")):
        return None
    explored: list[WatchedFleet] = []

    def page(path: str, given: Mapping[str, str]) -> Reply | None:
        from topicloom.views.watched_fleet import WatchedFleet

        if not explored:
            explored.append(WatchedFleet(fleet, lambda: board.decided, board.as_table))
        return explored[0].answer(path, given)

    return page
