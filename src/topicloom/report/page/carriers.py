"""The nodes that carry most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.model import Overlay


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
