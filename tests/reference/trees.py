"""One tree for all topics, straight from its rule; and the best one, by looking at all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from reference.constrained import Rules
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
    interest: Interest,
    rounds: int,
    prices: Prices | None = None,
    classes: list[Class] | None = None,
    rules: Rules | None = None,
) -> list[Link]:
    """The rule of the designer `tree`."""
    wanted = topics_by_node(interest)
    classes = classes if classes is not None else [(1, set(nodes), set(nodes)) for nodes in nodes_by_topic(interest)]
    sharing = [(u, v) for u, v in combinations(range(interest.node_count), 2) if wanted[u] & wanted[v]]
    both = {
        link: sum(amount for amount, sources, wanting in classes if set(link) <= sources | wanting) for link in sharing
    }
    worth = {link: both[link] / _price(prices, *link) for link in sharing}
    if rules is None:
        limits = _Limits(set(sharing), dict.fromkeys(range(interest.node_count), math.inf))
        links = _spanning(sorted(sharing, key=lambda link: (-worth[link], link)), limits)
    else:
        links, limits = _within(interest, wanted, worth, rules)
    for _ in range(rounds):
        before = list(links)
        for k in range(limits.staying, len(links)):
            for side in range(2):
                node, beside = links[k][side], links[k][1 - side]
                others = links[:k] + links[k + 1 :]
                costs = {
                    to: class_cost(classes, [*others, (node, to)], prices)
                    for to in _part(others, beside)
                    if to == beside or ((min(node, to), max(node, to)) in limits.allowed and limits.room[to] > 0)
                }
                best = min(costs, key=lambda to: (costs[to], to))
                if costs[best] < costs[beside]:
                    links[k] = (node, best) if side == 0 else (best, node)
                    limits.room[beside] += 1
                    limits.room[best] -= 1
        if links == before:
            break
    return sorted((min(link), max(link)) for link in links)


@dataclass
class _Limits:
    """Links that may be built, how many more each node may have, and how many are there from the start."""

    allowed: set[Link]
    room: dict[int, float]
    staying: int = 0


def _within(
    interest: Interest, wanted: list[set[int]], worth: dict[Link, float], rules: Rules
) -> tuple[list[Link], _Limits]:
    """A forest within rules, and what they still allow."""
    names, nodes = interest.node_names, range(interest.node_count)
    permitted = [(u, v) for u, v in combinations(nodes, 2) if rules.may_link(names[u], names[v])]
    island = {node: min(_part(list(worth), node)) for node in nodes}
    there = rules.links(interest)
    cut: set[int] = set()
    while True:
        allowed = [link for link in permitted if link in worth or set(link) & cut]
        allowed.sort(key=lambda link: (-worth.get(link, 0.0), island[link[0]] != island[link[1]], link))

        def limits(allowed: list[Link] = allowed) -> _Limits:
            room = {node: rules.limit.get(names[node], math.inf) for node in nodes}
            return _Limits(set(allowed), room, len(there))

        links = _spanning([*there, *allowed], limits())
        while _apart(wanted, links):
            between = [(u, v) for u, v in allowed if v not in _part(links, u)]
            ways = (
                [*(one for one in links if one != gone), *between, *(one for one in allowed if one != gone)]
                for gone in links[len(there) :]
            )
            better = (found for way in ways if len(found := _spanning(way, limits())) > len(links))
            if (found := next(better, None)) is None:
                break
            links = found
        apart = {node for node in nodes if island[node] in {island[other] for other in _apart(wanted, links)}}
        if apart <= cut:
            break
        cut |= apart
    left = limits()
    links = _without_needless(wanted, links, len(there))
    for link in links:
        for node in link:
            left.room[node] -= 1
    return links, left


def _apart(wanted: list[set[int]], links: list[Link]) -> set[int]:
    """Nodes with a topic that somebody wants whom links do not connect them with."""
    nodes = range(len(wanted))
    return {u for u in nodes for v in nodes if wanted[u] & wanted[v] and v not in _part(links, u)}


def _spanning(order: list[Link], limits: _Limits) -> list[Link]:
    links: list[Link] = []
    for u, v in order:
        if v not in _part(links, u) and limits.room[u] > 0 and limits.room[v] > 0:
            _add(links, (u, v), limits)
    return links


def _part(links: list[Link], node: int) -> set[int]:
    """What links connect with a node."""
    graph = nx.Graph(links)
    graph.add_node(node)
    return set(nx.node_connected_component(graph, node))


def _add(links: list[Link], link: Link, limits: _Limits) -> None:
    links.append(link)
    for node in link:
        limits.room[node] -= 1


def _topics(wanted: list[set[int]], nodes: Iterable[int]) -> set[int]:
    return set().union(*(wanted[node] for node in nodes))


def _without_needless(wanted: list[set[int]], links: list[Link], staying: int) -> list[Link]:
    """Without links between parts that have no topic in common."""
    kept = list(links)
    for link in links[staying:]:
        rest = [one for one in kept if one != link]
        here, there = (_topics(wanted, _part(rest, end)) for end in link)
        if not here & there:
            kept = rest
    return kept


def best_within(interest: Interest, rules: Rules) -> int | None:
    """The least that a forest within rules costs which connects every topic, be it over relays; None without one."""
    names = interest.node_names
    pairs = [link for link in combinations(range(interest.node_count), 2) if rules.may_link(*(names[u] for u in link))]
    there = rules.links(interest)
    costs = []
    for size in range(interest.node_count):
        for links in map(list, combinations(pairs, size)):
            fits = set(there) <= set(links) and not rules.broken([(names[u], names[v]) for u, v in links])
            whole = all(set(nodes) <= _part(links, min(nodes)) for nodes in nodes_by_topic(interest))
            if fits and whole and (not links or nx.is_forest(nx.Graph(links))):
                costs.append(tree_cost(interest, links))
    return min(costs, default=None)


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
