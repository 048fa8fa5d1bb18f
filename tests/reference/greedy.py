"""Slow twins of the greedy designers, straight from the papers: every contribution counted anew at every step."""

from __future__ import annotations

import math
from itertools import combinations

from reference.constrained import FREE, Rules
from reference.interests import topics_by_node
from topicloom.model import Interest, Overlay

Link = tuple[int, int]
Step = tuple[int, int, int]


def steps(overlay: Overlay) -> list[Step]:
    """The links of an overlay as twins give theirs."""
    assert overlay.contribution is not None
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), overlay.contribution.tolist(), strict=True))


class Components:
    """Components of every topic, as a label for each node."""

    def __init__(self, interest: Interest) -> None:
        self.topics = topics_by_node(interest)
        self.label = [dict.fromkeys(topics, u) for u, topics in enumerate(self.topics)]

    def contribution(self, link: Link) -> int:
        u, v = link
        return sum(self.label[u][t] != self.label[v][t] for t in self.topics[u] & self.topics[v])

    def add(self, link: Link) -> None:
        u, v = link
        for t in self.topics[u] & self.topics[v]:
            old, new = self.label[v][t], self.label[u][t]
            for labels in self.label:
                if labels.get(t) == old:
                    labels[t] = new


def pairs(interest: Interest) -> list[Link]:
    return list(combinations(range(interest.node_count), 2))


def best(components: Components, links: list[Link]) -> Step:
    """Highest contribution, then lowest link; contribution 0 if there is nothing to add."""
    scored = [(-components.contribution(link), link) for link in links]
    contribution, (u, v) = min(scored, default=(0, (0, 0)))
    return u, v, -contribution


def gm(
    interest: Interest, max_edges: float = math.inf, without: frozenset[Link] = frozenset(), rules: Rules = FREE
) -> list[Step]:
    """Algorithm 3 of GM 2007; with `max_edges`, algorithm 1 of Partial 2016."""
    components = Components(interest)
    candidates = [link for link in pairs(interest) if link not in without]
    steps = kept(interest, components, rules)
    budget = max_edges + len(rules.keep)
    while len(steps) < budget:
        step = best(components, rules.allowed(interest, candidates, steps))
        if step[2] == 0:
            break
        components.add(step[:2])
        steps.append(step)
    return steps


def kept(interest: Interest, components: Components, rules: Rules) -> list[Step]:
    """The links that are there from the start, each with what it merges."""
    steps = []
    for u, v in rules.links(interest):
        steps.append((u, v, components.contribution((u, v))))
        components.add((u, v))
    return steps


def gm_fold(interest: Interest, folds: int, rules: Rules = FREE) -> list[Step]:
    steps: list[Step] = []
    for _ in range(folds):
        fold = gm(interest, without=frozenset((u, v) for u, v, _ in steps), rules=rules)
        rules = rules.after(interest, fold)
        steps += fold
    return steps


def low_oda(
    interest: Interest,
    k: float = math.inf,
    max_degree: float = math.inf,
    *,
    strict: bool = False,
    maximal: bool = False,
    rules: Rules = FREE,
) -> list[Step]:
    """Algorithm 1 of Low 2010; with k infinite, MinMax-ODA; with `max_degree` too, algorithm 3 of Partial 2016.

    `strict` compares as the text of section III does. `maximal` adds any link that does not raise the highest degree
    before one that does, as long as topics are not connected. With rules, `max_degree` is one of them.
    """
    components = Components(interest)
    if rules != FREE and max_degree < math.inf:
        rules, max_degree = rules.within(interest.node_names, int(max_degree)), math.inf
    steps = kept(interest, components, rules)
    candidates = [link for link in pairs(interest) if link not in {(u, v) for u, v, _ in steps}]
    degree = [sum(node in step[:2] for step in steps) for node in range(interest.node_count)]
    while True:
        highest = max(degree, default=0)
        allowed = rules.allowed(interest, candidates, steps)
        lowest_rise = [(u, v) for u, v in allowed if degree[u] < highest and degree[v] < highest]
        e1, e2 = best(components, lowest_rise), best(components, allowed)
        if e2[2] == 0:
            return steps
        if e1[2] == 0 and not (maximal and lowest_rise):
            e1 = e2
        enough = e1[2] * k > e2[2] if strict else e1[2] * k >= e2[2]
        chosen = e1 if enough or k == math.inf else e2
        u, v, _ = chosen
        if max(degree[u], degree[v]) + 1 > max_degree:
            return steps
        degree[u] += 1
        degree[v] += 1
        components.add((u, v))
        candidates.remove((u, v))
        steps.append(chosen)
