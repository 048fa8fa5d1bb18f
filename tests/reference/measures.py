"""The measures of topics straight from their definitions, and random overlays to compare them on."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, pairwise

import networkx as nx

Links = list[tuple[int, int]]


def topic_row(overlay: nx.Graph, subscribers: list[int]) -> dict[str, int]:
    """Every measure of one topic, by the name of its column."""
    own = overlay.subgraph(subscribers)
    return {
        "subscribers": len(subscribers),
        "links": own.number_of_edges(),
        "components": nx.number_connected_components(own),
        "diameter": diameter(own),
        "relays": len(relays(overlay, subscribers)),
        "unreachable": unreachable(overlay, subscribers),
    }


def diameter(graph: nx.Graph) -> int:
    return max((d for _, reached in nx.all_pairs_shortest_path_length(graph) for d in reached.values()), default=0)


def diameter_through_any(overlay: nx.Graph, subscribers: list[int]) -> int:
    """The longest shortest path between two of them over the whole overlay, where there is one."""
    return max((nx.shortest_path_length(overlay, u).get(v, 0) for u in subscribers for v in subscribers), default=0)


def unreachable(overlay: nx.Graph, subscribers: list[int]) -> int:
    groups = [len(piece & set(subscribers)) for piece in nx.connected_components(overlay)]
    return len(subscribers) - max(groups, default=0)


def relays(overlay: nx.Graph, subscribers: list[int]) -> set[int]:
    """Mehlhorn's tree: cells around the components, then Kruskal over all links between cells."""
    if not subscribers:
        return set()
    distance = {u: d for d, layer in enumerate(nx.bfs_layers(overlay, subscribers)) for u in layer}
    pieces = nx.utils.UnionFind(overlay)
    for u, v in overlay.subgraph(subscribers).edges:
        pieces.union(u, v)
    via, cell = {}, {}
    for u in sorted(distance, key=distance.__getitem__):
        if distance[u] == 0:
            cell[u] = pieces[u]
        else:
            via[u] = min(v for v in overlay[u] if distance[v] == distance[u] - 1)
            cell[u] = cell[via[u]]
    middles = []
    for ends in overlay.subgraph(distance).edges:
        near, far = sorted(ends, key=lambda u: (distance[u], u))
        middles.append((distance[near] + 1 + distance[far], near, far))
    chosen: set[int] = set()
    for _, *ends in sorted(middles):
        if pieces[cell[ends[0]]] != pieces[cell[ends[1]]]:
            pieces.union(cell[ends[0]], cell[ends[1]])
            for u in ends:
                while distance[u] > 0:
                    chosen.add(u)
                    u = via[u]
    return chosen


def fewest_relays(overlay: nx.Graph, subscribers: list[int]) -> int:
    """The least number of other nodes that joins all that can be joined, by trying every set of them."""
    others = sorted(set(overlay) - set(subscribers))
    joinable = sum(1 for piece in nx.connected_components(overlay) if piece & set(subscribers))
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            if nx.number_connected_components(overlay.subgraph([*subscribers, *chosen])) == joinable:
                return size
    raise AssertionError("all nodes together join what can be joined")


def random_links(seed: int, shape: str, nodes: int) -> Links:
    """Links (u, v), u < v, of one of the LINK_SHAPES over shuffled nodes; the same for the same seed."""
    dice = random.Random(f"{shape} {seed} {nodes}")
    order = dice.sample(range(nodes), nodes)
    links = {(min(u, v), max(u, v)) for u, v in _MAKERS[shape](dice, order) if u != v}
    return dice.sample(sorted(links), len(links))


def graph_of(nodes: int, links: Links) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(links)
    return graph


def _tree(dice: random.Random, order: list[int]) -> Links:
    return [(u, order[dice.randrange(i)]) for i, u in enumerate(order) if i]


def _ring(dice: random.Random, order: list[int]) -> Links:
    return [*pairwise(order), (order[-1], order[0])]


def _some(share: float) -> Callable[[random.Random, list[int]], Links]:
    return lambda dice, order: [pair for pair in combinations(order, 2) if dice.random() < share]


def _ring_with_twigs(dice: random.Random, order: list[int]) -> Links:
    """One ring through half the nodes, the others hung on it: one link more than a tree."""
    half = len(order) // 2 + 1
    return [*_ring(dice, order[:half]), *((u, dice.choice(order[:half])) for u in order[half:])]


def _clusters(dice: random.Random, order: list[int]) -> Links:
    """Pieces of several shapes with nothing between them."""
    parts = [order[i::3] for i in range(min(3, len(order)))]
    return [link for part in parts for link in dice.choice([_tree, _ring, _some(0.3)])(dice, part)]


_MAKERS: dict[str, Callable[[random.Random, list[int]], Links]] = {
    "none": lambda dice, order: [],
    "all": lambda dice, order: list(combinations(order, 2)),
    "dense": _some(0.5),
    "sparse": lambda dice, order: _some(2.5 / len(order))(dice, order),
    "star": lambda dice, order: [(order[0], v) for v in order],
    "path": lambda dice, order: list(pairwise(order)),
    "ring": _ring,
    "tree": _tree,
    "tree and more": lambda dice, order: _tree(dice, order) + [(u, dice.choice(order)) for u in order[::5]],
    "ring and more": lambda dice, order: _ring(dice, order) + [(u, dice.choice(order)) for u in order[::9]],
    "ring with twigs": _ring_with_twigs,
    "clusters": _clusters,
}

LINK_SHAPES: tuple[str, ...] = tuple(_MAKERS)
