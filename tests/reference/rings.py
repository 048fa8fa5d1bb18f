"""Ring per topic straight from its rule."""

from __future__ import annotations

from reference.interests import nodes_by_topic
from topicloom.model import Interest


def rings(interest: Interest) -> list[tuple[int, int]]:
    links: list[tuple[int, int]] = []
    for nodes in nodes_by_topic(interest):
        ring = sorted(nodes)
        for u, v in zip(ring, ring[1:] + ring[:1], strict=True):
            link = (min(u, v), max(u, v))
            if u != v and link not in links:
                links.append(link)
    return links
