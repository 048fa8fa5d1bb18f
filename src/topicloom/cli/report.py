"""`topicloom report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.measure import measured_costs

if TYPE_CHECKING:
    from topicloom.model import Overlay
    from topicloom.views.page import Results


EXAMPLES = """\b
Example:
  topicloom report results/
  topicloom report subs.parquet gm.parquet gpm.parquet --out plans.html
  topicloom report subs.parquet gm.parquet --fleet fleet.toml \\
      --prices latency.csv --rates rates.csv
  topicloom report trace.parquet --out churn.html
  topicloom report net plan.parquet cost.json
"""

PAGE = "report.html"


def command(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Results: subscriptions and overlays over them, and what maintain, measure --topics, profile, sweep, "
            "content and reproduce write; or folders with such files, which are told apart by what they hold.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PAGE",
            help=f"HTML file to write. Unless given: {PAGE} in the folder; here if files or results are given.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the page.")] = "Topicloom report",
    no_diameters: options.NoDiameters = False,
    columns: options.InterestColumns,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    messages: options.RateFile,
    printing: options.Printing,
) -> None:
    """Make a page of results to look at and to print.

    One HTML file that needs nothing else: designs and how they compare, churn, topics, profiles, sweeps,
    content-based plans and their costs, the papers' figures and claims.
    """
    from topicloom.views.figures import require_matplotlib
    from topicloom.views.page import find_files, page_html, read_results, write_page

    require_matplotlib()
    found = find_files(paths, node_column=columns.node_column, topic_column=columns.topic_column)
    target = out or _beside(paths)
    checked_paths.require_writable(target, *(path for group in found.paths.values() for path in group), ending=".html")
    fleet, rates = limits.read(), messages.read()

    def costs_of(overlay: Overlay) -> dict[str, float | None]:
        return measured_costs(overlay, costs.read(fleet, overlay.interest), rates)

    with printing.working() as working:
        results = working.do(
            "reading and measuring",
            lambda: read_results(
                found,
                node_column=columns.node_column,
                topic_column=columns.topic_column,
                role_column=columns.role_column,
                filters=columns.filters,
                diameters=not no_diameters,
                costs=costs_of,
            ),
        )
        html = working.do("drawing", lambda: page_html(results, title=title))
    write_page(html, target)
    if printing.json:
        output.print_json(_facts(results) | {"bytes": len(html.encode()), "out": str(target)})
    else:
        _print(results)
        printing.written(target)


def _beside(paths: list[Path]) -> Path:
    """In the only folder that was given; otherwise here."""
    from topicloom.views.page import folder_form

    only = paths[0]
    return only / PAGE if len(paths) == 1 and only.is_dir() and folder_form(only) is None else Path(PAGE)


def _facts(results: Results) -> dict[str, Any]:
    from topicloom.views.page import KINDS

    return {
        **{kind.name: [kind.facts(result) for result in getattr(results, kind.name)] for kind in KINDS},
        "aside": [{"file": str(each.path), "reason": each.reason} for each in results.aside],
    }


def _print(results: Results) -> None:
    from topicloom.views.page import KINDS

    for kind in KINDS:
        for result in getattr(results, kind.name):
            output.say(output.one_line(kind.line(result)))
    for aside in results.aside:
        output.say(output.one_line(f"left aside {aside.path}: {aside.reason}"))
