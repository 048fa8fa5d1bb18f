"""`topicloom measure`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.model import Overlay, Prices, Rates


EXAMPLES = """
  topicloom measure subs.parquet overlay.parquet
  topicloom measure subs.parquet overlay.parquet --json \\
      --topics topics.parquet
  topicloom measure subs.parquet overlay.parquet --fleet fleet.toml \\
      --prices latency.csv --rates rates.csv
"""


@command("measure", examples=EXAMPLES)
@options.subscriptions
@options.overlay
@options.file("--topics", help="Parquet file for the measures of each topic.")
@options.no_diameters
@options.bound
@options.fleet
@options.prices
@options.rates
def measure(run: Run, overlay: Path, topics: Path | None, no_diameters: bool, bound: bool) -> View:
    """Measure an overlay.

    Components, support, degrees, topic diameters, and the relays that unconnected topics need. With prices and rates,
    also the cost of links, paths and traffic.
    """
    from topicloom.metrics import bound as lower_bounds
    from topicloom.metrics import summarise, topic_measures
    from topicloom.views import designs

    if topics is not None:
        output.require_writable(topics, run.subscriptions, overlay)
    links = run.overlay(overlay)
    rows = run.step("measuring", topic_measures, run.interest, links, diameters=not no_diameters)
    bounds = run.step("computing bounds", lower_bounds, run.interest, prices=run.prices) if bound else None
    costs = measured_costs(links, run.prices, run.rates)
    if topics is not None:
        rows.write(topics)
    return designs.measures(summarise(rows, links.degrees), costs, bounds, topics)


def measured_costs(overlay: Overlay, prices: Prices | None, rates: Rates | None) -> dict[str, float | None]:
    """The cost of links, paths and traffic, as far as prices and rates are given."""
    from topicloom.metrics import measure_prices, measure_traffic

    cost: dict[str, float | None] = {}
    if prices is not None:
        cost |= measure_prices(overlay.interest, overlay, prices).to_dict()
    if rates is not None:
        cost |= measure_traffic(overlay.interest, overlay, rates, prices).to_dict()
    return cost
