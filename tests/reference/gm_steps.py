"""Algorithms 2 and 3 of GM 2007 as they are listed, to count what they do."""

from __future__ import annotations

from itertools import combinations

from reference.interests import topics_by_node
from topicloom.model import Interest


def contribution_updates(interest: Interest) -> int:
    """How often a contribution is taken down by one (lines 8 to 11), those of the links added among them."""
    topics = topics_by_node(interest)
    nodes = {(v, t): {v} for v, wanted in enumerate(topics) for t in wanted}
    contribution = {(v, w): len(topics[v] & topics[w]) for v, w in combinations(range(len(topics)), 2)}
    updates = 0
    while highest := max(contribution.values(), default=0):
        v, w = min(link for link, value in contribution.items() if value == highest)
        for t in topics[v] & topics[w]:
            if nodes[v, t] is nodes[w, t]:
                continue
            for one in nodes[v, t]:
                for other in nodes[w, t]:
                    contribution[min(one, other), max(one, other)] -= 1
                    updates += 1
            merged = nodes[v, t] | nodes[w, t]
            for u in merged:
                nodes[u, t] = merged
    return updates
