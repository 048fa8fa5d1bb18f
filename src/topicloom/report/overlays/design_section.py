"""The section of one overlay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from topicloom.metrics.facts import compared_facts, cost_facts
from topicloom.model import Overlay
from topicloom.model.overlay_picture import is_drawn, overlay_figure
from topicloom.present.figures import COLOURS, count_axis, new_figure, percent_axis, styled
from topicloom.present.html import Cell
from topicloom.present.numbers import Number, count, percent
from topicloom.report.networks.network_answers import network_of
from topicloom.report.networks.overlay_drawing import SeenOverlay
from topicloom.report.overlays.fleet_results import Design, ShownFleet
from topicloom.report.overlays.worst_topics import topic_diameters, worst_topics
from topicloom.report.page.curves import first_reaching, thinned
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles
from topicloom.report.page.size_counts import sizes_figure

# How many rows the tables of extremes have.
_ROWS = 20


def design_section(fleet: ShownFleet, design: Design) -> Section:
    """What an overlay is, how good it is, how it looks, and where it is weakest."""
    name = f"design {fleet.name} {design.name}"
    figures = [_support(design, name), _degrees(design, name), topic_diameters(design.topics, name)]
    picture, costs = _picture(design, name), cost_facts(design.costs)
    network = network_of(SeenOverlay(design.overlay), "Click or find a topic to see its tree.")
    if network and is_drawn(design.overlay):
        # Whoever sees the network needs no picture of the same.
        pictures = [network, beside(figures)]
    elif is_drawn(design.overlay):
        pictures = [picture, beside(figures)]
    else:
        pictures = [network, beside([*figures, picture])]
    return Section(
        design.name,
        (
            paragraph(_origin(design)),
            *([paragraph(_bound(fleet, design))] if design.measures.topic_connected else []),
            tiles([(title, cell) for title, cell in compared_facts(design.measures) if isinstance(cell, Number)]),
            *([tiles([(title, cell) for title, cell in costs if isinstance(cell, Number)])] if costs else []),
            *pictures,
            worst_topics(design.topics),
            _carriers(design.overlay),
        ),
    )


def _origin(design: Design) -> str:
    provenance = design.overlay.provenance
    if provenance is None:
        return f"Links from {design.file}; the file does not say who made them."
    given = ((name, value) for name, value in provenance.parameters.items() if name != "seed")
    parameters = "".join(f", {name} = {value if isinstance(value, str) else f'{value:g}'}" for name, value in given)
    seed = "" if provenance.seed is None else f", seed {provenance.seed}"
    return (
        f"Links from {design.file}, made by {provenance.algorithm}{parameters}{seed} (topicloom {provenance.version})."
    )


def _bound(fleet: ShownFleet, design: Design) -> str:
    bounds = fleet.bounds
    return (
        f"No overlay that connects every topic has fewer than {bounds.links:,} links or a max degree below "
        f"{bounds.max_degree:,}, which is proved: "
        f"this one has {len(design.overlay):,} and {design.measures.max_degree:,}."
    )


def _support(design: Design, name: str) -> Markup:
    links = len(design.overlay)
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        axes.plot(*thinned(design.curve), color=COLOURS[0])
        axes.set(xlabel="links, in the order of the plan", ylabel="support", ylim=(0, 1.02), xlim=(0, max(1, links)))
        count_axis(axes, "x")
        percent_axis(axes, "y")
    fifth = percent(float(design.curve[links // 5])).text
    enough = first_reaching(design.curve, 0.8)
    note = f"The first fifth of the links gives {fifth}."
    if enough is not None and links:
        note += f" For 80% it takes {enough:,} of {links:,} links."
    return figure(drawn, f"{name} support", "Support against budget", note)


def _degrees(design: Design, name: str) -> Markup:
    degrees = design.overlay.degrees
    drawn, how = sizes_figure(degrees, size="links of a node", things="nodes", colour=COLOURS[0])
    middle = float(np.median(degrees)) if len(degrees) else 0
    mean, most = design.measures.average_degree, degrees.max(initial=0)
    note = f"Links of a node: median {middle:,g}, mean {mean:,.2f}, most {most:,}.{how}"
    return figure(drawn, f"{name} degrees", "Degree distribution", note)


def _picture(design: Design, name: str) -> Markup:
    if is_drawn(design.overlay):
        note = "Linked nodes are near each other; nodes with more links are larger"
        known = design.overlay.contribution is not None
        note += ", links that contributed more are thicker." if known else "."
    else:
        note = "Who is linked with whom, nodes with most links first: hubs are stripes along the edges."
    return figure(overlay_figure(design.overlay), f"{name} picture", "The overlay", note)


class Carrier(NamedTuple):
    """A node with many links; `streams` are the topics that it shares with its neighbours, summed over its links."""

    node: int
    links: int
    topics: int
    streams: int


def carriers(overlay: Overlay, most: int) -> list[Carrier]:
    """The nodes with most links, of equals those that want more topics first; nodes without links are none."""
    interest, degrees = overlay.interest, overlay.degrees
    topics_per_node = np.diff(interest.node_start)
    first = np.lexsort((-topics_per_node, -degrees))[:most]
    found = []
    for node in first[degrees[first] > 0].tolist():
        wanted = np.zeros(interest.topic_count, bool)
        wanted[interest.topics_of(node)] = True
        linked = np.zeros(interest.node_count, bool)
        linked[overlay.target[overlay.source == node]] = True
        linked[overlay.source[overlay.target == node]] = True
        shared = np.repeat(linked, topics_per_node) & wanted[interest.node_topics]
        found.append(Carrier(node, int(degrees[node]), int(topics_per_node[node]), int(np.count_nonzero(shared))))
    return found


def _carriers(overlay: Overlay) -> Markup:
    ends = max(1, 2 * len(overlay))
    names = overlay.interest.node_names
    rows: list[list[Cell]] = [
        [
            names[each.node],
            count(each.links),
            percent(each.links / ends),
            count(each.topics),
            count(each.streams),
        ]
        for each in carriers(overlay, _ROWS)
    ]
    note = "Streams are the topics that a node shares with its neighbours, summed over its links."
    headers = ["node", "links", "share of all link ends", "topics it wants", "streams"]
    return table("Nodes that carry most", headers, rows, note=note)
