"""The section that sets several overlays of a fleet side by side."""

from __future__ import annotations

from markupsafe import Markup

from topicloom.metrics import Comparison
from topicloom.metrics.facts import cost_facts
from topicloom.present.figures import (
    COLOURS,
    DASHES,
    add_legend,
    count_axis,
    draw_ccdfs,
    new_figure,
    percent_axis,
    styled,
)
from topicloom.report.overlays.fleet_results import ShownFleet
from topicloom.report.page.curves import thinned
from topicloom.report.page.section import Section, beside, figure, table
from topicloom.report.page.size_counts import ccdf


def comparison_section(fleet: ShownFleet) -> Section:
    """The measures of all overlays as a table and as bars, and their lines in one picture."""
    bounds = fleet.bounds
    compared = Comparison({design.name: design.measures for design in fleet.designs}, bounds)
    bars = figure(
        compared.plot(),
        f"comparison {fleet.name} bars",
        "Measures",
        "Support should be full and everything else low; bars of different panels have different scales.",
    )
    note = (
        "Click a header to sort. Relays are nodes that must carry a topic which they do not want, summed over topics. "
        f"No overlay that connects every topic has fewer than {bounds.links:,} links or a max degree below "
        f"{bounds.max_degree:,}: that is proved, and the last two columns say how far from it each overlay is."
    )
    return Section(
        "Comparison",
        (
            table("All overlays", *compared.table(), note=note),
            *_costs(fleet),
            bars,
            beside([_support(fleet), _degrees(fleet)]),
        ),
    )


def _costs(fleet: ShownFleet) -> list[Markup]:
    """What links, ways and traffic of all overlays cost, where prices or rates were given."""
    rows = [(design.name, cost_facts(design.costs)) for design in fleet.designs]
    if not all(facts for _, facts in rows):
        return []
    headers = ["overlay", *(title for title, _ in rows[0][1])]
    note = "Messages go along the cheapest tree of each topic that is connected; all of these should be low."
    return [
        table("Prices and traffic", headers, [[name, *(cell for _, cell in facts)] for name, facts in rows], note=note)
    ]


def _support(fleet: ShownFleet) -> Markup:
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.6)
        for order, design in enumerate(fleet.designs):
            colour, dashes = COLOURS[order % len(COLOURS)], DASHES[order % len(DASHES)]
            axes.plot(*thinned(design.curve), color=colour, linestyle=dashes)
        axes.set(xlabel="links", ylabel="support", ylim=(0, 1.02), xlim=(0, None))
        count_axis(axes, "x")
        percent_axis(axes, "y")
        add_legend(axes, [design.name for design in fleet.designs])
    note = "Support after the first links of each overlay: what a smaller budget would give."
    return figure(drawn, f"comparison {fleet.name} support", "Support against budget", note)


def _degrees(fleet: ShownFleet) -> Markup:
    lines = {design.name: ccdf(design.overlay.degrees) for design in fleet.designs}
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.6)
        draw_ccdfs(axes, lines)
        axes.set(xlabel="links of a node", ylabel="share of nodes with at least as many")
    note = "A line far to the right has nodes with very many links. Both axes are logarithmic."
    return figure(drawn, f"comparison {fleet.name} degrees", "Degrees", note)
