"""RandomA: Partial 2016, section IX-A.

Rule: different pairs of nodes, each drawn uniformly from all that are left, until there are `max_edges` links or no
pair is left. The two need not share a topic.

Guarantee: exactly `max_edges` links, or all pairs; nothing about topics.

Cost: sorting the pairs drawn.

Symbols: the paper's m is `max_edges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import MAX_EDGES, Designer, DesignProblem, Links, measuring_bytes
from topicloom.model.interest import Ids, Interest

Numbers = npt.NDArray[np.int64]


def build(problem: DesignProblem, *, max_edges: int) -> Links:
    """Random pairs, `max_edges` of them or all."""
    all_pairs = _pairs(problem.interest.node_count)
    source, target = _ends(_distinct(problem.rng(), all_pairs, min(max_edges, all_pairs)))
    problem.watch.ticks[0] = len(source)
    return Links.measured(problem.interest, source, target)


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: numbers of pairs drawn about twice over, and sorting them."""
    links: int = min(parameters["max_edges"], _pairs(interest.node_count))
    return 64 * links + measuring_bytes(interest, links)


def _pairs(nodes: int) -> int:
    return nodes * (nodes - 1) // 2


def _distinct(rng: np.random.Generator, below: int, count: int) -> Numbers:
    """Different random numbers, in the order they were drawn; memory follows the count, not the range."""
    if 2 * count > below:
        return rng.permutation(below)[:count]
    drawn: Numbers = np.empty(0, np.int64)
    while len(drawn) < count:
        drawn = np.concatenate([drawn, rng.integers(below, size=count)])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return drawn[:count]


def _ends(pair: Numbers) -> tuple[Ids, Ids]:
    """The two nodes of each pair, where pairs (u, v) with u < v are numbered by rising v, then u."""
    target = ((1 + np.sqrt(1 + 8.0 * pair)) / 2).astype(np.int64)
    # The root may be off by one where its argument was rounded.
    target -= target * (target - 1) // 2 > pair
    target += target * (target + 1) // 2 <= pair
    source = pair - target * (target - 1) // 2
    return source.astype(np.int32), target.astype(np.int32)


DESIGNER = Designer(
    name="random-a",
    paper="Partial 2016, section IX-A",
    rule="random pairs of nodes, max_edges of them",
    guarantee="exactly max_edges links, or all pairs if there are fewer",
    build=build,
    parameters=(MAX_EDGES,),
    random=True,
    memory=memory,
)
