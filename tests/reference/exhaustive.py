"""By trying everything: greedy steps from a full recount at every step, and true optima over all sets of links."""

from __future__ import annotations

import math
from functools import cache, cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from reference.greedy import Link, Step
from reference.interests import nodes_by_topic
from topicloom.model import Interest

Numbers = npt.NDArray[np.int64]


class Recount:
    """Components of every topic as a matrix of labels, and the contribution of every pair, counted anew each time.

    As naive as the twins of `reference.greedy`, but on arrays: fast enough for 150 nodes.
    """

    def __init__(self, interest: Interest) -> None:
        nodes, topics = interest.node_count, interest.topic_count
        self.label = np.full((nodes, topics), -1, np.int16)
        for u in range(nodes):
            self.label[u, interest.topics_of(u)] = u

    def contributions(self) -> Numbers:
        """Of every pair (u, v) with u < v; -1 elsewhere."""
        nodes = len(self.label)
        found = np.full((nodes, nodes), -1, np.int64)
        for u in range(nodes - 1):
            others = self.label[u + 1 :]
            apart = (others != self.label[u]) & (others >= 0) & (self.label[u] >= 0)
            found[u, u + 1 :] = np.count_nonzero(apart, axis=1)
        return found

    def add(self, u: int, v: int) -> None:
        for t in np.flatnonzero((self.label[u] >= 0) & (self.label[v] >= 0)):
            self.label[self.label[:, t] == self.label[v, t], t] = self.label[u, t]


def highest(contributions: Numbers) -> Step:
    """The highest contribution; the first in the order of rows is the lowest link."""
    u, v = divmod(int(contributions.argmax()), len(contributions))
    return u, v, int(contributions[u, v])


def gm(interest: Interest, without: frozenset[Link] = frozenset()) -> list[Step]:
    recount = Recount(interest)
    steps: list[Step] = []
    while True:
        contributions = recount.contributions()
        for link in without:
            contributions[link] = -1
        u, v, merged = highest(contributions)
        if merged <= 0:
            return steps
        recount.add(u, v)
        steps.append((u, v, merged))


def gm_fold(interest: Interest, folds: int) -> list[Step]:
    steps: list[Step] = []
    for _ in range(folds):
        steps += gm(interest, frozenset((u, v) for u, v, _ in steps))
    return steps


def low_oda(interest: Interest, k: float = math.inf) -> list[Step]:
    recount = Recount(interest)
    degree = np.zeros(interest.node_count, np.int64)
    steps: list[Step] = []
    while True:
        contributions = recount.contributions()
        below = degree < degree.max()
        e1 = highest(np.where(below[:, None] & below, contributions, -1))
        e2 = highest(contributions)
        u, v, merged = e1 if e1[2] > 0 and e1[2] * k >= e2[2] else e2
        if merged <= 0:
            return steps
        degree[[u, v]] += 1
        recount.add(u, v)
        steps.append((u, v, merged))


class Optimum:
    """The best that any set of links can do for an interest of six nodes at most.

    Sets of links are numbers: bit i stands for the i-th pair of nodes.
    """

    def __init__(self, interest: Interest) -> None:
        self.nodes = interest.node_count
        self.mergeable = interest.subscription_count - interest.topic_count
        self.merged = sum(_merged(self.nodes, frozenset(nodes)) for nodes in nodes_by_topic(interest))

    def with_links(self, most: int) -> int:
        """The most components that so many links merge away."""
        return int(self.merged[_links(self.nodes) <= most].max())

    def within_degree(self, most: int) -> int:
        """The most components that links merge away which leave no node with more than so many."""
        return int(self.merged[_highest_degree(self.nodes) <= most].max())

    def with_matching(self, links: list[Link]) -> int:
        """The most components that these links merge away with any matching beside them."""
        pairs, sets = _sets(self.nodes)
        given = sum(1 << pairs.index(link) for link in links)
        return int(self.merged[given | sets[_highest_degree(self.nodes) <= 1]].max())

    @cached_property
    def complete(self) -> npt.NDArray[np.bool_]:
        """Which sets of links are topic-connected."""
        return np.equal(self.merged, self.mergeable)

    @property
    def fewest_links(self) -> int:
        return int(_links(self.nodes)[self.complete].min())

    @property
    def lowest_degree(self) -> int:
        return int(_highest_degree(self.nodes)[self.complete].min())


def _sets(nodes: int) -> tuple[list[Link], Numbers]:
    pairs = list(combinations(range(nodes), 2))
    return pairs, np.arange(1 << len(pairs))


@cache
def _merged(nodes: int, members: frozenset[int]) -> Numbers:
    """For every set of links: components that it merges away in a topic that the members want."""
    pairs, sets = _sets(nodes)
    lowest = np.repeat(np.arange(nodes)[:, None], len(sets), axis=1)  # lowest node known to be in one's component
    inside = [(i, u, v) for i, (u, v) in enumerate(pairs) if u in members and v in members]
    for _ in range(nodes - 1):
        for i, u, v in inside:
            lower = np.minimum(lowest[u], lowest[v])
            linked = (sets >> i) & 1 == 1
            lowest[u] = np.where(linked, lower, lowest[u])
            lowest[v] = np.where(linked, lower, lowest[v])
    return np.count_nonzero(lowest != np.arange(nodes)[:, None], axis=0)


@cache
def _links(nodes: int) -> Numbers:
    pairs, sets = _sets(nodes)
    return sum(((sets >> i) & 1 for i in range(len(pairs))), np.zeros_like(sets))


@cache
def _highest_degree(nodes: int) -> Numbers:
    pairs, sets = _sets(nodes)
    degree = np.zeros((nodes, len(sets)), np.int64)
    for i, ends in enumerate(pairs):
        degree[list(ends)] += (sets >> i) & 1
    return degree.max(axis=0)
