"""`topicloom improve`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import INTERRUPTED, Run, constraints_of, unconnected_line
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.designers.local_search import Aim
    from topicloom.model import Overlay, Prices


EXAMPLES = """
  topicloom improve subs.parquet overlay.parquet --changes 20 --out better.parquet
  topicloom improve subs.parquet there.parquet --changes 50 --aim degree-links \\
      --fleet fleet.toml --out better.parquet
"""


@command("improve", examples=EXAMPLES)
@options.subscriptions
@options.overlay
@options.option("--changes", metavar="N", type=options.WHOLE, required=True, help="The most links to add or remove.")
@options.option(
    "--aim",
    type=click.Choice(["links", "price", "degree-links", "links-degree"]),
    default="links",
    show_default=True,
    help="What becomes less, in this order.",
)
@options.file("--out", "-o", metavar="OVERLAY2", help="Parquet file for the links.")
@options.option(
    "--rounds",
    metavar="N",
    type=options.WHOLE,
    help="Rounds of the search.  [default: 200 for each node, at least 100,000]",
)
@options.option("--seconds", metavar="S", type=options.NUMBER, help="Seconds to search; the result depends on time.")
@options.seed
@options.fleet
@options.prices
def improve(
    run: Run,
    overlay: Path,
    changes: int,
    aim: Aim,
    out: Path | None,
    rounds: int | None,
    seconds: float | None,
    seed: int,
) -> View:
    """Improve an overlay by few changes.

    Search for the best overlay that differs from OVERLAY by at most N links. No topic loses connection on the way:
    links are added before others are removed. If the subscriptions have changed since OVERLAY was designed, what they
    lack comes first. Ctrl-C ends the search with its best links so far. Exit status 1 if topics are not connected.
    """
    from topicloom.churn import improve as improved
    from topicloom.cli.progress import COMPILING
    from topicloom.registry import Watch
    from topicloom.views import designs

    if out is not None:
        output.require_writable(out, run.subscriptions, overlay)
    before = run.overlay(overlay, changed=True)
    constraints = None if run.fleet is None else constraints_of(run.fleet, run.interest)
    watch = Watch()
    work = partial(improved, before, changes, aim=aim, constraints=constraints, prices=run.prices, watch=watch)
    found = run.step(
        "improving",
        partial(work, rounds=rounds, seconds=seconds, seed=seed),
        watch=watch,
        note=lambda: watch.note,
        keep=True,
        if_slow=COMPILING,
    )
    if watch.stopped:
        run.finding("improve was stopped; its best links so far are kept", INTERRUPTED)
    if out is not None:
        found.overlay.write(out)
    rows = {name: _measured(each, run.prices) for name, each in (("before", before), ("after", found.overlay))}
    if rows["after"]["support"] < 1 and not watch.stopped:
        run.finding(unconnected_line(found.overlay, "more --changes may connect them"))
    steps = [{"action": action, "source": link.source, "target": link.target} for action, link in found.steps]
    return designs.improvement(steps, found.mending, rows, out)


def _measured(overlay: Overlay, prices: Prices | None) -> dict[str, Any]:
    from topicloom.metrics import measure, measure_prices

    found = measure(overlay.interest, overlay, diameters=False)
    facts: dict[str, Any] = {"links": len(overlay), "max_degree": found.max_degree, "support": found.support}
    return facts if prices is None else {**facts, "price": measure_prices(overlay.interest, overlay, prices).price}
