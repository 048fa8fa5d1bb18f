"""`topicloom measure`."""

from __future__ import annotations

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
      --prices latency.csv
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
    printing: options.Printing,
) -> None:
    """Say how good an overlay is.

    Components, support, degrees, topic diameters, and the relays that topics in pieces need.
    """
    from topicloom.metrics import measure_prices, summarise, topic_measures
    from topicloom.model import Overlay

    if topics is not None:
        checked_paths.require_writable(topics, subs.path, overlay)
    fleet = limits.read()
    with printing.working() as working:
        interest = subs.read(working)
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        rows = working.do("measuring", lambda: topic_measures(interest, links, diameters=not no_diameters))
        bounds = proved(working, interest) if bound else {}
        prices = costs.read(fleet, interest)
        cost = {} if prices is None else measure_prices(interest, links, prices).to_dict()
    if topics is not None:
        rows.write(topics)
    whole = summarise(rows, links.degrees)
    if printing.json:
        output.print_json(whole.to_dict() | cost | bounds)
        return
    print_measures(whole)
    if cost:
        output.print_facts(
            [
                ("price of all links", numbers.mean(cost["price"])),
                ("price of all topics' cheapest trees", numbers.mean(cost["tree_price"])),
                ("longest way through one of them", numbers.mean(cost["longest_way"])),
            ]
        )
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


def proved(working: Working, interest: Interest) -> dict[str, int]:
    """What no topic-connected overlay can be below, as fields beside the measures of one."""
    from topicloom.metrics import bound

    bounds = working.do("proving bounds", lambda: bound(interest))
    return {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree}
