"""What all greedy designers share: an interest made ready for the kernels, within limits and by prices.

Interests whose nodes share much are kept as bitsets with a bound for every pair of nodes. Sparse ones are searched row
by row. The representation changes time and memory, never the links.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import MATCHING, MAXIMAL, DesignProblem, Links
from topicloom.errors import InputError
from topicloom.kernels.greedy import (
    Degrees,
    Instance,
    LinkList,
    add_existing,
    matchings_bytes,
    new_link_list,
)
from topicloom.kernels.pair_bounds import (
    Candidates,
    all_pairs,
    all_pairs_bytes,
    exclude,
    exclude_groups,
)
from topicloom.kernels.pair_search import TIES, Search, new_search
from topicloom.kernels.price_search import Priced, new_priced, priced_bytes
from topicloom.kernels.row_search import CENTRES, RowSearch, new_row_search, row_candidates, row_search_bytes
from topicloom.kernels.topic_bits import new_topic_bits, topic_bits_bytes
from topicloom.kernels.topic_members import new_topic_members, topic_members_bytes
from topicloom.metrics.support import possible_merges
from topicloom.model.constraints import LinkLimits
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices

# From so many ordered pairs of nodes for each contribution on, a list of equal links would be made again and again.
_EQUAL_LINKS = 1 << 21
_NO_IDS: Ids = np.empty(0, np.int32)

AnySearch = Search | RowSearch


class Representation(NamedTuple):
    """How an interest is kept: the links of a designer are the same with any.

    `bitsets` are for interests whose nodes share much; with `in_order` their candidates lie in the order of ids.
    `tie_capacity` is that of a list of equal links. One node in `centres` may be a centre of a search by rows.
    """

    bitsets: bool
    in_order: bool = False
    tie_capacity: int = TIES
    centres: int = CENTRES

    @classmethod
    def of(cls, interest: Interest) -> Representation:
        """The fastest for an interest."""
        in_order = interest.node_count**2 > _EQUAL_LINKS * (max_common_topics(interest) + 1)
        return cls(prefers_bitsets(interest), in_order)


@dataclass(frozen=True, eq=False)
class Greedy:
    """A problem made ready for the loops of greedy designers.

    Args:
        problem: the problem.
        representation: how its interest is kept.
        instance: topics, with the components that links merge, and candidate links.
        links: a list with capacity for all links. existing: how many exist from the start and are in it.
        priced: prices, and the best link of every row by them; None if links go by contribution alone.
    """

    problem: DesignProblem
    representation: Representation
    instance: Instance
    links: LinkList
    existing: int
    priced: Priced | None

    @classmethod
    def of(
        cls,
        problem: DesignProblem,
        ties: str | None = None,
        *,
        max_edges: int | None = None,
        without: Links | None = None,
        representation: Representation | None = None,
    ) -> Greedy:
        """Make a problem ready: for at most `max_edges` links, none of them in `without`.

        With prices, or `ties` "hash", links go by contribution for their price, of equals the cheaper first. Ties then
        go by a hash of names, unless `ties` is "names".
        """
        links = new_link_list(_max_links(problem, max_edges))
        kept = representation or Representation.of(problem.interest)
        if problem.prices is not None or ties == "hash":
            instance, priced = _by_price(problem, kept, without, ties)
        else:
            instance, priced = (_by_pairs if kept.bitsets else _by_rows)(problem, kept, without), None
        limits = problem.limits
        if len(limits.source):
            add_existing(instance, limits.source, limits.target, links, problem.watch.ticks)
        return cls(problem, kept, instance, links, len(limits.source), priced)

    @property
    def ticks(self) -> npt.NDArray[np.int64]:
        """Progress, and a request to stop."""
        return self.problem.watch.ticks

    @property
    def has_limits(self) -> bool:
        """Whether nodes may not have all links."""
        return not self.problem.limits.unlimited

    @property
    def spare(self) -> Ids:
        """How many more links each node may have; empty without limits."""
        return self.degrees().spare

    @property
    def priced_below(self) -> Priced:
        """The same as `priced`, for a search that is confined to some nodes."""
        assert self.priced is not None
        prices = (self.priced.group, self.priced.price, self.priced.hashes)
        return new_priced(self.instance.candidates, *prices, confined=True)

    def degrees(self, max_degree: int | None = None) -> Degrees:
        """Links that nodes have and may have, with the existing ones and at most `max_degree`."""
        outer, limits = self.instance.candidates.outer, self.problem.limits
        nodes = len(outer)
        most = nodes if max_degree is None else min(max_degree, nodes)
        if limits.unlimited:
            return Degrees(np.zeros(nodes, np.int32), _NO_IDS, most)
        ends = self.instance.candidates.inner[np.concatenate([limits.source, limits.target])]
        degree = np.bincount(ends, minlength=nodes).astype(np.int32)
        return Degrees(degree, np.minimum(limits.spare[outer], most).astype(np.int32) - degree, most)

    def search(self, *, confined: bool) -> AnySearch:
        """A search among the candidates that has not begun; a confined one allows no node yet."""
        candidates = self.instance.candidates
        if self.representation.bitsets:
            return new_search(candidates, confined=confined, capacity=self.representation.tie_capacity)
        return new_row_search(candidates, confined=confined, centres=self.representation.centres)

    def finished(self, count: int) -> Links:
        """The first links of the list."""
        source, target, contribution = (column[:count].copy() for column in self.links)
        return Links(source, target, contribution)


def _max_links(problem: DesignProblem, max_edges: int | None) -> int:
    """Upper bound on the links, those that exist included."""
    limits = problem.limits
    existing, free = len(limits.source), limits.free_of_budget
    most = max_possible_links(problem.interest) + existing
    if max_edges is None:
        return most
    if existing - free > max_edges:
        raise InputError(f"max_edges is {max_edges}, but {existing - free} links are required", "max_edges")
    return min(most, max_edges + free)


def _by_rows(problem: DesignProblem, _: Representation, without: Links | None) -> Instance:
    """Make an interest ready without keeping pairs."""
    interest, limits = problem.interest, problem.limits
    members = new_topic_members(interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes)
    excluded = (_NO_IDS, _NO_IDS) if without is None else (without.source, without.target)
    sizes, highest = np.diff(interest.node_start), max_common_topics(interest)
    return Instance(members, row_candidates(sizes, highest, *excluded, limits.group, limits.may_link))


def _by_price(
    problem: DesignProblem, representation: Representation, without: Links | None, ties: str | None
) -> tuple[Instance, Priced]:
    """Make an interest ready for a search by contribution for the price."""
    interest = problem.interest
    prices = problem.prices
    if prices is None:
        prices = LinkPrices(np.zeros(interest.node_count, np.int32), np.ones((1, 1), np.int64))
    instance = (
        _by_pairs(problem, representation, without, prices.group)
        if representation.bitsets
        else _by_rows(problem, representation, without)
    )
    outer = instance.candidates.outer
    hashes: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
    if ties != "names":
        hashes = _tie_hashes(interest.node_names)[outer]
    return instance, new_priced(instance.candidates, prices.group[outer], prices.price, hashes)


def _tie_hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]:
    """A hash of each name, by which ties are broken."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=16).digest()[:8] for name in names)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def _by_pairs(
    problem: DesignProblem, representation: Representation, without: Links | None, group: Ids | None = None
) -> Instance:
    """Make an interest ready with a bound for every pair.

    Kernels see the nodes group by group, if there are any, and by falling number of topics. Links that contribute
    much then lie close together, and the search skips most rows and blocks: 2 to 5 times faster than in the order of
    ids; without groups, candidates are in panels then. Not so if few topics make for many equal links: in the order of
    ids, row after row, these need not be listed.
    """
    interest = problem.interest
    sizes = np.diff(interest.node_start)
    highest = max_common_topics(interest)
    in_order = group is None and representation.in_order
    keys = (np.zeros_like(sizes) if in_order else -sizes, np.zeros_like(sizes) if group is None else group)
    outer = np.lexsort(keys).astype(np.int32)
    node_start, node_topics = _renumbered(interest, outer)
    bits = new_topic_bits(node_start, node_topics, interest.topic_count)
    in_panels = group is None and bool((outer[1:] < outer[:-1]).any())
    pairs = all_pairs(node_start, node_topics, bits.table, highest, outer, in_panels=in_panels)
    _exclude(pairs, problem.limits, without)
    return Instance(bits, pairs)


def _renumbered(
    interest: Interest, outer: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """`node_start` and `node_topics` of an interest whose node k is node `outer[k]`."""
    sizes = np.diff(interest.node_start)[outer]
    node_start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(sizes, out=node_start[1:])
    gather = np.repeat(interest.node_start[:-1][outer] - node_start[:-1], sizes) + np.arange(len(interest.node_topics))
    return node_start, interest.node_topics[gather]


def _exclude(candidates: Candidates, limits: LinkLimits, without: Links | None) -> None:
    """Take links out of the candidates: some, and those that limits do not allow."""
    if without is not None:
        exclude(candidates, without.source, without.target)
    if not limits.may_link.all():
        group = limits.group[candidates.outer]
        exclude_groups(candidates, group, np.where(limits.may_link[:, group], np.uint8(255), np.uint8(0)))


def prefers_bitsets(interest: Interest) -> bool:
    """Whether counting common topics by bitsets is cheaper than topic by topic.

    A popcount of eight words (one vector) costs about as much as counting one pair in one topic.
    """
    words = -(-interest.topic_count // 64)
    return interest.node_count**2 * max(1.0, words / 8) <= 2 * pairs_in_topics(interest) * 2


def pairs_in_topics(interest: Interest) -> int:
    """Pairs of subscribers, summed over the topics."""
    sizes = np.diff(interest.topic_start)
    return int((sizes * (sizes - 1) // 2).sum())


def max_common_topics(interest: Interest) -> int:
    """Upper bound on shared topics: the second-largest node."""
    sizes = np.diff(interest.node_start)
    return int(np.partition(sizes, -2)[-2]) if len(sizes) > 1 else 0


def max_possible_links(interest: Interest) -> int:
    """Upper bound on the links of a greedy designer: every link merges, and every pair is linked once."""
    return min(interest.subscription_count - interest.topic_count, _pairs(interest))


def max_matched_links(interest: Interest, max_degree: int | None) -> int:
    """Upper bound on the links of maximal matchings."""
    pairs = _pairs(interest)
    return pairs if max_degree is None else min(pairs, interest.node_count * max_degree // 2)


def _pairs(interest: Interest) -> int:
    return interest.node_count * (interest.node_count - 1) // 2


def greedy_merges(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Components that a greedy designer merges if all topics end up connected, in each of its folds."""
    return int(parameters.get("folds", 1)) * possible_merges(interest)


def greedy_bytes(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Upper bound on the memory of a greedy designer, with or without prices."""
    nodes, topics, subscriptions = interest.node_count, interest.topic_count, interest.subscription_count
    if prefers_bitsets(interest):
        kept = topic_bits_bytes(nodes, topics, subscriptions) + all_pairs_bytes(nodes)
    else:
        kept = topic_members_bytes(topics, subscriptions) + row_search_bytes(nodes)
    return kept + priced_bytes(nodes) + _links_bytes(interest, parameters)


def _links_bytes(interest: Interest, parameters: Mapping[str, Any]) -> int:
    if parameters.get(MATCHING.name) == MAXIMAL:
        links = max_matched_links(interest, parameters.get("max_degree"))
        return links * 12 + matchings_bytes(interest.node_count)
    return max_possible_links(interest) * 12
