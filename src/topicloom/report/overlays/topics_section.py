"""The section of a table of topics, as `topicloom measure` and `topicloom evaluate` write it when asked for topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from topicloom.metrics import TopicMeasures
from topicloom.metrics.by_topic import TOPIC_COLUMNS
from topicloom.present.figures import COLOURS, count_axis, new_figure, percent_axis, styled
from topicloom.present.numbers import count, mean, percent
from topicloom.report.overlays.worst_topics import topic_diameters, worst_topics
from topicloom.report.page.curves import thinned
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.section import Section, beside, figure, paragraph, tiles
from topicloom.report.page.size_counts import sizes_figure

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
    drawers = (_support, _components, topic_diameters) if measures.topic_names else ()
    return Section(
        f"Topics: {topics.name}",
        (
            paragraph(f"How well an overlay serves each topic, from {topics.name}."),
            tiles(facts),
            beside(draw(measures, name) for draw in drawers),
            worst_topics(measures),
        ),
    )


def _support(measures: TopicMeasures, name: str) -> Markup:
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


KIND = Kind(
    name="topics",
    forms=(TOPICS,),
    read=read_topics,
    section=topics_section,
    facts=lambda topics: topics.name,
    line=lambda topics: f"topics {topics.name}",
)
