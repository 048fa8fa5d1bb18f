"""What the designers of stars have in common.

Rule: drop the topics with fewer than two subscribers; then take the node that has most of some measure over the topics
that remain, link it with every node it shares one with, in the order of ids, and drop its topics; repeat until no
topic remains. Ties go to the lowest id. Each topic ends in one star, so its diameter is at most 2.

Symbols of Low 2010, section VI: n_u is how many nodes share a remaining topic with u, w_u is the sum of the
subscribers of the remaining topics of u, and d_u = w_u / n_u. All count u itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from topicloom.designers.contract import DesignProblem, Links, measuring_bytes
from topicloom.kernels.stars import plant_stars
from topicloom.model.interest import Interest

GUARANTEE = "topic-connected, and no topic has a diameter above 2; nothing is proved about degrees"


def stars(measure: int) -> Callable[[DesignProblem], Links]:
    """A build function that takes the node with most of a measure of `kernels.baselines.star_links` as next centre."""

    def build(problem: DesignProblem) -> Links:
        interest = problem.interest
        source, target = plant_stars(
            interest.node_start,
            interest.node_topics,
            interest.topic_start,
            interest.topic_nodes,
            measure,
            problem.watch.ticks,
        )
        return Links.measured(interest, source, target)

    return build


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: a copy of the rows, room for a link per subscription, twice at the end, and a few per node."""
    links = interest.subscription_count
    return 24 * links + 100 * interest.node_count + 20 * interest.topic_count + measuring_bytes(interest, links)
