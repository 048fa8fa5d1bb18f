"""`topicloom watch`."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run, hearing_signals, read_token
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.brokers import Fleet
    from topicloom.brokers.watch import StatusBoard
    from topicloom.views.status import Pages
    from topicloom.views.watched_fleet import WatchedFleet
    from topicloom.views.web_reply import Reply

EXAMPLES = """
  topicloom watch --subs subs.csv --events events.jsonl
  topicloom watch --events incoming --apply --listen 127.0.0.1:9500
  topicloom watch --fleet fleet.toml --state fleet-state --collect --apply \\
      --changes 30 --between 22:00-05:00
"""


def _seconds(name: str, default: float, help: str, *, least: float = 0.0) -> options.Decorator:
    kind = options.Numeral(float, "SECONDS", "a number", least=least)
    return options.option(name, metavar="SECONDS", type=kind, default=default, show_default=True, help=help)


@command("watch", examples=EXAMPLES)
@options.brokers
@options.state
@options.file("--subs", metavar="SUBS", help="Subscriptions to begin with, for a new state.")
@options.option("--events", metavar="PATH", help="Events: a file that grows, a folder of .jsonl files, or -.")
@options.flag("--collect", help="Ask brokers who subscribes, as the fleet file says.")
@options.flag("--apply", help="Change the fleet.  [default: only show what would be done]")
@options.option(
    "--changes",
    metavar="N",
    type=options.Numeral(int, "N", "a whole number", least=1),
    default=120,
    show_default=True,
    help="Most brokers that get another file in an hour.",
)
@options.option("--between", metavar="HH:MM-HH:MM", help="Change the fleet only at this time of day.")
@_seconds("--every", 1.0, "Seconds between two looks.", least=0.1)
@_seconds("--down", 3.0, "Seconds without an answer until a broker counts as gone.")
@_seconds("--up", 5.0, "Seconds of answers until it counts as back; doubled by each loss.")
@_seconds("--hold", 30.0, "With --collect: seconds to keep what a broker no longer reports.")
@options.flag("--health/--no-health", default=True, help="Ask whether brokers answer.  [default: health]")
@options.target
@options.filters
@options.option("--listen", metavar="HOST:PORT", help="Serve a page, JSON and metrics for Prometheus, read-only.")
@options.flag("--once", help="Do what there is to do, and end.")
@options.option("--token-env", metavar="NAME", help="Variable with the token of --listen.")
def watch(
    run: Run,
    state: Path,
    subs: Path | None,
    events: str | None,
    collect: bool,
    apply: bool,
    changes: int,
    between: str | None,
    every: float,
    down: float,
    up: float,
    hold: float,
    health: bool,
    target: str,
    listen: str | None,
    once: bool,
    token_env: str | None,
) -> None:
    """Keep a fleet connected: mend, plan and apply as brokers come and go.

    Each decision is on disk before it is acted on, so the command may be stopped or killed at any time. Brokers that do
    not answer are left out until they do. Those that come and go are left out for longer each time.

    Exit status 1 if a change waits at the end of --once.
    """
    from topicloom.brokers import Collected
    from topicloom.brokers import collect as ask
    from topicloom.brokers import watch as watching
    from topicloom.brokers.decisions import Decisions, Plannable
    from topicloom.brokers.feed import CollectedFeed, Feed, LineFeed
    from topicloom.brokers.kinds import one_tree
    from topicloom.brokers.store import opened
    from topicloom.model.demand import Demand
    from topicloom.model.filters import PLAIN
    from topicloom.views.status import said, serving

    fleet, filters = run.brokers, run.shared["filters"]
    tree = one_tree(fleet.brokers.values(), target)
    if tree:
        fleet.constraints.require_forest(fleet.where)
    if collect and events is not None:
        raise InputError("give either collect or events", "collect", "events")
    allowance = watching.Allowance(changes, None if between is None else watching.read_window(between))
    settings = watching.WatchSettings(target, apply, every, health, down, up)

    def say(text: str) -> None:
        run.tell(said(text, time.time()))

    with ExitStack() as stack:
        begin = None if subs is None else Demand.read(subs, filters)
        kind = begin.filters if begin is not None else None if filters == PLAIN else filters
        kept = stack.enter_context(opened(state))
        folder = state / "collected"
        if collect:
            folder.mkdir(exist_ok=True)
            first = ask(fleet, Collected.read(folder), keep=lambda so_far: so_far.write(folder)).collected
            begin = begin or Demand.from_table(first.to_arrow(), kind)
        plannable = Plannable(fleet, target)
        decisions = Decisions(kept, fleet.constraints, begin, filters=kind, tree=tree, plannable=plannable)
        stack.callback(decisions.close)
        feed: Feed = lambda: ([], [])  # noqa: E731  nothing comes
        if collect:
            pool = None if once else ThreadPoolExecutor(1)
            feed = CollectedFeed(
                *(fleet, folder, decisions.demand, decisions.last_event + 1, hold),
                away=lambda: decisions.away,
                pool=pool,
            )
        elif events is not None:
            feed = LineFeed(events, decisions.last_event, kept.store.meta)
        heard = stack.enter_context(hearing_signals())
        controller = watching.Controller(
            fleet, decisions, kept, feed, allowance, settings, say, ending=lambda: bool(heard)
        )
        if isinstance(feed, LineFeed):
            controller.kept = feed.kept
        board = watching.StatusBoard()
        if listen is not None:
            serve = serving(board, listen, read_token(token_env), _pages(board, fleet), say)
            say(f"status at {stack.enter_context(serve)}")
        watching.watch(controller, once=once, until=lambda: bool(heard), after=board.update)
        if once and controller.waiting is not None:
            run.finding(controller.waiting)


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
