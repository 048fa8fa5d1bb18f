"""Measures in words and numbers, for notebooks and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from topicloom.present.html import Cell
from topicloom.present.numbers import Number, count, mean, percent

if TYPE_CHECKING:
    from topicloom.metrics.summary import Measures

# What differs between overlays of the same fleet: what it is called, where it is, and how it is shown.
COMPARED: tuple[tuple[str, str, Callable[[Any], Number]], ...] = (
    ("links", "edges", count),
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
