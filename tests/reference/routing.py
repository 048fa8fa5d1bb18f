"""Routing trees, slowly: the rule by which every node of a topic finds its parent."""

from __future__ import annotations

from collections import Counter

import networkx as nx

Link = frozenset[int]


def parents(graph: nx.Graph, subscribers: set[int], root: int, load: Counter[Link]) -> dict[int, int]:
    """For every subscriber but the root the neighbour above it; `load` counts the topics of each link so far.

    Among neighbours one level nearer to the root: the link of lowest load, then the lowest neighbour.
    """
    level = nx.single_source_shortest_path_length(graph.subgraph(subscribers), root)
    found = {}
    for node in subscribers - {root}:
        above = [other for other in graph[node] if other in subscribers and level[other] == level[node] - 1]
        found[node] = min(above, key=lambda other: (load[frozenset((node, other))], other))
    load.update(frozenset(link) for link in found.items())
    return found
