"""RandomM: Partial 2016, section IX-A.

Rule: pairs of nodes that are not linked yet and both have fewer than `max_degree` links, each drawn uniformly from
all such pairs of its time, until there is none. The two need not share a topic.

Guarantee: no degree passes `max_degree`, and the nodes left below it are all linked among themselves.

Cost: proportional to the links: pairs are drawn and refused until refusals come in a row; then the few pairs
that are left are listed.

Symbols: the paper's d is `max_degree`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topicloom.designers.contract import MAX_DEGREE, Designer, DesignProblem, Links, measuring_bytes
from topicloom.kernels.random_links import random_pairs
from topicloom.model.interest import Interest


def build(problem: DesignProblem, *, max_degree: int) -> Links:
    """Random pairs until no two nodes below `max_degree` are left to link."""
    interest = problem.interest
    possible = _possible_degree(interest, max_degree)
    source, target = random_pairs(interest.node_count, possible, problem.rng(), problem.watch.ticks)
    return Links.measured(interest, source, target)


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: the links, twice at the end, a hash table of them, and the pairs listed at the end."""
    links = interest.node_count * _possible_degree(interest, parameters["max_degree"]) // 2
    return 56 * links + 8 * interest.node_count + measuring_bytes(interest, links)


def _possible_degree(interest: Interest, max_degree: int) -> int:
    return min(max_degree, max(interest.node_count - 1, 0))


DESIGNER = Designer(
    name="random-m",
    paper="Partial 2016, section IX-A",
    rule="random pairs of nodes that both have fewer than max_degree links",
    guarantee="no degree above max_degree",
    build=build,
    parameters=(MAX_DEGREE,),
    random=True,
    memory=memory,
)
