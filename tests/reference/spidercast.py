"""SpiderCast and SpiderCastM straight from their rule."""

from __future__ import annotations

import numpy as np

from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest


def spidercast(
    interest: Interest, greedy: int, random: int, max_degree: int, rng: np.random.Generator, *, turns: str = "nodes"
) -> list[tuple[int, int]]:
    """The random nodes are numbered as they come up in the node's topics in need, in the order of ids.

    With `turns` "links" a node makes one link in its turn; where no node finds one any more, `greedy` rises.
    """
    wanted, members = topics_by_node(interest), nodes_by_topic(interest)
    linked: list[set[int]] = [set() for _ in wanted]
    links: list[tuple[int, int]] = []

    def in_need(u: int, times: int) -> set[int]:
        return {t for t in wanted[u] if sum(t in wanted[v] for v in linked[u]) < times}

    def gains(u: int, times: int) -> dict[int, int]:
        """How many topics in need each node would cover, for the nodes that u may link to and that cover any."""
        if len(linked[u]) >= max_degree:
            return {}
        need = in_need(u, times)
        allowed = (v for v in range(len(wanted)) if v != u and v not in linked[u] and len(linked[v]) < max_degree)
        return {v: len(need & wanted[v]) for v in allowed if need & wanted[v]}

    def link(u: int, v: int) -> None:
        linked[u].add(v)
        linked[v].add(u)
        links.append((min(u, v), max(u, v)))

    def by_gain(u: int) -> bool:
        gain = gains(u, greedy)
        if gain:
            link(u, min(gain, key=lambda v: (-gain[v], v)))
        return bool(gain)

    def in_order(u: int) -> list[int]:
        return list(dict.fromkeys(v for t in sorted(in_need(u, greedy + random)) for v in sorted(members[t])))

    def by_chance(u: int, order: list[int]) -> bool:
        gain = gains(u, greedy + random)
        candidates = [v for v in order if v in gain]
        if candidates:
            link(u, candidates[int(rng.random() * len(candidates))])
        return bool(candidates)

    if turns == "nodes":
        for u in range(len(wanted)):
            while by_gain(u):
                pass
            order = in_order(u)
            while by_chance(u, order):
                pass
        return links
    while True:
        if not sum(by_gain(u) or by_chance(u, in_order(u)) for u in range(len(wanted))):
            if greedy >= max_degree:
                return links
            greedy += 1
