"""One tree for all topics, straight from its rule; and the best one, by looking at all."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest

Link = tuple[int, int]
Prices = dict[Link, int]
# How many messages there are, who publishes them, and who wants them.
Class = tuple[int, set[int], set[int]]


def class_cost(classes: list[Class], links: list[Link], prices: Prices | None = None) -> int:
    """Messages published on one side of each link and wanted on the other, times its price."""
    forest = nx.Graph(links)
    cost = 0
    for u, v in links:
        forest.remove_edge(u, v)
        here = nx.node_connected_component(forest, u)
        forest.add_edge(u, v)
        for amount, sources, wanting in classes:
            crossing = len(sources & here) * bool(wanting - here) + len(sources - here) * bool(wanting & here)
            cost += amount * crossing // len(sources) * _price(prices, u, v)
    return cost


def tree_cost(interest: Interest, links: list[Link], prices: Prices | None = None) -> int:
    """Topics wanted on both sides of each link, times its price."""
    forest = nx.Graph(links)
    cost = 0
    for u, v in links:
        forest.remove_edge(u, v)
        here = nx.node_connected_component(forest, u)
        forest.add_edge(u, v)
        topics = sum(0 < len(here & set(nodes)) < len(nodes) for nodes in nodes_by_topic(interest))
        cost += topics * _price(prices, u, v)
    return cost


def relay_tree(
    interest: Interest, rounds: int, prices: Prices | None = None, classes: list[Class] | None = None
) -> list[Link]:
    """The rule of the designer `tree`."""
    wanted = topics_by_node(interest)
    classes = classes if classes is not None else [(1, set(nodes), set(nodes)) for nodes in nodes_by_topic(interest)]
    sharing = [(u, v) for u, v in combinations(range(interest.node_count), 2) if wanted[u] & wanted[v]]
    both = {
        link: sum(amount for amount, sources, wanting in classes if set(link) <= sources | wanting) for link in sharing
    }
    sharing.sort(key=lambda link: (-both[link] / _price(prices, *link), link))
    links: list[Link] = []
    forest = nx.Graph()
    forest.add_nodes_from(range(interest.node_count))
    for u, v in sharing:
        if not nx.has_path(forest, u, v):
            forest.add_edge(u, v)
            links.append((u, v))
    for _ in range(rounds):
        before = list(links)
        for k in range(len(links)):
            for side in range(2):
                node, beside = links[k][side], links[k][1 - side]
                others = links[:k] + links[k + 1 :]
                rest = nx.Graph(others)
                rest.add_nodes_from(range(interest.node_count))
                costs = {
                    to: class_cost(classes, [*others, (node, to)], prices)
                    for to in nx.node_connected_component(rest, beside)
                    if wanted[node] & wanted[to]
                }
                best = min(costs, key=lambda to: (costs[to], to))
                if costs[best] < costs[beside]:
                    links[k] = (node, best) if side == 0 else (best, node)
        if links == before:
            break
    return sorted((min(link), max(link)) for link in links)


def best_tree_cost(interest: Interest, prices: Prices | None = None) -> int:
    """The least that any forest of links between nodes that share a topic costs, one tree for each island of these."""
    wanted = topics_by_node(interest)
    sharing = [(u, v) for u, v in combinations(range(interest.node_count), 2) if wanted[u] & wanted[v]]
    graph = nx.Graph(sharing)
    size = sum(len(island) - 1 for island in nx.connected_components(graph))
    if size == 0:
        return 0
    forests = (list(links) for links in combinations(sharing, size) if nx.is_forest(nx.Graph(links)))
    return min(tree_cost(interest, links, prices) for links in forests)


def _price(prices: Prices | None, u: int, v: int) -> int:
    return 1 if prices is None else prices[min(u, v), max(u, v)]
