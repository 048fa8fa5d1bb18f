"""What the measures of all topics come to: the worst of them, and their diameters."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from topicloom.metrics import TopicMeasures
from topicloom.present.figures import COLOURS
from topicloom.present.html import Cell
from topicloom.present.numbers import count, percent
from topicloom.report.page.section import figure, table
from topicloom.report.page.size_counts import sizes_figure

# How many topics are listed.
_ROWS = 20


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
