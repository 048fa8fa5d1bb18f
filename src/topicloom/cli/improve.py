"""`topicloom improve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.progress import COMPILING
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.model import Interest, Overlay, Prices


EXAMPLES = """\b
Example:
  topicloom improve subs.parquet overlay.parquet --changes 20 --out better.parquet
  topicloom improve subs.parquet there.parquet --changes 50 --aim max-degree \\
      --fleet fleet.toml --out better.parquet
"""

_SHOWN = 20


def command(
    *,
    subs: options.InterestFile,
    overlay: options.OverlayFile,
    changes: Annotated[
        int, typer.Option("--changes", metavar="N", help="The most links to add or take away.", show_default=False)
    ],
    aim: Annotated[
        Literal["links", "max-degree", "price"], typer.Option("--aim", help="What shall become less.")
    ] = "links",
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="NAME",
            help="Designer of what to come nearer to: gm unless given, minmax-oda for max-degree.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OVERLAY2", help="Parquet file to write the links to.", show_default=False),
    ] = None,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    printing: options.Printing,
) -> None:
    """Bring an overlay nearer to a fresh design by few changes.

    The best changes come first, and support never falls on the way: links are added before others go, and a link only
    goes where no topic needs it.
    """
    from topicloom.churn import improve
    from topicloom.model import Overlay

    if out is not None:
        checked_paths.require_writable(out, subs.path, overlay)
    fleet = limits.read()
    with printing.working() as working:
        interest = subs.read(working)
        before = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        prices = costs.read(fleet, interest)
        found = working.do(
            "improving",
            lambda: improve(
                before,
                changes,
                aim=aim,
                designer=algorithm,
                constraints=None if fleet is None else fleet.constraints,
                prices=prices,
            ),
            if_slow=COMPILING,
        )
        rows = {
            name: _measured(interest, each, prices)
            for name, each in (("before", before), ("after", found.overlay), ("fresh", found.fresh))
        }
    if out is not None:
        found.overlay.write(out)
    steps = [{"action": action, "source": link.source, "target": link.target} for action, link in found.steps]
    if printing.json:
        output.print_json({**rows, "changes": steps, "out": None if out is None else str(out)})
        return
    _print_steps(steps)
    headers = ["", *(name.replace("_", " ") for name in rows["before"])]
    output.print_table(headers, [[name, *_cells(row)] for name, row in rows.items()])
    if out is not None:
        printing.written(out)


def _measured(interest: Interest, overlay: Overlay, prices: Prices | None) -> dict[str, Any]:
    from topicloom.metrics import measure, measure_prices

    found = measure(interest, overlay, diameters=False)
    facts: dict[str, Any] = {"links": len(overlay), "max_degree": found.max_degree, "support": found.support}
    return facts if prices is None else {**facts, "price": measure_prices(interest, overlay, prices).price}


def _cells(row: dict[str, Any]) -> list[output.Cell]:
    cells: list[output.Cell] = [numbers.count(row["links"]), numbers.count(row["max_degree"])]
    cells.append(numbers.share(row["support"]))
    return cells if "price" not in row else [*cells, numbers.mean(row["price"])]


def _print_steps(steps: list[dict[str, str]]) -> None:
    for step in steps[:_SHOWN]:
        sign = "+" if step["action"] == "add" else "-"
        output.say(output.one_line(f"{sign} link {step['source']} - {step['target']}"))
    if len(steps) > _SHOWN:
        output.say(f"  and {numbers.count(len(steps) - _SHOWN)} more, which --json lists")
