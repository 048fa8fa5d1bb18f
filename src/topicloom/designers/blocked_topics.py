"""Topics that constraints leave in pieces, and a constraint whose lifting would join some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.designers.forest import component_labels
from topicloom.kernels.components import merge_links
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Ids
from topicloom.model.overlay import Overlay

Labels = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# How many topics are looked at for a remedy, and how many nodes of a piece: one that helps is enough.
_TOPICS = 50
_NODES = 40

Reasons = tuple[str, ...]


@dataclass(frozen=True)
class BlockedTopics:
    """Topics in pieces, by name; `reason` names constraints whose lifting allows a link between two pieces of one.

    It is None where such a link is allowed, so that something else, such as a budget, leaves them in pieces. `cut_off`
    are the nodes of the smallest piece of the first topic.
    """

    topics: tuple[str, ...]
    reason: str | None
    cut_off: tuple[str, ...]


def blocked_topics(overlay: Overlay, constraints: Constraints, *, relays: bool = False) -> BlockedTopics:
    """Topics that are in pieces in an overlay, and what is in the way; with `relays` any nodes may join pieces."""
    interest = overlay.interest
    broken = list(_topics_apart(overlay) if relays else _topics_in_pieces(overlay))
    full = overlay.degrees >= constraints.over(interest).spare
    helping: Counter[Reasons] = Counter()
    for topic, label in broken[:_TOPICS]:
        helping.update({_against(overlay, constraints, full, u, v) for u, v in _apart(interest.nodes_of(topic), label)})
    # The fewest constraints, and of these the ones that are in the way of most topics.
    best = min(helping, key=lambda reasons: (len(reasons), -helping[reasons], reasons), default=())
    cut_off = [
        interest.node_names[u] for topic, label in broken[:1] for u in _smallest(interest.nodes_of(topic), label)
    ]
    topics = tuple(interest.topic_names[topic] for topic, _ in broken)
    return BlockedTopics(topics, " and ".join(best) or None, tuple(cut_off))


def _topics_apart(overlay: Overlay) -> Iterator[tuple[int, Labels]]:
    """Topics whose nodes are not all connected, not even over others, with a label for the piece of each node."""
    interest = overlay.interest
    label = component_labels(np.stack([overlay.source, overlay.target], axis=1), interest.node_count)
    for topic in range(interest.topic_count):
        labels = label[interest.nodes_of(topic)]
        if (labels != labels[:1]).any():
            yield topic, labels


def _topics_in_pieces(overlay: Overlay) -> Iterator[tuple[int, Labels]]:
    """Topics in pieces, each with a label for the piece of each of its nodes."""
    interest = overlay.interest
    _, parent = merge_links(interest.node_start, interest.node_topics, overlay.source, overlay.target)
    while not np.array_equal(parent, parent[parent]):
        parent = parent[parent]
    labels = parent[np.argsort(interest.node_topics, kind="stable")]
    for topic in range(interest.topic_count):
        label = labels[interest.topic_start[topic] : interest.topic_start[topic + 1]]
        if (label != label[:1]).any():
            yield topic, label


def _smallest(nodes: Ids, label: Labels) -> list[int]:
    """The nodes of the smallest piece."""
    values, counts = np.unique(label, return_counts=True)
    smallest: list[int] = nodes[label == values[np.argmin(counts)]].tolist()
    return smallest


def _apart(nodes: Ids, label: Labels) -> Iterator[tuple[int, int]]:
    """Pairs of nodes in different pieces, one of them in the smallest; not all where they are many."""
    smallest = _smallest(nodes, label)
    inside = np.isin(nodes, smallest)
    for u in smallest[:_NODES]:
        for v in nodes[~inside][:_NODES].tolist():
            yield u, v


def _against(overlay: Overlay, constraints: Constraints, full: Flags, u: int, v: int) -> Reasons:
    """The constraints that forbid a link of two nodes; none where it is allowed."""
    names = overlay.interest.node_names
    reasons = constraints.reasons_against(names[u], names[v])
    return tuple(reasons + [f"max_links of '{names[node]}'" for node in (u, v) if full[node]])
