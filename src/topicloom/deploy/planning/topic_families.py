"""Topics of two plans that have messages in common.

Filters that overlap are one topic, so a filter that comes or goes can make one topic of several, split one, or give it
another name. Messages then go along trees of topics with other names, and a change must take care of all of these
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from topicloom.deploy.planning.plan import Plan, Route
from topicloom.model.filter_index import FilterIndex


def topic_families(old: Plan, new: Plan) -> Mapping[str, str]:
    """For each topic of two plans the family that it belongs to, called by the first of its topics.

    Topics are of one family where something that one of them carries could be carried by the other; each topic is a
    family of its own where topics are no filters.
    """
    first = {topic: topic for topic in sorted(old.route.keys() | new.route.keys())}
    protocol = next((route.protocol for plan in (old, new) for route in plan.routes if route.protocol), None)
    if protocol is None:
        return first
    names, topics = _patterns((*old.routes, *new.routes))
    index = FilterIndex(protocol, names)
    for name, topic in zip(names, topics, strict=True):
        for other in index.overlapping(name):
            one, two = sorted((_first(first, topic), _first(first, topics[other])))
            first[two] = one
    return {topic: _first(first, topic) for topic in first}


def _patterns(routes: Iterable[Route]) -> tuple[list[str], list[str]]:
    """All patterns, and the topic of each."""
    found = {
        (pattern, route.topic)
        for route in routes
        for side in route.sides
        for patterns in side.values()
        for pattern in patterns
    }
    ordered = sorted(found)
    return [pattern for pattern, _ in ordered], [topic for _, topic in ordered]


def _first(first: Mapping[str, str], topic: str) -> str:
    while first[topic] != topic:
        topic = first[topic]
    return topic
