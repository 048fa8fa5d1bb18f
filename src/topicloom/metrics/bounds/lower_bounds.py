"""Lower bounds of links and of the highest degree, with the arguments that prove them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from topicloom.errors import InputError
from topicloom.files.limits import BOUND_ROUNDS
from topicloom.kernels.bounds.sharing_islands import island_of_nodes
from topicloom.metrics.bounds.compared_topics import ComparedTopics, Numbers
from topicloom.metrics.bounds.neighbours_needed import neighbours_needed
from topicloom.metrics.bounds.offers import LINK, MOST_ROUNDS, paid_links
from topicloom.model.interest import Interest
from topicloom.present.html import table_html
from topicloom.present.numbers import count, count_of

# Pairs of nodes to look at, each once for every topic that they share: a billion takes about four seconds.
_WORK = 1_000_000_000
# Passes over all pairs that are always made: two for the first offers, two for the neighbours of both ends.
_PASSES = 4


@dataclass(frozen=True)
class Argument:
    """One reason why an overlay cannot do with less: what is bounded, by how much, and the proof in words."""

    of: Literal["links", "max_degree"]
    name: str
    value: int
    because: str


@dataclass(frozen=True)
class Bounds:
    """What no topic-connected overlay of an interest has less of, and why.

    - `links`, `max_degree`: the bounds. They are proved, not estimated; the best overlay may still need more.
    - `arguments`: the reasons. `links` may be above each of them, as it takes the best one for every island.
    - `left_out`: topics with too many nodes to compare in pairs, which the arguments do without.
    """

    links: int
    max_degree: int
    arguments: tuple[Argument, ...]
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self) | {"arguments": [asdict(argument) for argument in self.arguments]}

    def _repr_html_(self) -> str:
        names = {"links": "links", "max_degree": "max degree"}
        return table_html(
            ["at least", "of", "because"],
            [[count(each.value), names[each.of], each.because] for each in self.arguments],
        )


def bound(interest: Interest | str | PathLike[str], *, rounds: int | None = None) -> Bounds:
    """Prove how many links, and how high a degree, any topic-connected overlay of an interest must have.

    Args:
        interest: who wants what, or the file or folder that it is in.
        rounds: how often to improve the offers of nodes for links (see `metrics.bounds.offers`). Without it, up to 60
            times, but no longer than some seconds; at a million nodes not at all.
    """
    if rounds is not None and not 0 <= rounds <= BOUND_ROUNDS:
        raise InputError(f"rounds must be from 0 to {BOUND_ROUNDS:,}, not {rounds}", "rounds")
    interest = Interest.given(interest)
    island, sizes = _islands(interest)
    shared = ComparedTopics.of(interest, _WORK // _PASSES)
    if rounds is None:
        rounds = min(MOST_ROUNDS, max(0, _WORK // max(1, shared.pairs) - _PASSES))
    needed = neighbours_needed(shared)
    by_tree = sizes - 1
    by_neighbours = -(-np.bincount(island, needed, len(sizes)).astype(np.int64) // 2)
    by_offers = -(-paid_links(shared, island, rounds) // LINK)
    by_island = np.maximum(np.maximum(by_tree, by_neighbours), by_offers)
    links = int(by_island.sum())
    by_mean = -(-2 * by_island // np.maximum(sizes, 1))
    fullest = int(by_mean.argmax()) if len(by_mean) else 0
    neediest = int(needed.argmax()) if len(needed) else 0
    arguments = [
        Argument("links", "islands", int(by_tree.sum()), _because_of_islands(interest, sizes)),
        Argument(
            "links",
            "neighbours",
            int(by_neighbours.sum()),
            "every topic of a node must be a topic of one of its neighbours; so many neighbours the nodes need in all, "
            "and a link is one for both its ends",
        ),
        Argument(
            "links",
            "offers",
            int(by_offers.sum()),
            "in each topic every node but one needs a link towards that one, and can pay for it so much that no link "
            "gets more than its price: whatever the links, so many are paid for",
        ),
    ]
    if links > max(argument.value for argument in arguments):
        arguments.append(
            Argument("links", "each island", links, "no link joins two islands, and each has its own best argument")
        )
    if len(needed):
        arguments += [
            Argument(
                "max_degree",
                "neighbours",
                int(needed[neediest]),
                f"node '{interest.node_names[neediest]}' alone needs so many neighbours to cover its topics",
            ),
            Argument(
                "max_degree",
                "mean",
                int(by_mean[fullest]),
                f"among {count_of(int(sizes[fullest]), 'node')} there are at least "
                f"{count_of(int(by_island[fullest]), 'link')}, which is "
                f"{2 * int(by_island[fullest]) / int(sizes[fullest]):.2f} for each in the mean",
            ),
        ]
    degree = max((argument.value for argument in arguments if argument.of == "max_degree"), default=0)
    return Bounds(links, degree, tuple(arguments), shared.left_out)


def _islands(interest: Interest) -> tuple[Numbers, Numbers]:
    """The number of each node's island, and how many nodes each island has."""
    lowest = island_of_nodes(interest.node_count, interest.topic_start, interest.topic_nodes)
    _, island, sizes = np.unique(lowest, return_inverse=True, return_counts=True)
    return island, sizes


def _because_of_islands(interest: Interest, sizes: Numbers) -> str:
    if interest.node_count == 1:
        return "a single node has nobody to be connected with"
    if len(sizes) == 1:
        return f"all {interest.node_count:,} nodes share topics, directly or through others, and must be connected"
    return (
        f"{interest.node_count:,} nodes are on {len(sizes):,} islands, which share no topics; an island of n nodes "
        "must be connected, which takes n - 1 links"
    )
