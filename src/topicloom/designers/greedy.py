"""What the greedy designers share: preparing topics, candidates, limits and prices.

What all greedy designers share: the choice of representation, its memory, and room for links.

Interests whose nodes share much are kept as bitsets with a bound for every pair of nodes. Sparse ones are searched row
by row, or, where links have prices, kept as lists with a bound for every pair that shares a topic. Which it is changes
the time and the memory, never the links.

How greedy designers are declared: which links they add, and what their parameters mean to it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import CONSTRAINTS, MATCHING, MAXIMAL, PRICES, Designer, DesignProblem, Links
from topicloom.designers.memory import require
from topicloom.errors import InputError
from topicloom.kernels.greedy import (
    Degrees,
    LinkList,
    Trade,
    add_first,
    fill_matching,
    matchings_bytes,
    merge_evenly,
    merge_greedily,
    new_link_list,
    new_matchings,
)
from topicloom.kernels.pair_bounds import (
    Candidates,
    all_pairs,
    all_pairs_bytes,
    co_subscribers,
    co_subscribers_bytes,
    exclude,
    exclude_groups,
)
from topicloom.kernels.pair_search import Search, new_search
from topicloom.kernels.price_search import (
    Priced,
    TopicLists,
    merge_by_price,
    merge_evenly_by_price,
    new_priced,
    new_topic_lists,
    topic_lists_bytes,
)
from topicloom.kernels.row_search import RowCandidates, RowSearch, new_row_search, row_candidates, row_search_bytes
from topicloom.kernels.topic_bits import TopicBits, new_topic_bits, topic_bits_bytes
from topicloom.kernels.topic_members import TopicMembers, new_topic_members, topic_members_bytes
from topicloom.model.constraints import NO_LIMITS, LinkLimits
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices

# From so many ordered pairs of nodes for each contribution on, a list of equal links would be made again and again.
_EQUAL_LINKS = 1 << 21


@dataclass(frozen=True)
class PairInstance:
    """An interest made ready for the kernels: its topics with no link yet, and all candidate links."""

    topics: TopicBits | TopicLists
    candidates: Candidates

    def search(self, *, confined: bool) -> Search:
        """A search among the candidates that has not begun."""
        return new_search(self.candidates, confined=confined)


@dataclass(frozen=True)
class RowInstance:
    """The same without pairs."""

    topics: TopicMembers
    candidates: RowCandidates

    def search(self, *, confined: bool) -> RowSearch:
        """A search among the candidates that has not begun."""
        return new_row_search(self.candidates, confined=confined)


Instance = PairInstance | RowInstance


def prepare(problem: DesignProblem, without: Links | None) -> Instance:
    """Make an interest ready, its candidates without some links and those that may not be built."""
    if not prefers_bitsets(problem.interest):
        return by_rows(problem, without)
    instance = by_pairs(problem.interest)
    _exclude(instance.candidates, without, problem.limits)
    return instance


def by_rows(problem: DesignProblem, without: Links | None) -> RowInstance:
    """Make a sparse interest ready, without keeping pairs."""
    interest = problem.interest
    members = new_topic_members(interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes)
    none: Ids = np.empty(0, np.int32)
    spent = (none, none) if without is None else (without.source, without.target)
    groups = (problem.limits.group, problem.limits.may_link)
    return RowInstance(
        members, row_candidates(np.diff(interest.node_start), most_common_topics(interest), *spent, *groups)
    )


def by_pairs(interest: Interest, group: Ids | None = None) -> PairInstance:
    """Make an interest ready with a bound for every pair.

    Kernels see the nodes group by group, where there are any, and by falling number of topics. Links that contribute
    much then lie close together, and the search skips most rows and blocks: 2 to 5 times faster than in the order of
    ids; where there are no groups, candidates are in panels then. Not so where few topics make for many equal links: in
    the order of ids, row after row, these need not be listed.
    """
    bitsets = prefers_bitsets(interest)
    sizes = np.diff(interest.node_start)
    highest = most_common_topics(interest)
    in_order = bitsets and group is None and interest.node_count**2 > _EQUAL_LINKS * (highest + 1)
    keys = (np.zeros_like(sizes) if in_order else -sizes, np.zeros_like(sizes) if group is None else group)
    outer = np.lexsort(keys).astype(np.int32)
    node_start, node_topics = _renumbered(interest, outer)
    if bitsets:
        topics = new_topic_bits(node_start, node_topics, interest.topic_count)
        in_panels = group is None and bool((outer[1:] < outer[:-1]).any())
        pairs = all_pairs(node_start, node_topics, topics.table, highest, outer, in_panels=in_panels)
        return PairInstance(topics, pairs)
    subscriber = np.repeat(np.arange(interest.node_count, dtype=np.int32), np.diff(node_start))
    topic_nodes = subscriber[np.argsort(node_topics, kind="stable")]
    return PairInstance(
        new_topic_lists(node_start, node_topics, interest.topic_count),
        co_subscribers(node_start, node_topics, interest.topic_start, topic_nodes, highest, outer),
    )


def _renumbered(
    interest: Interest, outer: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """`node_start` and `node_topics` of an interest whose node k is node `outer[k]`."""
    sizes = np.diff(interest.node_start)[outer]
    node_start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(sizes, out=node_start[1:])
    gather = np.repeat(interest.node_start[:-1][outer] - node_start[:-1], sizes) + np.arange(len(interest.node_topics))
    return node_start, interest.node_topics[gather]


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


def most_common_topics(interest: Interest) -> int:
    """What no two nodes can have more common topics than: the second longest row of topics."""
    sizes = np.diff(interest.node_start)
    return int(np.partition(sizes, -2)[-2]) if len(sizes) > 1 else 0


def most_links(interest: Interest) -> int:
    """What no greedy designer can add more links than: every link merges, and every pair is linked once."""
    merges = interest.subscription_count - interest.topic_count
    return min(merges, _pairs(interest))


def most_matched(interest: Interest, max_degree: int | None) -> int:
    """What maximal matchings can not add more links than."""
    nodes = interest.node_count
    return _pairs(interest) if max_degree is None else min(_pairs(interest), nodes * max_degree // 2)


def _pairs(interest: Interest) -> int:
    return interest.node_count * (interest.node_count - 1) // 2


def total(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Components that a greedy designer merges if all topics end up connected, in each of its folds."""
    return int(parameters.get("folds", 1)) * (interest.subscription_count - interest.topic_count)


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that a greedy designer takes at most without prices."""
    if parameters.get("ties") == "hash" or prefers_bitsets(interest):
        return memory_by_pairs(interest, parameters)
    members = topic_members_bytes(interest.topic_count, interest.subscription_count)
    return members + row_search_bytes(interest.node_count) + _links_bytes(interest, parameters)


def _links_bytes(interest: Interest, parameters: Mapping[str, Any]) -> int:
    if parameters.get(MATCHING.name) == MAXIMAL:
        return most_matched(interest, parameters.get("max_degree")) * 12 + matchings_bytes(interest.node_count)
    return most_links(interest) * 12


def memory_by_pairs(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that a greedy designer takes at most that keeps pairs."""
    links = _links_bytes(interest, parameters)
    if prefers_bitsets(interest):
        topics = topic_bits_bytes(interest.node_count, interest.topic_count, interest.subscription_count)
        return topics + all_pairs_bytes(interest.node_count) + links
    pairs = min(pairs_in_topics(interest), _pairs(interest))
    lists = topic_lists_bytes(interest.topic_count, interest.subscription_count)
    return lists + co_subscribers_bytes(pairs, interest.node_count) + links


def greedy_links(
    problem: DesignProblem, *, max_edges: int | None = None, without: Links | None = None, ties: str | None = None
) -> Links:
    """Links of highest contribution, one after the other; not more than `max_edges` and none of those in `without`.

    With prices they are those of highest contribution for their price, of equals the cheaper. Ties go by names or by
    their hash, which is usual with prices.
    """
    links = _room_for_links(problem, max_edges)
    if problem.prices is not None or ties == "hash":
        return _links_by_price(problem, links, without, ties)
    return _merged_greedily(prepare(problem, without), problem, links)


def _merged_greedily(instance: Instance, problem: DesignProblem, links: LinkList) -> Links:
    room = _degrees(instance, problem.limits).room
    first = _add_first(instance, problem, links)
    search, ticks = instance.search(confined=len(room) > 0), problem.watch.ticks
    return _first(links, merge_greedily(search, instance.topics, instance.candidates, room, links, first, ticks))


def _room_for_links(problem: DesignProblem, max_edges: int | None = None) -> LinkList:
    """A list with capacity for all possible links, those that exist included."""
    limits = problem.limits
    most, there, free = most_links(problem.interest), len(limits.source), limits.free_of_budget
    if max_edges is None:
        return new_link_list(most + there)
    if there - free > max_edges:
        raise InputError(f"max_edges is {max_edges}, but {there - free} links are required", "max_edges")
    return new_link_list(min(most + there, max_edges + free))


def _exclude(candidates: Candidates, without: Links | None, limits: LinkLimits) -> None:
    """Take some links and those that constraints do not permit out of the candidates."""
    if without is not None:
        exclude(candidates, without.source, without.target)
    if not limits.may_link.all():
        group = limits.group[candidates.outer]
        exclude_groups(candidates, group, np.where(limits.may_link[:, group], np.uint8(255), np.uint8(0)))


def _degrees(instance: Instance, limits: LinkLimits, max_degree: int | None = None) -> Degrees:
    """What nodes have and may have with the first links."""
    candidates = instance.candidates
    nodes = len(candidates.outer)
    most = nodes if max_degree is None else min(max_degree, nodes)
    if limits.unlimited:
        return Degrees(np.zeros(nodes, np.int32), np.empty(0, np.int32), most)
    ends = candidates.inner[np.concatenate([limits.source, limits.target])]
    degree = np.bincount(ends, minlength=nodes).astype(np.int32)
    return Degrees(degree, np.minimum(limits.spare[candidates.outer], most).astype(np.int32) - degree, most)


def _add_first(instance: Instance, problem: DesignProblem, links: LinkList) -> int:
    """Add the links that exist from the start; return their number."""
    limits = problem.limits
    if len(limits.source) == 0:
        return 0
    ends = (limits.source, limits.target)
    add_first(instance.topics, instance.candidates, *ends, links, problem.watch.ticks)
    return len(limits.source)


def _links_by_price(problem: DesignProblem, links: LinkList, without: Links | None, ties: str | None) -> Links:
    instance, priced, _ = _prepare_priced(problem, without, ties)
    room = _degrees(instance, problem.limits).room
    first = _add_first(instance, problem, links)
    state = (instance.topics, instance.candidates, room, links, first, problem.watch.ticks)
    return _first(links, merge_by_price(priced, *state))


def _prepare_priced(
    problem: DesignProblem, without: Links | None, ties: str | None
) -> tuple[PairInstance, Priced, Priced]:
    """An interest made ready with prices, for a search everywhere and for one that can be confined."""
    interest, prices = problem.interest, problem.prices
    if prices is None:
        prices = LinkPrices(np.zeros(interest.node_count, np.int32), np.ones((1, 1), np.int64))
    require("a greedy design by prices", memory_by_pairs(interest, {}))
    instance = by_pairs(interest, prices.group)
    candidates = instance.candidates
    _exclude(candidates, without, problem.limits)
    hashes: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
    if ties != "names":
        hashes = _tie_hashes(interest.node_names)[candidates.outer]
    paid = (candidates, prices.group[candidates.outer], prices.price, hashes)
    return instance, new_priced(*paid), new_priced(*paid, confined=True)


def _tie_hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]:
    """A hash of each name, by which ties are broken."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=16).digest()[:8] for name in names)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def completed_links(problem: DesignProblem, links: Links) -> Links:
    """Links, which keep to limits, and after them those of highest contribution, or for their price."""
    interest = problem.interest
    begun = replace(problem, limits=replace(problem.limits, source=links.source, target=links.target))
    if problem.prices is None:
        return _merged_greedily(by_rows(begun, None), begun, _room_for_links(begun))
    if len(links.source) == 0 or int(links.contribution.sum()) < interest.subscription_count - interest.topic_count:
        return _links_by_price(begun, _room_for_links(begun), None, None)
    return links


def even_links(
    problem: DesignProblem,
    *,
    max_degree: int | None = None,
    patience: float = math.inf,
    strict: bool = False,
    maximal: bool = False,
    ties: str | None = None,
) -> Links:
    """Links that raise the highest degree least, best ones first; see `kernels.greedy.merge_evenly`.

    With prices the best are those of highest contribution for their price, and ties go as in `greedy_links`.
    """
    by_price = problem.prices is not None or ties == "hash"
    if maximal and (not problem.limits.unlimited or by_price):
        raise InputError("matching maximal knows neither constraints on links nor prices; leave it out", "matching")
    if by_price:
        return _even_links_by_price(problem, max_degree, Trade(patience, strict), ties)
    instance = prepare(problem, None)
    trade = Trade(patience, strict)
    if maximal:
        return _matched_links(problem, instance, max_degree, trade)
    links = _room_for_links(problem)
    degrees = _degrees(instance, problem.limits, max_degree)
    first = _add_first(instance, problem, links)
    state = (degrees, trade, links, first, problem.watch.ticks)
    return _first(links, merge_evenly(*_searches(instance, degrees), *state))


def _searches(instance: Instance, degrees: Degrees) -> tuple[Any, ...]:
    """What `merge_evenly` searches: everywhere, and below the highest degree."""
    everywhere = instance.search(confined=len(degrees.room) > 0)
    return everywhere, instance.search(confined=True), instance.topics, instance.candidates


def _matched_links(problem: DesignProblem, instance: Instance, max_degree: int | None, trade: Trade) -> Links:
    """Even links, and before each rise of the highest degree others, until no two nodes below it are left unlinked."""
    interest, watch = problem.interest, problem.watch
    links = new_link_list(most_matched(interest, max_degree))
    matchings = new_matchings(interest.node_count)
    degrees = _degrees(instance, NO_LIMITS, max_degree)
    searches = _searches(instance, degrees)
    count, merges = 0, interest.subscription_count - int(np.count_nonzero(np.diff(interest.topic_start)))
    for highest in range(1, degrees.max_degree + 1):
        noted = count
        limits = degrees._replace(max_degree=highest)
        count = merge_evenly(*searches, limits, trade, links, count, watch.ticks)
        if watch.stopped or int(links.contribution[:count].sum()) == merges:
            break
        count = fill_matching(matchings, links, noted, count, instance.candidates, degrees.degree, highest)
    return _first(links, count)


def _even_links_by_price(problem: DesignProblem, max_degree: int | None, trade: Trade, ties: str | None) -> Links:
    instance, everywhere, confined = _prepare_priced(problem, None, ties)
    links = _room_for_links(problem)
    degrees = _degrees(instance, problem.limits, max_degree)
    first = _add_first(instance, problem, links)
    state = (degrees, trade, links, first, problem.watch.ticks)
    count = merge_evenly_by_price(everywhere, confined, instance.topics, instance.candidates, *state)
    return _first(links, count)


def _first(links: LinkList, count: int) -> Links:
    return Links(links.source[:count].copy(), links.target[:count].copy(), links.contribution[:count].copy())


def greedy_designer(
    *, evenly: bool = False, choices: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda given: {}, **described: Any
) -> Designer:
    """A designer that adds links of highest contribution, or those that raise the highest degree least.

    `choices` makes of its parameters what `merging.greedy_links`, or `merging.even_links`, is told besides; `described`
    is what else a `Designer` says of itself.
    """
    links: Callable[..., Links] = even_links if evenly else greedy_links

    def build(problem: DesignProblem, **parameters: Any) -> Links:
        return links(problem, ties=parameters.get("ties"), **choices(parameters))

    return Designer(
        build=build,
        memory=memory,
        total=total,
        honours=CONSTRAINTS | PRICES,
        **described,
    )
