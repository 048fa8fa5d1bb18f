"""Lower bounds on links, prices and the highest degree, with the arguments that prove them.

Links: islands, neighbours that each node needs, offers of nodes (`offers`) and trees of topics (`tree_bound`).
Prices: trees of topics. Degrees: what a node shares with others it must share with a neighbour, so neighbours cover its
topics; the mean of links; and weights of nodes (`degree_bound`).
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np

from topicloom.errors import InputError
from topicloom.io.tables import BOUND_ROUNDS
from topicloom.kernels.bounds import island_of_nodes
from topicloom.metrics.compared_topics import ComparedTopics, Numbers, neighbours_needed
from topicloom.metrics.degree_bound import degree_bound
from topicloom.metrics.offers import LINK, MOST_ROUNDS, paid_links
from topicloom.metrics.tree_bound import TreeBound, tree_bound
from topicloom.model.interest import Interest
from topicloom.model.prices import MILLIONTHS, LinkPrices, Prices
from topicloom.registry import Watch
from topicloom.views.html import table_html
from topicloom.views.numbers import amount, count_of

# Pairs of nodes to look at, each once for every topic that they share: a billion takes about four seconds.
_WORK = 1_000_000_000
# Passes over all pairs that are always made: two for the first offers, two for the neighbours of both ends.
_PASSES = 4
# Weights of nodes are for more nodes than `exact` can take; with more pairs in topics they would take too long.
_WEIGHED_NODES = 64
_WEIGHED_PAIRS = 50_000_000


@dataclass(frozen=True)
class Argument:
    """One reason why an overlay cannot do with less: what is bounded, by how much, and the proof in words."""

    of: Literal["links", "price", "max_degree"]
    name: str
    value: int | float
    because: str


@dataclass(frozen=True)
class Bounds:
    """What no topic-connected overlay of an interest has less of, and why.

    - `links`, `max_degree`: the bounds. They are proved, not estimated; the best overlay may still need more.
    - `price`: the bound on the price of all links; None without prices.
    - `arguments`: the reasons. `links` may be above each of them, as it takes the best one for every island.
    - `left_out`: topics with too many nodes to compare in pairs, which the arguments do without.
    - `trees`, `priced`: the trees that prove the argument "trees" of links and of price.
    """

    links: int
    max_degree: int
    arguments: tuple[Argument, ...]
    left_out: int = 0
    price: float | None = None
    trees: TreeBound | None = field(default=None, repr=False, compare=False)
    priced: TreeBound | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return {
            "links": self.links,
            "price": self.price,
            "max_degree": self.max_degree,
            "arguments": [asdict(argument) for argument in self.arguments],
            "left_out": self.left_out,
        }

    def _repr_html_(self) -> str:
        return table_html(
            ["at least", "of", "because"],
            [[amount(each.value), each.of.replace("_", " "), each.because] for each in self.arguments],
        )


def bound(
    interest: Interest | str | PathLike[str],
    *,
    prices: Prices | LinkPrices | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    degrees: bool = True,
    watch: Watch | None = None,
) -> Bounds:
    """Prove how many links, what price and what max degree any topic-connected overlay of an interest must have.

    Args:
        interest: who wants what, or the file or folder that it is in.
        prices: what links cost. Without them there is no bound on the price.
        rounds: how often to improve the offers of nodes for links (see `metrics.offers`), and the prices of
            topics' trees (see `metrics.tree_bound`). Without it, up to 60 and 2,000 times, but no longer than some
            seconds; at a million nodes not at all.
        seconds: improve the prices of trees for this time instead; the bounds then depend on it.
        degrees: whether weights of nodes may improve the bound on the max degree, which takes some seconds more.
        watch: stops the prices of trees at their next round, with the best bounds so far.
    """
    if rounds is not None and not 0 <= rounds <= BOUND_ROUNDS:
        raise InputError(f"rounds must be from 0 to {BOUND_ROUNDS:,}, not {rounds}", "rounds")
    if seconds is not None and not 0 < seconds < math.inf:
        raise InputError(f"seconds must be above 0, not {seconds}", "seconds")
    interest = Interest.given(interest)
    paid = prices.over(interest) if isinstance(prices, Prices) else prices
    parts = 1 + degrees + (paid is not None)
    begun = time.monotonic()

    def stopped() -> bool:
        late = seconds is not None and time.monotonic() - begun > seconds
        return late or (watch is not None and watch.stopped)

    island, sizes = _islands(interest)
    shared = ComparedTopics.of(interest, _WORK // _PASSES)
    by_trees = partial(
        tree_bound, shared, island=island, rounds=rounds, seconds=seconds and seconds / parts, stopped=stopped
    )
    trees = by_trees()
    offers = min(MOST_ROUNDS, max(0, _WORK // max(1, shared.pairs) - _PASSES)) if rounds is None else rounds
    needed = neighbours_needed(shared)
    of_links = {
        "islands": sizes - 1,
        "neighbours": -(-np.bincount(island, needed, len(sizes)).astype(np.int64) // 2),
        "offers": -(-paid_links(shared, island, offers) // LINK),
        "trees": np.array(trees.by_island, np.int64),
    }
    by_island = np.maximum.reduce(list(of_links.values()))
    links = int(by_island.sum())
    because = {"islands": _because_of_islands(interest, sizes), **_BECAUSE}
    arguments = [Argument("links", name, int(values.sum()), because[name]) for name, values in of_links.items()]
    if links > max(argument.value for argument in arguments):
        arguments.append(
            Argument("links", "each island", links, "no link joins two islands, and each has its own best argument")
        )
    priced = None if paid is None else by_trees(prices=paid)
    if paid is not None and priced is not None:
        arguments += _of_price(paid, links, priced.value)
    if len(needed):
        weighed = degrees and len(needed) >= _WEIGHED_NODES and shared.pairs <= _WEIGHED_PAIRS
        by_weights = degree_bound(shared, needed, island, trees, rounds=rounds, stopped=stopped) if weighed else 0
        arguments += _of_degree(interest, needed, by_island, sizes, by_weights)
    best = {of: max((each.value for each in arguments if each.of == of), default=0) for of in ("price", "max_degree")}
    price = None if paid is None else float(best["price"])
    return Bounds(links, int(best["max_degree"]), tuple(arguments), shared.left_out, price, trees, priced)


_BECAUSE = {
    "neighbours": "every topic of a node must be a topic of one of its neighbours; so many neighbours the nodes need "
    "in all, and a link is one for both its ends",
    "offers": "in each topic every node but one needs a link towards that one, and can pay for it so much that no link "
    "gets more than its price: whatever the links, so many are paid for",
    "trees": "each topic needs a spanning tree, and can pay for its links so much that no link gets more than its "
    "price from all topics: the cheapest trees cost so many links",
}


def _of_price(paid: LinkPrices, links: int, by_trees: int) -> list[Argument]:
    """Arguments for a price, from the bound on links and from trees, in millionths."""
    cheapest = int(paid.price.min(initial=0))
    return [
        Argument(
            "price",
            "links",
            links * cheapest / MILLIONTHS,
            f"there are at least {count_of(links, 'link')}, and none costs less than {cheapest / MILLIONTHS:,}",
        ),
        Argument(
            "price",
            "trees",
            by_trees / MILLIONTHS,
            "each topic needs a spanning tree, and can pay for its links so much that no link gets more than its price "
            "from all topics: so much the cheapest trees cost",
        ),
    ]


def _of_degree(
    interest: Interest, needed: Numbers, by_island: Numbers, sizes: Numbers, by_weights: int
) -> list[Argument]:
    """Arguments for a max degree: the neediest node, the mean of the fullest island, and weights of nodes."""
    by_mean = -(-2 * by_island // np.maximum(sizes, 1))
    neediest, fullest = int(needed.argmax()), int(by_mean.argmax())
    size, links = int(sizes[fullest]), int(by_island[fullest])
    arguments = [
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
            f"among {count_of(size, 'node')} there are at least {count_of(links, 'link')}, which is "
            f"{2 * links / size:.2f} for each in the mean",
        ),
    ]
    if by_weights:
        arguments.append(
            Argument(
                "max_degree",
                "weights",
                by_weights,
                "if a link costs the weights of its two ends, the cheapest trees cost so many times all weights",
            )
        )
    return arguments


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
