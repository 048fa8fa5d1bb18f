"""The section of a fleet: who wants what, and what was planned for it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from topicloom.model.interest import Interest
from topicloom.present.figures import COLOURS
from topicloom.present.numbers import count, mean
from topicloom.report.overlays.comparison_section import comparison_section
from topicloom.report.overlays.design_section import design_section
from topicloom.report.overlays.fleet_results import OVERLAY, SUBSCRIPTIONS, ShownFleet, read_fleets
from topicloom.report.page.kind import Kind
from topicloom.report.page.section import Section, beside, figure, paragraph, tiles
from topicloom.report.page.size_counts import sizes_figure

Sizes = npt.NDArray[np.integer]


def fleet_section(fleet: ShownFleet) -> Section:
    """Sizes of the fleet; inside, a comparison where there are several overlays, and each of them."""
    interest = fleet.interest
    topics, nodes = wanted(interest)
    facts = [
        ("nodes", count(interest.node_count)),
        ("topics", count(interest.topic_count)),
        ("subscriptions", count(int(topics.sum()))),
        ("topics a node, mean", mean(topics.sum() / max(1, interest.node_count))),
        ("nodes a topic, mean", mean(topics.sum() / max(1, interest.topic_count))),
    ]
    inside = [comparison_section(fleet)] if len(fleet.designs) > 1 else []
    inside += [design_section(fleet, design) for design in fleet.designs]
    about = paragraph("Who wants what: the subscriptions that overlays are planned for.")
    sizes = beside([_topics_per_node(topics, interest, fleet.name), _nodes_per_topic(nodes, interest, fleet.name)])
    return Section(f"Fleet: {fleet.name}", (about, tiles(facts), sizes), tuple(inside))


def _topics_per_node(sizes: Sizes, interest: Interest, name: str) -> Markup:
    drawn, how = sizes_figure(sizes, size="topics that a node wants", things="nodes", colour=COLOURS[0])
    most = f"The node that wants most wants {sizes.max(initial=0):,} of {interest.topic_count:,} topics.{how}"
    return figure(drawn, f"fleet {name} topics per node", "Topics per node", most)


def _nodes_per_topic(sizes: Sizes, interest: Interest, name: str) -> Markup:
    drawn, how = sizes_figure(sizes, size="nodes that want a topic", things="topics", colour=COLOURS[2])
    most = f"The most popular topic is wanted by {sizes.max(initial=0):,} of {interest.node_count:,} nodes.{how}"
    return figure(drawn, f"fleet {name} nodes per topic", "Nodes per topic", most)


def wanted(interest: Interest) -> tuple[Sizes, Sizes]:
    """How many topics each node wants, and how many nodes want each topic; who only publishes one does not."""
    if interest.roles is None:
        return np.diff(interest.node_start), np.diff(interest.topic_start)
    wanting = [interest.patterns_of(topic)[0] for topic in range(interest.topic_count)]
    nodes = np.array([node for each in wanting for node in each], np.int64)
    return np.bincount(nodes, minlength=interest.node_count), np.array(list(map(len, wanting)), np.int64)


def _overlays(fleet: ShownFleet) -> list[str]:
    return [design.name for design in fleet.designs]


KIND = Kind(
    name="fleets",
    forms=(SUBSCRIPTIONS, OVERLAY),
    read=read_fleets,
    section=fleet_section,
    facts=lambda fleet: {"name": fleet.name, "overlays": _overlays(fleet)},
    line=lambda fleet: f"fleet {fleet.name}: {', '.join(_overlays(fleet)) or 'no overlays'}",
)
