"""`topicloom measure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli import output as checked_paths
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.cli.progress import Working
    from topicloom.metrics import Measures
    from topicloom.model import Interest, Overlay, Prices, Rates


EXAMPLES = """\b
Example:
  topicloom measure subs.parquet overlay.parquet
  topicloom measure subs.parquet overlay.parquet --json \\
      --topics topics.parquet
  topicloom measure subs.parquet overlay.parquet --fleet fleet.toml \\
      --prices latency.csv --rates rates.csv
"""


def command(
    *,
    subs: options.InterestFile,
    overlay: options.OverlayFile,
    topics: options.TopicsOut = None,
    no_diameters: options.NoDiameters = False,
    bound: options.Bound = False,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    messages: options.RateFile,
    printing: options.Printing,
) -> None:
    """Say how good an overlay is.

    Components, support, degrees, topic diameters, and the relays that topics in pieces need; with prices and rates what
    links, ways and traffic cost.
    """
    from topicloom.metrics import summarise, topic_measures
    from topicloom.metrics.summary import cost_facts
    from topicloom.model import Overlay

    if topics is not None:
        checked_paths.require_writable(topics, subs.path, overlay)
    fleet, rates = limits.read(), messages.read()
    with printing.working() as working:
        interest = subs.read(working)
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        rows = working.do("measuring", lambda: topic_measures(interest, links, diameters=not no_diameters))
        bounds = proved(working, interest) if bound else {}
        cost = measured_costs(links, costs.read(fleet, interest), rates)
    if topics is not None:
        rows.write(topics)
    whole = summarise(rows, links.degrees)
    if printing.json:
        output.print_json(whole.to_dict() | cost | bounds)
        return
    print_measures(whole)
    if cost:
        output.print_facts(cost_facts(cost))
    if bounds:
        output.print_facts(
            [
                ("links of any overlay, at least", numbers.count(bounds["links_bound"])),
                ("max degree of any overlay, at least", numbers.count(bounds["max_degree_bound"])),
            ]
        )
    if topics is not None:
        printing.written(topics, "topics")


def print_measures(measures: Measures) -> None:
    """Print all measures, one a line."""
    facts = [
        ("nodes", numbers.count(measures.nodes)),
        ("topics", numbers.count(measures.topics)),
        ("subscriptions", numbers.count(measures.subscriptions)),
        ("links", numbers.count(measures.links)),
        ("average degree", numbers.mean(measures.average_degree)),
        ("max degree", numbers.count(measures.max_degree)),
        ("components", numbers.count(measures.components)),
        ("components without links", numbers.count(measures.components_unlinked)),
        ("components at best", numbers.count(measures.components_connected)),
        ("support", numbers.share(measures.support)),
        ("topic-connected", "yes" if measures.topic_connected else "no"),
    ]
    if measures.mean_topic_diameter is not None and measures.max_topic_diameter is not None:
        facts += [
            ("mean topic diameter", numbers.mean(measures.mean_topic_diameter)),
            ("max topic diameter", numbers.count(measures.max_topic_diameter)),
        ]
    facts += [("relays", numbers.count(measures.relays)), ("unreachable", numbers.count(measures.unreachable))]
    output.print_facts(facts)


def measured_costs(overlay: Overlay, prices: Prices | None, rates: Rates | None) -> dict[str, float | None]:
    """What links, ways and traffic cost, as far as prices and rates tell."""
    from topicloom.metrics import measure_prices, measure_traffic

    cost: dict[str, float | None] = {}
    if prices is not None:
        cost |= measure_prices(overlay.interest, overlay, prices).to_dict()
    if rates is not None:
        cost |= measure_traffic(overlay.interest, overlay, rates, prices).to_dict()
    return cost


def proved(working: Working, interest: Interest) -> dict[str, int]:
    """What no topic-connected overlay can be below, as fields beside the measures of one."""
    from topicloom.metrics import bound

    bounds = working.do("proving bounds", lambda: bound(interest))
    return {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree}
