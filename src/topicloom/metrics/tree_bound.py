"""Lagrangian lower bound of spanning trees on the links, or the price, of topic-connected overlays.

A topic-connected overlay holds a spanning tree of every topic. Give each topic a price of its own on every pair of its
nodes. If the prices of a pair sum up to at most its capacity (1 for a link), then whatever the overlay, its links pay
for one tree of each topic, so the prices of the cheapest trees sum up to a lower bound.

Good prices are found by a deflected subgradient method (Camerini, Fratta and Maffioli 1975):

1. Weights of topics. Each pair splits its capacity in proportion to the weights of its topics. The weights follow the
   gradient for a few rounds, on a sample of nodes if there are many.
2. Rounds. Prices rise on links of cheapest trees and fall on others: along the mean of subgradients, by Polyak's step,
   then projected on prices that sum up to the capacity of the pair.

Most pairs are never in a tree, since few of their topics are in common. They need no memory: every topic has a floor, a
price on all its pairs that are not stored. Pairs whose floors exceed the capacity are stored, so floors are prices like
others. A low floor saves memory, and limits what trees can cost.

All prices are integers in units of the capacity. Sums are compared with capacities in integers, and trees are summed
up in integers, so the bound is exact; only the way to it is a matter of floats.

Memory: 48 bytes an entry, that is a stored pair and a topic of it, 24 bytes a stored pair, and 20 bytes an entry of
the largest topic for each thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from topicloom.kernels import tree_prices as kernels
from topicloom.kernels.tree_prices import BLOCK, Capacity, Pairs, Rows, Scratch, Topics

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Units of the highest capacity.
UNIT = 1 << 30
MOST_ENTRIES = 4_000_000
MOST_ROUNDS = 2_000
# Rounds times entries of a bound without `rounds` or `seconds`: about 3 seconds of processor time.
_WORK = 100_000_000
# Pairs in topics from which a sample of nodes gives the weights of topics.
_SAMPLE = 1_000_000
_WEIGHT_ROUNDS = 10
# Floors of topics, in mean prices of their trees. Higher ones gave 1,000 nodes x 100 topics 0.02% more links. Prices of
# links differ by more: 190 nodes in 19 regions, priced by latency, got a bound that is 13% higher than with 2.
_FLOOR, _PRICED_FLOOR = 2.0, 32.0
_LEAST_FLOOR = 0.1

# Steps of rounds: share of the new subgradient, first step as a share of Polyak's, factors if the bound rises or not.
_SHARE = 0.1
_FIRST_STEP = 0.1
_LONGER, _SHORTER = 1.03, 0.7
_PATIENCE = 20
_LAST_STEP = 1e-4
# Polyak's step aims at this much above the best, as a share of the first bound.
_AIM = 0.05


class Subscriptions(Protocol):
    """Rows of subscriptions, as an interest has them."""

    @property
    def node_start(self) -> Int64s:
        """Where the topics of each node start."""

    @property
    def node_topics(self) -> Int32s:
        """Topics by node."""

    @property
    def topic_start(self) -> Int64s:
        """Where the nodes of each topic start."""

    @property
    def topic_nodes(self) -> Int32s:
        """Nodes by topic."""


class LinkPrices(Protocol):
    """Prices of links above 0, by groups of nodes: `price[group[u], group[v]]`."""

    @property
    def group(self) -> Int32s:
        """The group of each node."""

    @property
    def price(self) -> Int64s:
        """Symmetric matrix of prices by group."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Integer prices that prove a bound: `price[entry]` for stored pairs, floors of topics for all others.

    `cost` is the price of each topic's cheapest tree, in units: `dearest / UNIT` links, or parts of a price.
    """

    rows: Rows
    capacity: Capacity
    pairs: Pairs
    topics: Topics
    price: Int32s
    used: npt.NDArray[np.int8]
    cost: Int64s
    dearest: int

    @property
    def feasible(self) -> bool:
        """Whether prices sum up to at most the capacity of every stored pair."""
        if not len(self.pairs.source):
            return True
        sums = np.add.reduceat(self.price.astype(np.int64), self.pairs.start[:-1])
        return bool((self.price >= 0).all() and (sums <= self.pairs.capacity).all())

    @property
    def value(self) -> int:
        """The bound that the prices prove, islands taken together."""
        return whole(int(self.cost.sum()), self.dearest)


@dataclass(frozen=True, eq=False)
class TreeBound:
    """A certified lower bound.

    - `value`: the sum of `by_island`.
    - `by_island`: lower bound of each island, the best of all rounds.
    - `rounds`: how many rounds were made.
    - `certificate`: the prices of the best round.
    - `usage`: how often the tree of each entry's topic used its pair in the latest rounds, from 0 to 1. This is about
      the fractional overlay that a linear program would give.
    """

    value: int
    by_island: tuple[int, ...]
    rounds: int
    certificate: Certificate
    usage: npt.NDArray[np.float32]

    def guided_links(self, guide: float = 1.0) -> tuple[Int32s, Int32s]:
        """Links chosen greedily by contribution times `guide` plus usage, in the order chosen: sources and targets.

        They leave a topic in components if it has pairs that are not stored and would be needed. At 1,000 nodes x
        100 topics under Zipf these are 2,212 links; `gm` has 2,569.
        """
        pairs = self.certificate.pairs
        chosen = kernels.guided_links(pairs, self.certificate.topics, self.usage, guide)
        return pairs.source[chosen], pairs.target[chosen]


def whole(units: int, dearest: int) -> int:
    """The least whole number of links, or of parts of a price, that is not below so many units."""
    return -(-units * dearest // UNIT)


def _whole_sum(by_island: Int64s, dearest: int) -> int:
    return sum(whole(int(units), dearest) for units in by_island)


def tree_bound(
    subscriptions: Subscriptions,
    *,
    prices: LinkPrices | None = None,
    island: Int64s | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    upper: int | None = None,
    threads: int = 1,
    most_entries: int = MOST_ENTRIES,
    stopped: Callable[[], bool] = lambda: False,
) -> TreeBound:
    """Prove how many links, or what price, any topic-connected overlay must have.

    Args:
        subscriptions: an interest, or rows like those of one.
        prices: prices of links; the bound is on the sum of prices then, in the same units.
        island: number of each node's island, of which no two share a topic. Without it all nodes are one.
        rounds: most rounds. Without it as many as take some seconds, and no more than improve the bound.
        seconds: stop after this time; the bound then depends on it. Without `rounds` there are as many as fit.
        upper: links, or price, of a known overlay: stop once the bound is as high.
        threads: threads over topics and pairs; the bound does not depend on them.
        most_entries: most pairs of nodes to store, each once for every common topic.
        stopped: asked after every round; if true, the best bound so far is given. The passes over all pairs before the
            first round are not interrupted: four of a second each for 250 million pairs in topics.
    """
    until = np.inf if seconds is None else time.monotonic() + seconds
    rows = Rows(
        subscriptions.node_start, subscriptions.node_topics, subscriptions.topic_start, subscriptions.topic_nodes
    )
    nodes = len(rows.node_start) - 1
    dearest = 1 if prices is None else int(prices.price.max(initial=1))
    if prices is None:
        capacity = Capacity(np.zeros(nodes, np.int32), np.full((1, 1), UNIT, np.int64))
    else:
        # Rounded down, from Python's integers: prices times units may not fit 64 bits.
        units = (prices.price.astype(object) * UNIT // dearest).astype(np.int64)
        capacity = Capacity(prices.group, units)
    weight, mean = _topic_weights(rows, capacity)
    problem = _stored(rows, capacity, mean, _FLOOR if prices is None else _PRICED_FLOOR, most_entries)
    island = np.zeros(nodes, np.int64) if island is None else island
    if rounds is None:
        rounds = MOST_ROUNDS if seconds is not None else min(MOST_ROUNDS, _WORK // max(1, len(problem.pairs.topic)))
    ascent = _Ascent(problem, weight, _island_of_topics(rows, island), int(island.max(initial=-1)) + 1)

    def enough(by_island: Int64s) -> bool:
        closed = upper is not None and _whole_sum(by_island, dearest) >= upper
        return closed or stopped() or time.monotonic() >= until

    with _calls(threads) as calls:
        done = ascent.run(calls, threads, rounds, enough)
    by_island = tuple(whole(int(units), dearest) for units in ascent.by_island)
    certificate = ascent.certificate(capacity, dearest)
    if not certificate.feasible:
        raise AssertionError("prices of a pair exceed its capacity")
    return TreeBound(sum(by_island), by_island, done, certificate, ascent.usage)


def tree_bound_bytes(topic_sizes: Int64s, most_entries: int = MOST_ENTRIES) -> int:
    """Bytes that a bound with one thread takes at most, for topics of so many nodes."""
    pairs = topic_sizes * (topic_sizes - 1) // 2
    entries, largest = min(int(pairs.sum()), most_entries), min(int(pairs.max(initial=0)), most_entries)
    return (48 + 24) * entries + 20 * largest


class _Problem(NamedTuple):
    """Pairs that are stored, and topics over them."""

    rows: Rows
    pairs: Pairs
    topics: Topics


# Call a function with each of several tuples of arguments, maybe at once.
_Calls = Callable[[Callable[..., object], Sequence[tuple[Any, ...]]], object]


@contextmanager
def _calls(threads: int) -> Iterator[_Calls]:
    if threads <= 1:
        yield lambda work, parts: [work(*part) for part in parts]
        return
    with ThreadPoolExecutor(threads) as pool:
        yield lambda work, parts: list(pool.map(work, *zip(*parts, strict=True)))


def _island_of_topics(rows: Rows, island: Int64s) -> Int64s:
    """Island of each topic; topics without nodes are on the first."""
    first = np.minimum(rows.topic_start[:-1], max(0, len(rows.topic_nodes) - 1))
    return island[rows.topic_nodes[first]] if len(rows.topic_nodes) else np.zeros(len(first), np.int64)


def _store(rows: Rows, capacity: Capacity, floor: Int64s) -> _Problem:
    """Store all pairs whose floors exceed their capacity."""
    count, by_topic = kernels.stored_pairs(rows, capacity, floor)
    starts = np.concatenate([[0], np.cumsum(by_topic)]).astype(np.int64)
    sources, targets, capacities = np.empty((3, count), np.int32)
    topic, entry, first, second = np.empty((4, starts[-1]), np.int32)
    pairs = Pairs(sources, targets, capacities, np.zeros(count + 1, np.int64), topic)
    topics = Topics(starts, entry, first, second, np.diff(rows.topic_start), floor)
    kernels.fill_pairs(rows, capacity, floor, kernels.places_in_topics(rows), pairs, topics)
    return _Problem(rows, pairs, topics)


def _stored(rows: Rows, capacity: Capacity, mean: Floats, highest: float, most_entries: int) -> _Problem:
    """Store pairs by floors in proportion to mean prices, as high as the number of entries allows."""
    widest, bins = 64.0, 4096
    counts = kernels.entries_by_weight(rows, capacity, mean, bins, widest)
    above = np.cumsum(counts[::-1])[::-1]
    fits = np.flatnonzero(above <= most_entries)
    factor = min(highest, bins / widest / max(1, fits[0])) if len(fits) else 1 / widest
    while True:
        floor = np.clip(factor * mean, 1, UNIT).astype(np.int64)
        if kernels.stored_pairs(rows, capacity, floor)[1].sum() <= most_entries or factor * mean.max(initial=0) < 1:
            return _store(rows, capacity, floor)
        factor *= 0.7


def _topic_weights(rows: Rows, capacity: Capacity) -> tuple[Floats, Floats]:
    """Weights by which pairs split their capacity among topics, and the mean price of a tree link of each topic."""
    sizes = np.diff(rows.topic_start)
    rows, capacity = _sample(rows, capacity, int((sizes * (sizes - 1) // 2).sum()))
    topics = len(sizes)
    if not topics:
        return np.empty(0), np.empty(0)
    problem = _store(rows, capacity, np.full(topics, UNIT, np.int64))
    pairs, members = problem.pairs, np.diff(problem.rows.topic_start)
    owner = np.repeat(np.arange(len(pairs.source)), np.diff(pairs.start))
    weight: Floats = np.ones(topics)
    best, best_weight = -1, weight
    mean: Floats = np.full(topics, float(UNIT))
    used, cost = np.zeros(len(owner), np.int8), np.zeros(topics, np.int64)
    scratch = _scratch(problem.topics)
    for _ in range(_WEIGHT_ROUNDS):
        price = _split(pairs, weight)
        kernels.cheapest_trees(problem.topics, price, scratch, used, cost, 0, topics)
        if cost.sum() > best:
            best, best_weight = int(cost.sum()), weight
            mean = np.where(members >= 2, cost / np.maximum(1, members - 1), UNIT)
        # Derivative by the logarithm of a weight: trees pay more on the pairs that they use, and others less.
        paid = np.bincount(pairs.topic, used * price, topics)
        lost = np.bincount(owner, used * price, len(pairs.source)) / np.maximum(1, pairs.capacity)
        gradient = paid - np.bincount(pairs.topic, price * lost[owner], topics)
        weight = weight * np.exp(np.clip(gradient / np.maximum(1.0, paid), -2, 2))
        weight = np.clip(weight * (topics / weight.sum()), 1e-6, 1e6)
    # Topics that the sample does not hold are rare: they pay as much as any.
    weight = np.where(members >= 2, best_weight, best_weight.max())
    return weight, np.maximum(mean, _LEAST_FLOOR * mean.mean())


def _sample(rows: Rows, capacity: Capacity, pairs: int) -> tuple[Rows, Capacity]:
    """The rows of so many nodes drawn at random that their pairs in topics are not many."""
    nodes = len(rows.node_start) - 1
    if pairs <= _SAMPLE:
        return rows, capacity
    chosen = np.zeros(nodes, np.bool_)
    chosen[np.random.default_rng(0).permutation(nodes)[: max(2, int(nodes * (_SAMPLE / pairs) ** 0.5))]] = True
    number = np.cumsum(chosen, dtype=np.int32) - 1
    by_node = np.repeat(chosen, np.diff(rows.node_start))
    by_topic = chosen[rows.topic_nodes]
    kept = np.concatenate([[0], np.cumsum(by_topic)])
    sampled = Rows(
        np.concatenate([[0], np.cumsum(np.diff(rows.node_start)[chosen])]).astype(np.int64),
        rows.node_topics[by_node],
        kept[rows.topic_start].astype(np.int64),
        number[rows.topic_nodes[by_topic]].astype(np.int32),
    )
    return sampled, Capacity(capacity.group[chosen], capacity.price)


def _split(pairs: Pairs, weight: Floats) -> Int32s:
    """Prices that split the capacity of each pair in proportion to the weights of its topics."""
    if not len(pairs.source):
        return np.empty(0, np.int32)
    shares = weight[pairs.topic]
    total = np.add.reduceat(shares, pairs.start[:-1])
    # A little less than all of it, so that no rounding error exceeds the capacity.
    rate = pairs.capacity * (1 - 1e-9) / total
    price: Int32s = (shares * np.repeat(rate, np.diff(pairs.start))).astype(np.int32)
    return price


def _scratch(topics: Topics) -> Scratch:
    links, nodes = int(np.diff(topics.start).max(initial=0)), int(topics.size.max(initial=0))
    return Scratch(
        np.empty(links, np.int32),
        np.empty(links, np.int32),
        np.empty(links, np.int64),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int64),
    )


class _Ascent:
    """Prices that rise round by round."""

    def __init__(self, problem: _Problem, weight: Floats, island: Int64s, islands: int) -> None:
        self._rows, self._pairs, self._topics = problem
        self._island = island
        entries = len(self._pairs.topic)
        self._price = _split(self._pairs, weight)
        self._point = self._price.astype(np.float64)
        self._direction = np.zeros(entries)
        self._used = np.zeros(entries, np.int8)
        self._cost = np.zeros(len(self._topics.size), np.int64)
        self.usage = np.zeros(entries, np.float32)
        self._norm = np.zeros(-(-len(self._pairs.source) // BLOCK))
        self._best_price, self._best = self._price.copy(), -1
        self.by_island = np.zeros(islands, np.int64)

    def run(self, calls: _Calls, threads: int, rounds: int, enough: Callable[[Int64s], bool]) -> int:
        """Make rounds until the bounds of islands are enough, or for another reason to stop; return how many."""
        blocks = _cuts(np.arange(len(self._norm) + 1), threads)
        topics = [(_scratch(self._topics), *part) for part in _cuts(self._topics.start, threads)]
        step, failures, aim = _FIRST_STEP, 0, 0.0
        for number in range(rounds + 1):
            calls(self._find_trees, topics)
            total = int(self._cost.sum())
            aim = aim or _AIM * total
            failures = 0 if total > self._best + self._best // 1_000_000 else failures + 1
            self._keep(total)
            if failures == 0:
                step = min(1.0, step * _LONGER)
            elif failures % _PATIENCE == 0:
                step *= _SHORTER
            if step < _LAST_STEP or number == rounds or enough(self.by_island):
                return number
            share = _SHARE if number else 1.0
            calls(partial(self._deflect, share), blocks)
            norm = float(self._norm.sum())
            if norm == 0.0:  # no subgradient: the prices are the best there are
                return number
            length = step * (self._best + aim - total) / norm
            calls(partial(self._move, length), blocks)
        return rounds

    def certificate(self, capacity: Capacity, dearest: int) -> Certificate:
        """The prices of the best round, with their trees found again."""
        used, cost = np.zeros_like(self._used), np.zeros_like(self._cost)
        scratch = _scratch(self._topics)
        kernels.cheapest_trees(self._topics, self._best_price, scratch, used, cost, 0, len(cost))
        return Certificate(self._rows, capacity, self._pairs, self._topics, self._best_price, used, cost, dearest)

    def _keep(self, total: int) -> None:
        by_island = np.zeros_like(self.by_island)
        np.add.at(by_island, self._island, self._cost)
        np.maximum(self.by_island, by_island, out=self.by_island)
        if total > self._best:
            self._best = total
            self._best_price[:] = self._price

    def _find_trees(self, scratch: Scratch, begin: int, end: int) -> None:
        kernels.cheapest_trees(self._topics, self._price, scratch, self._used, self._cost, begin, end)

    def _deflect(self, share: float, begin: int, end: int) -> None:
        kernels.deflect(self._pairs, self._used, share, self._direction, self.usage, self._norm, begin, end)

    def _move(self, length: float, begin: int, end: int) -> None:
        kernels.move(self._pairs, self._direction, length, self._point, self._price, begin, end)


def _cuts(starts: Int64s, parts: int) -> list[tuple[int, int]]:
    """Ranges of rows with about the same number of items each."""
    wanted = np.linspace(starts[0], starts[-1], parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(starts, wanted).tolist(), len(starts) - 1]
    return [(int(low), int(high)) for low, high in pairwise(cuts)]
