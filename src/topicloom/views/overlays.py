"""Sections about overlays, plans and topics.

What the measures of all topics come to: the worst of them, and their diameters.

Fleets from files: subscriptions, and the overlays over them, measured.

The section that sets several overlays of a fleet side by side.

The section of one overlay.

The section of a fleet: who wants what, and what was planned for it.

The section of a plan: who connects to whom, and which topics go over each link.

The section of a table of topics, as `topicloom measure` and `topicloom spark measure` write it when asked for topics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from topicloom.brokers import Plan, read_plan
from topicloom.io.ingest_folder import TABLES
from topicloom.metrics import (
    Bounds,
    Comparison,
    Measures,
    TopicMeasures,
    bound,
    summarise,
    support_curve,
    topic_measures,
)
from topicloom.metrics.summary import compared_facts, cost_facts
from topicloom.metrics.topics import TOPIC_COLUMNS
from topicloom.model import InputError, Overlay
from topicloom.model.interest import Interest
from topicloom.model.overlay import FOLDER_PARTS, read_fingerprint
from topicloom.views.answers import network_of
from topicloom.views.curves import ccdf, first_reaching, sizes_figure, thinned
from topicloom.views.drawing import SeenOverlay, seen_plan
from topicloom.views.figures import (
    COLOURS,
    DASHES,
    add_legend,
    count_axis,
    draw_ccdfs,
    new_figure,
    percent_axis,
    styled,
)
from topicloom.views.html import Cell
from topicloom.views.numbers import Number, count, mean, percent
from topicloom.views.overlay_picture import is_drawn, overlay_figure
from topicloom.views.section import Form, Kind, Reading, Section, beside, figure, paragraph, table, tiles, unused


def topic_diameters(topics: TopicMeasures, name: str) -> Markup:
    """How many topics have which diameter; nothing where it was not measured."""
    if topics.diameter is None:
        return Markup()
    drawn, how = sizes_figure(topics.diameter, size="diameter of a topic (links)", things="topics", colour=COLOURS[2])
    note = (
        "The longest way that a message of a topic takes among those who want it. "
        f"Where a topic is in pieces, the longest within a piece.{how}"
    )
    return figure(drawn, f"{name} diameters", "Topic diameters", note)


def worst_topics(topics: TopicMeasures) -> Markup:
    """A table of the topics with the least support, and of equals those with the longest ways."""
    diameter = np.zeros(len(topics.subscribers), np.int64) if topics.diameter is None else topics.diameter
    order = np.lexsort((-diameter, -topics.relays, -topics.unreachable, topics.support))[:_ROWS]
    rows: list[list[Cell]] = [
        [
            topics.topic_names[at],
            count(int(topics.subscribers[at])),
            percent(float(topics.support[at])),
            count(int(topics.components[at])),
            count(None if topics.diameter is None else int(diameter[at])),
            count(int(topics.relays[at])),
            count(int(topics.unreachable[at])),
        ]
        for at in order.tolist()
    ]
    broken = int(np.count_nonzero(topics.components > 1))
    note = (
        f"{broken:,} of {len(topics.topic_names):,} topics are not connected; those with the least support come first."
        if broken
        else "Every topic is connected; those with the longest ways come first."
    )
    headers = ["topic", "subscribers", "support", "components", "diameter (links)", "relays", "unreachable"]
    return table("Worst-served topics", headers, rows, note=note)


# The names of the two columns are the reader's choice.
SUBSCRIPTIONS = Form("subscriptions", columns=("node", "topic"), parts=TABLES)
OVERLAY = Form("overlay", columns=("source", "target"), parts=FOLDER_PARTS)


@dataclass(frozen=True, eq=False)
class Design:
    """An overlay, how good it is, and the support after each of its links."""

    name: str
    file: str
    overlay: Overlay
    topics: TopicMeasures
    measures: Measures
    curve: npt.NDArray[np.float64]
    costs: Mapping[str, float | None]


@dataclass(frozen=True, eq=False)
class ShownFleet:
    """Subscriptions, and the overlays over them."""

    name: str
    interest: Interest
    designs: tuple[Design, ...] = ()

    @cached_property
    def bounds(self) -> Bounds:
        """What no topic-connected overlay of the subscriptions is below."""
        return bound(self.interest)


def read_fleets(reading: Reading) -> list[ShownFleet]:
    """Read subscriptions, and measure each overlay against those that it was designed for."""
    fleets: dict[str, ShownFleet] = {}
    read_interest = partial(
        Interest.read,
        node_column=reading.node_column,
        topic_column=reading.topic_column,
        role_column=reading.role_column,
        filters=reading.filters,
    )
    for path, interest in reading.each(SUBSCRIPTIONS, read_interest):
        if interest.fingerprint in fleets:
            reading.leave(path, f"holds the same subscriptions as {fleets[interest.fingerprint].name}")
        else:
            name = unused(path, path.name, [fleet.name for fleet in fleets.values()])
            fleets[interest.fingerprint] = ShownFleet(name, interest)
    for _, design in reading.each(OVERLAY, partial(_design, fleets=fleets, reading=reading)):
        key = design.overlay.interest.fingerprint
        fleets[key] = replace(fleets[key], designs=(*fleets[key].designs, design))
    return list(fleets.values())


def _design(path: Path, fleets: dict[str, ShownFleet], reading: Reading) -> Design:
    fleet = _fleet_of(path, fleets)
    overlay = Overlay.read(path, fleet.interest)
    topics = topic_measures(fleet.interest, overlay, diameters=reading.diameters)
    return Design(
        name=unused(path, path.name.split(".")[0], [design.name for design in fleet.designs]),
        file=path.name,
        overlay=overlay,
        topics=topics,
        measures=summarise(topics, overlay.degrees),
        curve=support_curve(fleet.interest, overlay),
        costs=reading.costs(overlay),
    )


def _fleet_of(path: Path, fleets: dict[str, ShownFleet]) -> ShownFleet:
    """The fleet that an overlay is for: by its fingerprint; without one, the only one there is."""
    wanted = read_fingerprint(path)
    if wanted in fleets:
        return fleets[wanted]
    if not fleets:
        raise InputError(f"{path}: no subscriptions are given; give those that this overlay was designed for too")
    if wanted is not None:
        known = ", ".join(fleet.name for fleet in fleets.values())
        raise InputError(f"{path}: was designed for other subscriptions than {known}; give those too")
    if len(fleets) > 1:
        raise InputError(f"{path}: does not say which subscriptions it is for; give it with only one such file")
    return next(iter(fleets.values()))


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
            beside([_compared_support(fleet), _compared_degrees(fleet)]),
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


def _compared_support(fleet: ShownFleet) -> Markup:
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


def _compared_degrees(fleet: ShownFleet) -> Markup:
    lines = {design.name: ccdf(design.overlay.degrees) for design in fleet.designs}
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.6)
        draw_ccdfs(axes, lines)
        axes.set(xlabel="links of a node", ylabel="share of nodes with at least as many")
    note = "A line far to the right has nodes with very many links. Both axes are logarithmic."
    return figure(drawn, f"comparison {fleet.name} degrees", "Degrees", note)


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


FLEET_KIND = Kind(
    name="fleets",
    forms=(SUBSCRIPTIONS, OVERLAY),
    read=read_fleets,
    section=fleet_section,
    facts=lambda fleet: {"name": fleet.name, "overlays": _overlays(fleet)},
    line=lambda fleet: f"fleet {fleet.name}: {', '.join(_overlays(fleet)) or 'no overlays'}",
)


PLAN = Form("plan", keys=("format", "target", "made", "brokers", "links", "topics"))

# How many rows the tables have at most.
_PLAN_ROWS = 200


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """A plan by the name of its file."""

    name: str
    plan: Plan


def read_plans(reading: Reading) -> list[ShownPlan]:
    """Read all plans."""
    return [ShownPlan(name, plan) for name, plan in reading.named(PLAN, read_plan)]


def plan_section(shown: ShownPlan) -> Section:
    """How large the plan is, what each link carries, and how each topic goes."""
    plan = shown.plan
    most = max((len(links) for links in plan.links_of.values()), default=0)
    facts = [
        ("brokers", count(len(plan.brokers))),
        ("links", count(len(plan.links))),
        ("most links of a broker", count(most)),
        ("topics", count(len(plan.routes))),
        ("topics with relays", count(sum(bool(route.relays) for route in plan.routes))),
        ("longest way (links)", count(max((route.diameter for route in plan.routes), default=0))),
    ]
    carried = sorted(plan.routes_of_link.items(), key=lambda each: (-len(each[1]), each[0]))
    links: list[list[Cell]] = [[first, second, count(len(routes))] for (first, second), routes in carried[:_PLAN_ROWS]]
    longest = sorted(plan.routes, key=lambda route: (-route.diameter, route.topic))
    topics: list[list[Cell]] = [
        [
            route.topic,
            count(len(route.subscribers)),
            count(len(route.publishers)),
            count(len(route.relays)),
            count(len(route.links)),
            count(route.diameter),
            route.root,
        ]
        for route in longest[:_PLAN_ROWS]
    ]
    about = f"A tree for each topic over links between {plan.target} brokers, from {shown.name}."
    return Section(
        f"Plan: {shown.name}",
        (
            paragraph(about),
            tiles(facts),
            network_of(seen_plan(plan), "Click or find a topic to see its tree."),
            table("Links", ["opened by", "to", "topics"], links, note=_first(len(links), len(plan.links))),
            table(
                "Topics",
                ["topic", "subscribers", "publishers", "relays", "links", "longest way (links)", "root"],
                topics,
                note=_first(len(topics), len(plan.routes)),
            ),
        ),
    )


def _first(shown: int, known: int) -> str:
    return f"These are the first {shown:,} of {known:,}." if shown < known else ""


PLAN_KIND = Kind(
    name="plans",
    forms=(PLAN,),
    read=read_plans,
    section=plan_section,
    facts=lambda shown: shown.name,
    line=lambda shown: f"plan {shown.name}: {len(shown.plan.brokers):,} brokers, {len(shown.plan.links):,} links",
)


TOPICS = Form("topics", columns=TOPIC_COLUMNS)


@dataclass(frozen=True, eq=False)
class Topics:
    """The measures of all topics of an overlay."""

    name: str
    measures: TopicMeasures


def read_topics(reading: Reading) -> list[Topics]:
    """Read all tables of topics."""
    return [Topics(name, measures) for name, measures in reading.named(TOPICS, TopicMeasures.read)]


def topics_section(topics: Topics) -> Section:
    """How well topics are served, and which are served worst."""
    measures, name = topics.measures, f"topics {topics.name}"
    broken = int(np.count_nonzero(measures.components > 1))
    mergeable = int(np.maximum(measures.subscribers - 1, 0).sum())
    merged = int((measures.subscribers - measures.components).sum())
    facts = [
        ("topics", count(len(measures.topic_names))),
        ("not connected", count(broken)),
        ("support of all", percent(merged / mergeable if mergeable else 1)),
        ("subscribers, mean", mean(float(measures.subscribers.mean()) if len(measures.topic_names) else None)),
        ("relays", count(int(measures.relays.sum()))),
        ("unreachable", count(int(measures.unreachable.sum()))),
    ]
    drawers = (_support_of_topics, _components, topic_diameters) if measures.topic_names else ()
    return Section(
        f"Topics: {topics.name}",
        (
            paragraph(f"How well an overlay serves each topic, from {topics.name}."),
            tiles(facts),
            beside(draw(measures, name) for draw in drawers),
            worst_topics(measures),
        ),
    )


def _support_of_topics(measures: TopicMeasures, name: str) -> Markup:
    at, support = thinned(np.sort(measures.support))
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        axes.plot(at + 1, support, color=COLOURS[0])
        axes.set(xlabel="topics, by rising support", ylabel="support of a topic", ylim=(0, 1.02))
        count_axis(axes, "x")
        percent_axis(axes, "y")
    full = percent(float(np.mean(measures.components <= 1))).text
    return figure(drawn, f"{name} support", "Support of topics", f"{full} of the topics are connected.")


def _components(measures: TopicMeasures, name: str) -> Markup:
    drawn, how = sizes_figure(measures.components, size="components of a topic", things="topics", colour=COLOURS[0])
    note = f"The pieces that a topic is in; one is best.{how}"
    return figure(drawn, f"{name} components", "Components of topics", note)


TOPICS_KIND = Kind(
    name="topics",
    forms=(TOPICS,),
    read=read_topics,
    section=topics_section,
    facts=lambda topics: topics.name,
    line=lambda topics: f"topics {topics.name}",
)
