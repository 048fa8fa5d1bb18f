"""`topicloom explore`."""

from __future__ import annotations

import importlib
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.options import option_name
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.views.explorer import NamedOverlay
    from topicloom.views.page import Results
    from topicloom.views.what_if import Question


EXAMPLES = """\b
Example:
  topicloom explore results/
  topicloom explore subs.parquet gm.parquet --fleet fleet.toml
  topicloom explore plan.json
  topicloom explore results/ --static network.html
  topicloom explore --watch http://127.0.0.1:9500
"""


def command(
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...",
            help="Subscriptions, overlays, plans, traces, sweeps, content-based networks and reproductions, or folders "
            "with such files, which are told apart by what they hold.",
            show_default=False,
        ),
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(
            "--static",
            metavar="PAGE",
            help="Write the views that need no server to one HTML file that needs nothing else, and end.",
            show_default=False,
        ),
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(
            "--places",
            metavar="FILE",
            help="Table with columns node, latitude and longitude: networks are drawn as on a map.",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch",
            metavar="URL",
            help="Where `topicloom watch` listens, such as http://127.0.0.1:9500: its fleet is shown as it is now.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port to listen on; 0 is any that is free.")] = 0,
    columns: options.InterestColumns,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    token: options.StatusToken,
    printing: options.Printing,
) -> None:
    """Look at networks in a browser, and ask what if.

    Serves pages on this machine alone, under an address that holds a token, until Ctrl-C.
    """
    from topicloom.views.explorer import Explorer, collect, read_places
    from topicloom.views.network import require_explorer
    from topicloom.views.page import find_files, nothing_read, read_results
    from topicloom.views.section import Found

    _import_igraph()
    require_explorer()
    from topicloom.views.network_views import read_status
    from topicloom.views.server import serve
    from topicloom.views.static_page import write_static

    if watch is not None and not watch.startswith(("http://", "https://")):
        raise InputError(f"watch is an address such as http://127.0.0.1:9500, not '{watch}'", "watch")
    if not paths and watch is None:
        raise InputError("give files or folders to look at, or a fleet that is watched", "watch")
    if static is not None and not paths:
        raise InputError("static keeps what files hold, and a watched fleet is none; give files or folders", "static")
    located = None if places is None else read_places(places)
    fleet, secret = limits.read(), token.read()
    found = find_files(paths, node_column=columns.node_column, topic_column=columns.topic_column) if paths else Found()
    if static is not None:
        read = [path for group in found.paths.values() for path in group]
        checked_paths.require_writable(static, *read, ending=".html")

    def read_all() -> Results:
        return read_results(
            found,
            node_column=columns.node_column,
            topic_column=columns.topic_column,
            role_column=columns.role_column,
            filters=columns.filters,
            diameters=False,
        )

    with printing.working() as working:
        results = working.do("reading", read_all) if paths else nothing_read()
        prices = costs.read(fleet, results.fleets[0].interest) if results.fleets else None
        text = limits.fleet.read_text(encoding="utf-8") if limits.fleet else None
        collection = working.do(
            "designing", lambda: collect(results, found, fleet=fleet, fleet_text=text, prices=prices, located=located)
        )
        explorer = Explorer(collection, lambda question, named: commands(question, named, limits.fleet, costs.prices))
        if watch is not None:
            explorer.live = partial(read_status, watch, secret)
        if static is not None:
            size = working.do("drawing", lambda: write_static(explorer, static))
    if static is not None:
        _tell_of_static(static, size, printing)
        return

    def ready(address: str) -> None:
        output.say(f"open {address}")
        output.say("Ctrl-C ends it")

    try:
        serve(explorer, port, ready)
    except KeyboardInterrupt:
        raise typer.Exit from None


def _import_igraph() -> None:
    """Import igraph without matplotlib, which it takes along where it can to draw by itself: an eighth of a start."""
    hidden = sys.modules.setdefault("matplotlib", None) is None  # type: ignore[arg-type]
    try:
        importlib.import_module("igraph")
    except ImportError:
        # What is missing is told in a line by whoever needs it.
        pass
    finally:
        if hidden:
            del sys.modules["matplotlib"]


def _tell_of_static(page: Path, size: int, printing: options.Printing) -> None:
    if printing.json:
        output.print_json({"bytes": size, "out": str(page)})
    else:
        printing.written(page)


def commands(question: Question, named: NamedOverlay, fleet: Path | None, prices: Path | None) -> list[str]:
    """The commands that do the same as a question, with the files that the answer can be taken away as."""
    from topicloom.views.what_if import DESIGN, MEND, MENDER, cuts

    asked = question.killed or question.added
    subs = "subscriptions.parquet" if asked or named.wanted is None else named.wanted.file
    limits = "fleet.toml" if question.forbidden else fleet
    shared = [*(["--fleet", str(limits)] if limits else []), *(["--prices", str(prices)] if prices else [])]
    if question.reaction == DESIGN:
        given = [
            word
            for name, value in question.parameters.items()
            for word in ([option_name(name)] if value is True else [option_name(name), str(value)])
            if value is not False
        ]
        words = ["design", subs, "--algorithm", question.algorithm, *given, *shared, "--out", "overlay.parquet"]
    elif question.reaction == MEND and cuts(named.seen.overlay, question):
        words = ["design", subs, "--algorithm", MENDER, *shared, "--out", "overlay.parquet"]
    elif question.reaction == MEND and asked:
        old = named.wanted.file if named.wanted else "SUBS"
        words = ["maintain", old, named.file or "before.parquet", "events.jsonl", *shared]
        words += ["--jointly", str(max(1, len(question.killed) + len(question.added))), "--out", "overlay.parquet"]
    else:
        words = ["measure", subs, "overlay.parquet"]
    return [shlex.join(["topicloom", *words])]
