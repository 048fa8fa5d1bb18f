"""The optimum by integer programming, for small interests.

Rule: the fewest links that connect every topic, or, with `minimise` = max_degree, the fewest among those whose highest
degree is the lowest possible; by an integer program with HiGHS.

A variable for every pair of nodes that share a topic says whether they are linked. For each topic there are three
kinds of constraints: it has at least as many links as nodes, less one; each of its nodes has a link in it; and, added
only if a solution breaks them, each set of its nodes has a link to its other nodes. Such cuts come first from the
linear relaxation, as minimum cuts, and then from the components of whole solutions.

Every program asks for less than the problem does, so its optimum is a lower bound. A solution in several components is
completed with links of the best overlay so far, which gives better overlays before the end.

Guarantee: topic-connected, and proved best if it ends within `seconds`; else the best overlay found, never worse than
those of `gm`, `low-oda` and `minmax-oda`. The facts of its provenance have the `lower_bound` that is proved, and
whether the overlay is `optimal`.

Pairs that no better overlay links, or all do, are settled first by `metrics.fixed_links`, and again if a better overlay
is found. With it 120 nodes x 60 topics, 4 a node, take a second, where 40 seconds were not enough.

Cost: exponential at worst. The links are always the same unless the time runs out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.designers import gm, low_oda, minmax_oda
from topicloom.designers.contract import Designer, DesignProblem, Links
from topicloom.designers.greedy import greedy_bytes, pairs_in_topics
from topicloom.errors import InputError
from topicloom.kernels.components import find_root, join
from topicloom.kernels.minimum_cut import minimum_cut
from topicloom.metrics.fixed_links import LinkBounds, link_bounds
from topicloom.metrics.support import possible_merges
from topicloom.metrics.tree_bound import tree_bound
from topicloom.model.interest import Ids, Interest
from topicloom.registry import Parameter, Watch
from topicloom.registry.program import Program

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TopicPairs:
    """One set of nodes that want some topic: their number, the pairs among them, and the ends of these by place."""

    size: int
    pairs: Numbers
    first: Numbers
    second: Numbers


class CandidateLinks:
    """All pairs of nodes that share a topic, by rising ids, and the topics; those of the same nodes count once."""

    def __init__(self, interest: Interest) -> None:
        self.interest = interest
        rows = {tuple(interest.nodes_of(topic).tolist()) for topic in range(interest.topic_count)}
        members = [np.array(row) for row in sorted(rows) if len(row) >= 2]
        ends = [np.triu_indices(len(nodes), 1) for nodes in members]
        keys = [nodes[i] * interest.node_count + nodes[j] for nodes, (i, j) in zip(members, ends, strict=True)]
        self.keys = np.unique(np.concatenate(keys)) if keys else np.empty(0, np.int64)
        self.source: Ids = (self.keys // max(1, interest.node_count)).astype(np.int32)
        self.target: Ids = (self.keys % max(1, interest.node_count)).astype(np.int32)
        self.topics = [
            TopicPairs(len(nodes), np.searchsorted(self.keys, key), i, j)
            for nodes, key, (i, j) in zip(members, keys, ends, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def mergeable(self) -> int:
        """Components that a topic-connected overlay merges away."""
        return possible_merges(self.interest)

    def flags(self, source: Ids, target: Ids) -> Flags:
        """Links of a designer as flags of pairs."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[np.searchsorted(self.keys, source.astype(np.int64) * self.interest.node_count + target)] = True
        return chosen

    def max_degree(self, chosen: Flags) -> int:
        """The highest degree of the chosen links."""
        ends = np.concatenate([self.source[chosen], self.target[chosen]])
        return int(np.bincount(ends, minlength=1).max(initial=0))

    def completed(self, chosen: Flags, spare: Flags) -> Flags:
        """The chosen links and those of `spare` that connect the remaining components, without redundant ones."""
        order = np.concatenate([np.flatnonzero(chosen), np.flatnonzero(spare & ~chosen)])
        order = order[self._contribution(order) > 0]
        for link in order[::-1]:
            fewer = order[order != link]
            if self._contribution(fewer).sum() == self.mergeable:
                order = fewer
        needed = np.zeros(len(self), np.bool_)
        needed[order] = True
        return needed

    def _contribution(self, order: Numbers) -> Ids:
        return Links.measured(self.interest, self.source[order], self.target[order]).contribution


# Values and bounds of the solver may be off by this much.
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class ProvenResult:
    """The best links found, and a lower bound."""

    chosen: Flags
    value: int
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether the links are proved to be best."""
        return self.value == self.bound


def fewest_links(
    pairs: CandidateLinks,
    start: Flags,
    until: float,
    stopped: Callable[[], bool],
    most: int,
    bounds: LinkBounds | None = None,
) -> ProvenResult:
    """The fewest links with which no node has more than `most`; `start` are such links, not necessarily the fewest.

    `bounds` of overlays with and without each pair settle pairs once good links are found.
    """
    program = Program()
    link = program.variables(np.ones(len(pairs)), whole=True)
    for _, at_node in _by_node(pairs):
        if len(at_node) > most:
            program.constrain(link[at_node], np.ones(len(at_node)), 0, most)
    return _search(program, link, pairs, start, lambda chosen: int(chosen.sum()), until, stopped, most, bounds)


def lowest_degree(pairs: CandidateLinks, start: Flags, until: float, stopped: Callable[[], bool]) -> ProvenResult:
    """Links whose highest degree is the lowest possible."""
    program = Program()
    link = program.variables(np.zeros(len(pairs)), whole=True)
    highest = program.variables(np.ones(1), whole=True, most=pairs.interest.node_count)
    for _, at_node in _by_node(pairs):
        program.constrain([*link[at_node], *highest], [*[1] * len(at_node), -1], -np.inf, 0)
    return _search(program, link, pairs, start, pairs.max_degree, until, stopped, pairs.interest.node_count)


def _by_node(pairs: CandidateLinks) -> Iterator[tuple[int, Numbers]]:
    for node in range(pairs.interest.node_count):
        at_node = np.flatnonzero((pairs.source == node) | (pairs.target == node))
        if len(at_node):
            yield node, at_node


def _search(
    program: Program,
    link: Numbers,
    pairs: CandidateLinks,
    best: Flags,
    value: Callable[[Flags], int],
    until: float,
    stopped: Callable[[], bool],
    most: int,
    bounds: LinkBounds | None = None,
) -> ProvenResult:
    """Solve, cut and solve again, until a solution connects all topics, the bound is reached or time is up."""
    cuts = _Cuts(program, link)
    for topic in pairs.topics:
        cuts.add(topic.pairs, topic.size - 1)
        for node in range(topic.size):
            cuts.add(topic.pairs[(topic.first == node) | (topic.second == node)], 1)
    bound, relaxed = 0, True
    if bounds is not None:
        bound = min(bounds.least, value(best))
        _settle(program, link, bounds, value(best))
    while value(best) > bound and time.monotonic() < until and not stopped():
        solved = program.solve(max(0.01, until - time.monotonic()), relaxed=relaxed, stopped=stopped)
        if solved is None:  # pairs are settled for better overlays only: there are none
            bound = value(best)
            break
        if solved.values is None:
            break
        bound = max(bound, math.ceil(solved.bound - _TOLERANCE))
        weight = solved.values[link]
        if relaxed:
            relaxed = solved.optimal and sum(cuts.add_lightest_cut(topic, weight) for topic in pairs.topics) > 0
            continue
        chosen = weight > 0.5
        better = pairs.completed(chosen, best)
        if value(better) < value(best) and pairs.max_degree(better) <= most:
            best = better
            if bounds is not None:
                _settle(program, link, bounds, value(best))
        if not solved.optimal or not sum(cuts.add_component_cuts(topic, chosen) for topic in pairs.topics):
            break
    return ProvenResult(best, value(best), min(bound, value(best)))


def _settle(program: Program, link: Numbers, bounds: LinkBounds, upper: int) -> None:
    """Fix the pairs that are settled in all overlays of fewer links than `upper`."""
    excluded, required = bounds.fixed(upper)
    if excluded.any():
        program.constrain(link[excluded], np.ones(excluded.sum()), 0, 0)
    if required.any():
        program.constrain(link[required], np.ones(required.sum()), required.sum(), np.inf)


class _Cuts:
    """Constraints that ask for links across cuts, each added once."""

    def __init__(self, program: Program, link: Numbers) -> None:
        self._program = program
        self._link = link
        self._known: set[Any] = set()

    def add(self, pairs: Numbers, least: int) -> int:
        """Require so many links among these pairs; return 1 if that is new."""
        key = (least, pairs.tobytes())
        if key in self._known:
            return 0
        self._known.add(key)
        self._program.constrain(self._link[pairs], np.ones(len(pairs)), least, np.inf)
        return 1

    def add_lightest_cut(self, topic: TopicPairs, weight: Any) -> int:
        """Add the lightest cut of a topic if it weighs less than one link; return how many cuts are new."""
        between = np.zeros((topic.size, topic.size))
        between[topic.first, topic.second] = between[topic.second, topic.first] = weight[topic.pairs]
        least, side = minimum_cut(between)
        if least >= 1 - _TOLERANCE:
            return 0
        return self.add(topic.pairs[side[topic.first] != side[topic.second]], 1)

    def add_component_cuts(self, topic: TopicPairs, chosen: Flags) -> int:
        """Add a cut around each component of a topic that has several; return how many are new."""
        parent = np.arange(topic.size)
        inside = chosen[topic.pairs]
        for first, second in zip(topic.first[inside], topic.second[inside], strict=True):
            join(parent, first, second)
        root = np.array([find_root(parent, node) for node in range(topic.size)])
        components = np.unique(root)
        if len(components) == 1:
            return 0
        sides = (root == component for component in components)
        return sum(self.add(topic.pairs[side[topic.first] != side[topic.second]], 1) for side in sides)


MOST_PAIRS = 50_000
# Rounds of the tree bound that settles pairs before the integer program.
_ROUNDS = 400
# Weights of contributions beside use in the trees of the bound, for links to start from.
_GUIDES = (0.5, 1.0, 2.0)


def build(problem: DesignProblem, *, minimise: str, seconds: float) -> Links:
    """Links of the best overlay, or of the best found in the time given."""
    interest, watch = problem.interest, problem.watch
    count = pairs_in_topics(interest)
    count = min(count, interest.node_count * (interest.node_count - 1) // 2)
    if count > MOST_PAIRS:
        raise InputError(f"too large for exact: {count:,} pairs share a topic, at most {MOST_PAIRS:,} are supported")
    until = time.monotonic() + seconds
    pairs = CandidateLinks(interest)
    unwatched = replace(problem, watch=Watch())
    greedy = [
        gm.build(unwatched),
        low_oda.build(unwatched, k=3, strict=False),
        minmax_oda.build(unwatched, matching="useful"),
    ]
    starts = [pairs.completed(flags, flags) for flags in (pairs.flags(each.source, each.target) for each in greedy)]
    of_links = min(starts, key=lambda chosen: int(chosen.sum()))
    bounds = None
    if seconds > 0:
        proof = tree_bound(
            interest,
            rounds=_ROUNDS,
            upper=int(of_links.sum()),
            stopped=lambda: watch.stopped or time.monotonic() > until,
        )
        bounds = link_bounds(proof.certificate, pairs.source, pairs.target)
        starts += [pairs.completed(pairs.flags(*proof.guided_links(guide)), of_links) for guide in _GUIDES]
        of_links = min(starts, key=lambda chosen: int(chosen.sum()))
    if minimise == "links":
        found = fewest_links(pairs, of_links, until, lambda: watch.stopped, interest.node_count, bounds)
        proved = found
    else:
        of_degree = min(starts, key=lambda chosen: (pairs.max_degree(chosen), int(chosen.sum())))
        proved = lowest_degree(pairs, of_degree, until, lambda: watch.stopped)
        found = fewest_links(pairs, proved.chosen, until, lambda: watch.stopped, proved.value, bounds)
    links = Links.measured(interest, pairs.source[found.chosen], pairs.target[found.chosen])
    return links._replace(facts={"lower_bound": proved.bound, "optimal": proved.optimal and found.optimal})


DESIGNER = Designer(
    name="exact",
    paper="none; the problems are Min-TCO of GM 2007 and MinMax-TCO of Low 2010",
    rule="the best overlay there is, by an integer program; for small interests",
    guarantee="the fewest links, or the lowest max degree, unless the time runs out",
    build=build,
    memory=greedy_bytes,
    parameters=(
        Parameter("minimise", str, "what to have as little of as possible", "links", choices=("links", "max_degree")),
        Parameter("seconds", float, "how long to search before the best found so far is given", 60, minimum=0),
    ),
)
