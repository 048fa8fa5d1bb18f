"""How often a set of nodes covers topics: Shadows, section V-G, the coverage factor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable


def coverage_factor(wanted_by: Iterable[Collection[str]], topics: Collection[str]) -> int:
    """The fewest of some nodes that want a topic, over all of the topics; 0 where there are no topics.

    Args:
        wanted_by: the topics of each of the nodes.
        topics: those that are to be covered.
    """
    counts = Counter(topic for wanted in wanted_by for topic in wanted)
    return min((counts[topic] for topic in topics), default=0)
