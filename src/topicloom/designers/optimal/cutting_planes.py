"""An integer program for overlays, to which cuts are added while some topic is in pieces.

A variable for every pair of nodes that share a topic says whether they are linked. For each topic there are three
kinds of constraints: it has at least as many links as nodes, less one; each of its nodes has a link in it; and, added
only where a solution breaks them, each set of its nodes has a link to its other nodes. Cuts are first looked for in
the linear relaxation, by minimum cuts, and then among the components of whole solutions.

Every program on the way asks for less than the problem does, so its optimum is a bound. A solution in pieces is
completed with links of the best overlay so far, which gives better overlays on the way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.algorithms.integer_program import Program
from topicloom.designers.optimal.sharing_pairs import Flags, Numbers, SharingPairs, TopicPairs
from topicloom.kernels.graphs.components import find_root, join
from topicloom.kernels.graphs.minimum_cut import minimum_cut

# Values and bounds of the solver may be off by this much.
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Proved:
    """The best links found, and what no links can be below."""

    chosen: Flags
    value: int
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether there are no better ones."""
        return self.value == self.bound


def fewest_links(pairs: SharingPairs, start: Flags, until: float, stopped: Callable[[], bool], most: int) -> Proved:
    """The fewest links with which no node has more than `most`; `start` are such links, not necessarily the fewest."""
    program = Program()
    link = program.variables(np.ones(len(pairs)), whole=True)
    for _, at_node in _by_node(pairs):
        if len(at_node) > most:
            program.constrain(link[at_node], np.ones(len(at_node)), 0, most)
    return _search(program, link, pairs, start, lambda chosen: int(chosen.sum()), until, stopped, most)


def lowest_degree(pairs: SharingPairs, start: Flags, until: float, stopped: Callable[[], bool]) -> Proved:
    """Links whose highest degree is the lowest possible."""
    program = Program()
    link = program.variables(np.zeros(len(pairs)), whole=True)
    highest = program.variables(np.ones(1), whole=True, most=pairs.interest.node_count)
    for _, at_node in _by_node(pairs):
        program.constrain([*link[at_node], *highest], [*[1] * len(at_node), -1], -np.inf, 0)
    return _search(program, link, pairs, start, pairs.max_degree, until, stopped, pairs.interest.node_count)


def _by_node(pairs: SharingPairs) -> Iterator[tuple[int, Numbers]]:
    for node in range(pairs.interest.node_count):
        at_node = np.flatnonzero((pairs.source == node) | (pairs.target == node))
        if len(at_node):
            yield node, at_node


def _search(
    program: Program,
    link: Numbers,
    pairs: SharingPairs,
    best: Flags,
    value: Callable[[Flags], int],
    until: float,
    stopped: Callable[[], bool],
    most: int,
) -> Proved:
    """Solve, cut and solve again, until a solution is in one piece, the bound is reached or time is up."""
    cuts = _Cuts(program, link)
    for topic in pairs.topics:
        cuts.add(topic.pairs, topic.size - 1)
        for node in range(topic.size):
            cuts.add(topic.pairs[(topic.first == node) | (topic.second == node)], 1)
    bound, relaxed = 0, True
    while value(best) > bound and time.monotonic() < until and not stopped():
        solved = program.solve(max(0.01, until - time.monotonic()), relaxed=relaxed, stopped=stopped)
        if solved is None or solved.values is None:
            break
        bound = max(bound, math.ceil(solved.bound - _TOLERANCE))
        weight = solved.values[link]
        if relaxed:
            relaxed = solved.optimal and sum(cuts.part(topic, weight) for topic in pairs.topics) > 0
            continue
        chosen = weight > 0.5
        better = pairs.completed(chosen, best)
        if value(better) < value(best) and pairs.max_degree(better) <= most:
            best = better
        if not solved.optimal or not sum(cuts.join_pieces(topic, chosen) for topic in pairs.topics):
            break
    return Proved(best, value(best), min(bound, value(best)))


class _Cuts:
    """Constraints that ask for links across cuts, each added once."""

    def __init__(self, program: Program, link: Numbers) -> None:
        self._program = program
        self._link = link
        self._known: set[Any] = set()

    def add(self, pairs: Numbers, least: int) -> int:
        """Ask for so many links among these pairs; give 1 if that is new."""
        key = (least, pairs.tobytes())
        if key in self._known:
            return 0
        self._known.add(key)
        self._program.constrain(self._link[pairs], np.ones(len(pairs)), least, np.inf)
        return 1

    def part(self, topic: TopicPairs, weight: Any) -> int:
        """Add the lightest cut of a topic where it weighs less than one link; give how many cuts are new."""
        between = np.zeros((topic.size, topic.size))
        between[topic.first, topic.second] = between[topic.second, topic.first] = weight[topic.pairs]
        least, side = minimum_cut(between)
        if least >= 1 - _TOLERANCE:
            return 0
        return self.add(topic.pairs[side[topic.first] != side[topic.second]], 1)

    def join_pieces(self, topic: TopicPairs, chosen: Flags) -> int:
        """Add a cut around each piece of a topic that is in several; give how many are new."""
        parent = np.arange(topic.size)
        inside = chosen[topic.pairs]
        for first, second in zip(topic.first[inside], topic.second[inside], strict=True):
            join(parent, first, second)
        root = np.array([find_root(parent, node) for node in range(topic.size)])
        pieces = np.unique(root)
        if len(pieces) == 1:
            return 0
        sides = (root == piece for piece in pieces)
        return sum(self.add(topic.pairs[side[topic.first] != side[topic.second]], 1) for side in sides)
