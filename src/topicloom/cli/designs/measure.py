"""`topicloom measure`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topicloom.cli.shared import checked_paths, options, output
from topicloom.present import numbers

if TYPE_CHECKING:
    from topicloom.cli.shared.progress import Working
    from topicloom.metrics import Measures
    from topicloom.model import Interest

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
    from topicloom.metrics import measure_prices, measure_traffic, summarise, topic_measures
    from topicloom.model import Overlay

    if topics is not None:
        checked_paths.require_writable(topics, subs.path, overlay)
    fleet, rates = limits.read(), messages.read()
    with printing.working() as working:
        interest = subs.read(working)
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        rows = working.do("measuring", lambda: topic_measures(interest, links, diameters=not no_diameters))
        bounds = proved(working, interest) if bound else {}
        prices = costs.read(fleet, interest)
        cost: dict[str, float | None] = {} if prices is None else {**measure_prices(interest, links, prices).to_dict()}
        if rates is not None:
            cost |= measure_traffic(interest, links, rates, prices).to_dict()
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
        ("links", numbers.count(measures.edges)),
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


COSTS = {
    "price": "price of all links",
    "tree_price": "price of all topics' trees",
    "longest_way": "longest way through one of them",
    "carried": "messages carried over links",
    "relayed": "messages relayed, unwanted there",
    "money": "messages carried times price",
}


def cost_facts(cost: Mapping[str, float | None]) -> list[tuple[str, output.Cell]]:
    """What links, ways and traffic cost, in words and numbers."""
    shown = ((label, cost.get(key)) for key, label in COSTS.items())
    return [(label, numbers.mean(value)) for label, value in shown if value is not None]


def proved(working: Working, interest: Interest) -> dict[str, int]:
    """What no topic-connected overlay can be below, as fields beside the measures of one."""
    from topicloom.metrics import bound

    bounds = working.do("proving bounds", lambda: bound(interest))
    return {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree}
