"""Measures of a whole overlay, and how notebooks show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.metrics.topics import TopicMeasures, topic_measures
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.views.html import Cell, facts_html
from topicloom.views.numbers import Number, count, mean, percent

# What differs between overlays of the same fleet: what it is called, where it is, and how it is shown.
COMPARED: tuple[tuple[str, str, Callable[[Any], Number]], ...] = (
    ("links", "links", count),
    ("average degree", "average_degree", mean),
    ("max degree", "max_degree", count),
    ("support", "support", percent),
    ("mean topic diameter (links)", "mean_topic_diameter", mean),
    ("max topic diameter (links)", "max_topic_diameter", count),
    ("relays", "relays", count),
    ("unreachable", "unreachable", count),
)

# What links, ways and traffic cost, by the fields of `PriceMeasures` and `TrafficMeasures`.
COSTS = {
    "price": "price of all links",
    "tree_price": "price of all topics' trees",
    "longest_way": "longest way through one of them",
    "carried": "messages carried over links",
    "relayed": "messages relayed, unwanted there",
    "money": "messages carried times price",
}


def cost_facts(costs: Mapping[str, float | None]) -> list[tuple[str, Cell]]:
    """Those of COSTS that are known."""
    values = ((title, costs.get(name)) for name, title in COSTS.items())
    return [(title, mean(value)) for title, value in values if value is not None]


def measure_facts(measures: Measures) -> list[tuple[str, Cell]]:
    """All measures by what they are called."""
    return [
        ("nodes", count(measures.nodes)),
        ("topics", count(measures.topics)),
        ("subscriptions", count(measures.subscriptions)),
        ("components", count(measures.components)),
        ("components without links", count(measures.components_unlinked)),
        ("components at best", count(measures.components_connected)),
        ("topic-connected", "yes" if measures.topic_connected else "no"),
        *compared_facts(measures),
    ]


def compared_facts(measures: Measures) -> list[tuple[str, Cell]]:
    """Those of COMPARED that were measured."""
    values = ((title, getattr(measures, name), show) for title, name, show in COMPARED)
    return [(title, show(value)) for title, value, show in values if value is not None]


@dataclass(frozen=True)
class Measures:
    """How good an overlay is.

    - `components`: over all topics; between `components_connected`, the topics that have a subscriber, and
      `components_unlinked`, the subscriptions.
    - `support`: share of the possible merging that is done; 1.0 where nothing can be merged.
    - `topic_connected`: whether the subscribers of each topic are in one piece, which is support 1.0.
    - `mean_topic_diameter`, `max_topic_diameter`: over the topics that have a subscriber; None where they were
      not asked for.
    - `relays`, `unreachable`: sums over the topics; see `TopicMeasures`.
    """

    nodes: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    components: int
    components_unlinked: int
    components_connected: int
    support: float
    topic_connected: bool
    mean_topic_diameter: float | None
    max_topic_diameter: int | None
    relays: int
    unreachable: int

    def to_dict(self) -> dict[str, int | float | bool | None]:
        """The fields by name, ready for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return facts_html(measure_facts(self))


def measure(
    interest: Interest | str | PathLike[str], overlay: Overlay | str | PathLike[str], *, diameters: bool = True
) -> Measures:
    """Measure an overlay; both may be given as the files that they are in.

    Args:
        interest: who wants what; may be another than that of the overlay, with the same nodes.
        overlay: the links.
        diameters: whether to measure topic diameters; they are exact and may take most of the time.
    """
    interest = Interest.given(interest)
    overlay = Overlay.given(overlay, interest)
    return summarise(topic_measures(interest, overlay, diameters=diameters), overlay.degrees)


def summarise(topics: TopicMeasures, degrees: npt.NDArray[np.integer]) -> Measures:
    """The measures of an overlay from those of all its topics, in any order, and the degrees of all its nodes.

    All sums are of whole numbers, so topics measured apart give the same result to the last digit.
    """
    links = int(degrees.sum()) // 2
    unlinked = int(topics.subscribers.sum())
    connected = int(np.count_nonzero(topics.subscribers))
    components = int(topics.components.sum())
    diameter = topics.diameter
    return Measures(
        nodes=len(degrees),
        topics=len(topics.subscribers),
        subscriptions=unlinked,
        links=links,
        average_degree=_ratio(2 * links, len(degrees), 0.0),
        max_degree=int(degrees.max(initial=0)),
        components=components,
        components_unlinked=unlinked,
        components_connected=connected,
        support=_ratio(unlinked - components, unlinked - connected, 1.0),
        topic_connected=components == connected,
        mean_topic_diameter=None if diameter is None else _ratio(int(diameter.sum()), connected, 0.0),
        max_topic_diameter=None if diameter is None else int(diameter.max(initial=0)),
        relays=int(topics.relays.sum()),
        unreachable=int(topics.unreachable.sum()),
    )


def _ratio(part: int, whole: int, otherwise: float) -> float:
    return part / whole if whole else otherwise
