"""From one interest to another: the events that turn the first into the second."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias

from topicloom.model.events import CHANGE, JOIN, LEAVE, Event
from topicloom.model.interest import Interest

TopicsByNode: TypeAlias = Mapping[str, Set[str]]


def topics_by_node(interest: Interest) -> dict[str, frozenset[str]]:
    """The names of the topics of every node that has any."""
    names = interest.topic_names
    wanted = {
        node: frozenset(names[topic] for topic in interest.topics_of(number).tolist())
        for number, node in enumerate(interest.node_names)
    }
    return {node: topics for node, topics in wanted.items() if topics}


def events_between(old: TopicsByNode, new: TopicsByNode, first_id: int = 0) -> list[Event]:
    """Joins, then changes, then leaves, each in the order of nodes; ids rise by one from `first_id`.

    Nodes without topics are not there.
    """
    found: list[tuple[str, str, Set[str], Set[str]]] = [
        *((JOIN, node, new[node], frozenset()) for node in sorted(new.keys() - old.keys())),
        *(
            (CHANGE, node, new[node] - old[node], old[node] - new[node])
            for node in sorted(new.keys() & old.keys())
            if new[node] != old[node]
        ),
        *((LEAVE, node, frozenset(), frozenset()) for node in sorted(old.keys() - new.keys())),
    ]
    return [
        Event(number, kind, node, tuple(sorted(add)), tuple(sorted(remove)))
        for number, (kind, node, add, remove) in enumerate(found, first_id)
    ]


def after_event(topics: dict[str, frozenset[str]], event: Event) -> None:
    """Let an event happen to the topics of nodes."""
    if event.kind == LEAVE:
        topics.pop(event.node, None)
    else:
        topics[event.node] = (topics.get(event.node, frozenset()) | set(event.add)) - set(event.remove)
