"""Ring per topic: GM 2007, section 8.3 (RingPT).

Rule: join the nodes of every topic in a ring, in the order of their ids; the overlay is the union of the rings. Two
nodes get one link. A link that several rings share stands where the first of them put it. The designer tells
`ring_links` besides, in which a link counts once for each ring: twice for each topic of a node that others want too.

Guarantee: topic-connected, and a topic of three nodes or more stays connected when one of its links is lost. A node
has at most twice as many links as topics, and on uncorrelated interests about that many.

Cost: sorting one link per subscription.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.contract import Designer, DesignProblem, Links, measuring_bytes
from topicloom.model.interest import Interest


def build(problem: DesignProblem) -> Links:
    """One ring a topic, the union of all."""
    interest = problem.interest
    size = np.diff(interest.topic_start)
    begin, last = interest.topic_start[:-1][size > 0], interest.topic_start[1:][size > 0] - 1
    first = interest.topic_nodes
    second = np.roll(first, -1)
    second[last] = first[begin]
    pair = first != second  # a topic of one node leads back to it
    low, high = np.minimum(first, second)[pair], np.maximum(first, second)[pair]
    _, earliest = np.unique(low.astype(np.int64) * interest.node_count + high, return_index=True)
    earliest.sort()
    problem.watch.ticks[0] = len(earliest)
    return Links.measured(interest, low[earliest], high[earliest])._replace(facts={"ring_links": int(pair.sum())})


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: the ends of a link per subscription, and sorting them."""
    return 60 * interest.subscription_count + measuring_bytes(interest, interest.subscription_count)


DESIGNER = Designer(
    name="ring-per-topic",
    paper="GM 2007, section 8.3",
    rule="a ring through each topic's nodes in id order; the union",
    guarantee="topic-connected; a node has at most twice as many links as topics",
    build=build,
    memory=memory,
)
