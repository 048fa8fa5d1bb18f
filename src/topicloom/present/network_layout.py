"""Where to draw the nodes of a network, and which of them belong together where they are too many to draw."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError

if TYPE_CHECKING:
    import igraph

Ids = npt.NDArray[np.integer]
Places = npt.NDArray[np.float64]

# Up to how many nodes distances in the picture follow those in the network, which takes the cube of the nodes.
_BY_DISTANCE = 150
# From how many nodes on those far away are not asked: 1,000 nodes then take 0.2 s instead of 2.
_BY_NEIGHBOURS = 300
_ROUNDS = 400
# Links with weights, such as those of groups, draw most nodes into one clump; how far these are spread then.
_EVENNESS = 0.6


def require_explorer() -> None:
    """An error in one line where the libraries that draw networks are missing."""
    try:
        import bokeh  # noqa: F401
        import igraph  # noqa: F401
    except ImportError:
        raise InputError("looking at networks needs bokeh and igraph: pip install 'topicloom[explore]'") from None


def places(nodes: int, source: Ids, target: Ids, weights: npt.NDArray[np.float64] | None = None) -> Places:
    """Where each node is drawn, between -1 and 1 both ways: near those that it is linked with; never random."""
    if nodes < 2:
        return np.zeros((nodes, 2))
    graph = _graph(nodes, source, target)
    held = _held(graph)
    # Pieces would drift apart for ever: a node that is not drawn, in the middle, holds each by its largest node.
    graph.add_vertices(1)
    graph.add_edges([(nodes, node) for node in held])
    pull = np.concatenate([np.ones(len(source)) if weights is None else weights, np.full(len(held), 0.3)]).tolist()
    angles = 2 * np.pi * np.arange(nodes + 1) / nodes
    begin = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    begin[nodes] = 0
    if nodes <= _BY_DISTANCE and weights is None:
        drawn = graph.layout_kamada_kawai(seed=begin.tolist())
    else:
        grid = "grid" if nodes >= _BY_NEIGHBOURS else "nogrid"
        drawn = graph.layout_fruchterman_reingold(
            weights=pull, niter=_ROUNDS, seed=(begin * np.sqrt(nodes)).tolist(), grid=grid
        )
    at = np.array(drawn.coords)[:nodes]
    return _scaled(at) if weights is None else _scaled(at) * (1 - _EVENNESS) + _ranked(at) * _EVENNESS


def places_by_distance(distances: npt.NDArray[np.float64]) -> Places:
    """Where each node is drawn, between -1 and 1 both ways: as far from each other as they are, as far as that goes."""
    require_explorer()
    import igraph

    if len(distances) < 3:
        return np.stack([np.linspace(-1, 1, len(distances)), np.zeros(len(distances))], axis=1)
    # Whose nodes are not linked, igraph would place one by one.
    linked = igraph.Graph.Ring(len(distances))
    return _scaled(np.array(linked.layout_mds(dist=distances.tolist()).coords))


def cheapest_tree(prices: npt.NDArray[np.float64]) -> tuple[Ids, Ids]:
    """The ends of the links that join all nodes for the lowest sum of prices."""
    require_explorer()
    import igraph

    first, second = np.triu_indices(len(prices), 1)
    graph = igraph.Graph(n=len(prices), edges=np.stack([first, second], axis=1).tolist())
    chosen = np.array(graph.spanning_tree(weights=prices[first, second].tolist(), return_tree=False), np.int64)
    return first[chosen], second[chosen]


def communities(nodes: int, source: Ids, target: Ids, most: int) -> Ids:
    """The number of the community of each node: linked more among themselves than with others; the largest is 0.

    There are at most so many; smaller ones share the last number.
    """
    # Leiden's method: 94,000 nodes take 0.4 s, where Louvain's takes 3 for less. Once is enough: a second round takes
    # as long again and raises modularity there from 0.753 to 0.759.
    parted = _graph(nodes, source, target).community_leiden(objective_function="modularity", n_iterations=1)
    found = np.array(parted.membership, np.int64)
    sizes = np.bincount(found)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank[found], most - 1)


def islands(nodes: int, source: Ids, target: Ids) -> Ids:
    """The number of the island of each node, the largest being 0: nodes that links join, however many links apart."""
    found = np.array(_graph(nodes, source, target).connected_components().membership, np.int64)
    sizes = np.bincount(found, minlength=1)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[found]


def _graph(nodes: int, source: Ids, target: Ids) -> igraph.Graph:
    require_explorer()
    import igraph

    igraph.set_random_number_generator(random.Random(0))
    return igraph.Graph(n=nodes, edges=np.stack([source, target], axis=1).tolist())


def _held(graph: Any) -> list[int]:
    degrees = graph.degree()
    return [min(piece, key=lambda node: (-degrees[node], node)) for piece in graph.connected_components()]


def _ranked(drawn: Places) -> Places:
    """From -1 to 1 both ways, everywhere equally many."""
    order = drawn.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return 2 * order / max(1, len(drawn) - 1) - 1


def _scaled(drawn: Places) -> Places:
    """From -1 to 1 both ways; the few that lie far outside come to the edge."""
    low, high = np.quantile(drawn, 0.01, axis=0), np.quantile(drawn, 0.99, axis=0)
    scaled = 2 * (drawn - low) / np.maximum(high - low, 1e-9) - 1
    beyond = np.abs(scaled) > 1
    return np.where(beyond, np.sign(scaled) * (1 + 0.1 * np.tanh(np.abs(scaled) - 1)), scaled)
