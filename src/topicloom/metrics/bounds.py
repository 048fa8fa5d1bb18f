"""Lower bounds on links, prices and the highest degree, with the arguments that prove them.

Degrees: what a node shares with others it must share with a neighbour, so neighbours cover its topics; and weights of
nodes (`metrics.degree_bound`). Prices: trees of topics (`metrics.tree_bound`).

Links: offers. Every node makes an offer in each of its topics, any number from 0 on. In a topic-connected overlay take
a spanning tree of each topic, with the node of the lowest offer as its root. Every node but the roots pays its offer to
the link towards the root. At most one end of a link pays in a topic, so a link gets at most the sum, over the topics
that both ends want, of the higher of their two offers. If no two nodes have a sum above 1, the overlay has at least as
many links as the total that is paid. If some sums are above 1, the excess is subtracted: no overlay has a link twice.
Roots are fixed beforehand, and offer 0.

So any offers prove a bound. Good ones are found in two steps:

1. A node offers the same in all its topics, or more in rare ones: weights of topics, divided by the highest weight that
   the node shares with one other. No link is overpaid then.
2. Round by round, offers rise a little where no overpaid link gets them, and fall where several do. This is a
   subgradient method, with steps in proportion to the offers, on the Lagrangian dual of the linear program whose
   constraints are: cut a topic's nodes into single nodes and one set of all the others, and there are at least as many
   links between these parts as there are single nodes.

Offers are whole numbers of small units, and so are all sums: rounding cannot lift the bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.io.tables import BOUND_ROUNDS
from topicloom.kernels.bounds import fewest_neighbours, heaviest_overlaps, island_of_nodes, overpaid_links
from topicloom.metrics.degree_bound import degree_bound
from topicloom.metrics.tree_bound import TreeBound, tree_bound
from topicloom.model.interest import Ids, Interest, Starts
from topicloom.model.prices import MILLIONTHS, LinkPrices, Prices
from topicloom.registry import Watch
from topicloom.views.html import table_html
from topicloom.views.numbers import amount, count_of

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ComparedTopics:
    """Topics with two nodes or more, as rows like those of an interest, renumbered; all nodes keep their ids.

    `left_out` are topics with so many nodes that their pairs would take too long: whatever is proved about fewer
    topics holds for all of them, as an overlay that connects all topics connects some.
    """

    node_start: Starts
    node_topics: Ids
    topic_start: Starts
    topic_nodes: Ids
    left_out: int

    @classmethod
    def of(cls, interest: Interest, most_pairs: int) -> ComparedTopics:
        """Those with fewest nodes first, as long as they have no more pairs of nodes than `most_pairs` in all."""
        sizes = np.diff(interest.topic_start)
        rarest = np.argsort(sizes, kind="stable")
        pairs = np.cumsum(sizes[rarest] * (sizes[rarest] - 1) // 2)
        kept = np.zeros(interest.topic_count, np.bool_)
        kept[rarest[pairs <= most_pairs]] = True
        kept &= sizes >= 2
        by_node = kept[interest.node_topics]
        number = np.cumsum(kept, dtype=np.int32) - 1
        before = np.concatenate([[0], np.cumsum(by_node)])
        starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
        return cls(
            before[interest.node_start].astype(np.int64),
            number[interest.node_topics[by_node]].astype(np.int32),
            starts,
            interest.topic_nodes[np.repeat(kept, sizes)],
            int(np.count_nonzero(sizes >= 2) - np.count_nonzero(kept)),
        )

    @property
    def node_count(self) -> int:
        """How many nodes there are, those without such topics too."""
        return len(self.node_start) - 1

    @property
    def pairs(self) -> int:
        """Pairs of nodes, summed over the topics."""
        sizes = np.diff(self.topic_start)
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def nodes(self) -> Numbers:
        """The node of each subscription, in the order of `node_topics`."""
        return np.repeat(np.arange(self.node_count), np.diff(self.node_start))


def neighbours_needed(shared: ComparedTopics) -> npt.NDArray[np.int64]:
    """What each node cannot have fewer neighbours than, in any topic-connected overlay."""
    sizes = np.diff(shared.topic_start)
    rare_first = shared.node_topics[np.lexsort((sizes[shared.node_topics], shared.nodes))]
    needed: npt.NDArray[np.int64] = fewest_neighbours(
        shared.node_start, rare_first, shared.topic_start, shared.topic_nodes
    ).astype(np.int64)
    return needed


Flags = npt.NDArray[np.bool_]

# What a link costs, in the units of offers: so many that those of a node with thousands of topics are not all 0.
LINK = 1 << 24
_LEAST_OFFER = LINK >> 13
# Exponents of the number of nodes of a topic by which weights fall: all topics alike, or rare ones far above.
_WEIGHTS_FALL_BY = (0, 2)
MOST_ROUNDS = 60


def paid_links(shared: ComparedTopics, island: Numbers, rounds: int) -> Numbers:
    """By island, what its links cost at least, in units of LINK; the best of all rounds for each."""
    islands = int(island.max(initial=-1)) + 1
    best = np.zeros(islands, np.int64)
    if not len(shared.node_topics):
        return best
    by_topic = np.argsort(shared.node_topics, kind="stable")
    roots = _roots(shared, by_topic)
    starts = [_feasible(shared, roots, fall_by) for fall_by in _WEIGHTS_FALL_BY]
    of_node = island[shared.nodes]
    for offer in starts:
        np.maximum(best, _sums(of_node, offer, islands), out=best)
    offer = max(starts, key=lambda offers: int(offers.sum()))
    offer = np.where(roots, 0, np.maximum(offer, _LEAST_OFFER))
    price = np.full(shared.node_count, LINK // 2)
    overpaid = np.zeros(shared.node_count, np.int64)
    taken = np.zeros(len(offer), np.int32)
    for number in range(rounds):
        overpaid_links(*_rows(shared), offer, offer[by_topic], price, overpaid, taken)
        np.maximum(best, _sums(of_node, offer, islands) - _sums(island, overpaid, islands), out=best)
        # In thousandths; steps shrink so that offers settle.
        step = 2000 // (20 + number)
        offer = offer + offer * (step * np.clip(1 - taken, -3, 1)) // 1000
    return best


def _rows(shared: ComparedTopics) -> tuple[Starts, Ids, Starts, Ids]:
    return shared.node_start, shared.node_topics, shared.topic_start, shared.topic_nodes


def _sums(groups: Numbers, values: Numbers, count: int) -> Numbers:
    """Sums by group, in whole numbers."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _roots(shared: ComparedTopics, by_topic: Numbers) -> Flags:
    """Which subscriptions are those of roots, who offer nothing: in each topic the node with most topics."""
    sizes = np.diff(shared.node_start)
    rank = np.empty(shared.node_count, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(shared.node_count)
    ranks = rank[shared.topic_nodes]
    first = np.minimum.reduceat(ranks, shared.topic_start[:-1])
    roots = np.zeros(len(shared.node_topics), np.bool_)
    roots[by_topic] = ranks == np.repeat(first, np.diff(shared.topic_start))
    return roots


def _feasible(shared: ComparedTopics, roots: Flags, fall_by: int) -> Numbers:
    """Offers by weights of topics, with no link overpaid."""
    sizes = np.diff(shared.topic_start)
    weight = np.maximum(1, (1 << 20) // sizes**fall_by)
    heaviest = heaviest_overlaps(*_rows(shared), weight)
    offer: Numbers = np.where(roots, 0, LINK * weight[shared.node_topics] // heaviest[shared.nodes])
    return offer


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
        rounds: how often to improve the offers of nodes for links (see `metrics.bounds.offers`), and the prices of
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
