"""Search by ruin and recreate: an overlay at least as good as its start, from any designer or from what runs today.

Rule: remove a few links, add the links of highest contribution until their topics are connected again, and keep the
result if it is no worse. What is worse is kept now and then, by simulated annealing.
Guarantee: never worse than the start in what is asked for, and no topic has more components than in the start.
Cost: a round takes some microseconds, whatever the number of nodes; a search ends after so many rounds or seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from topicloom.algorithms import Watch
from topicloom.designers.memory import require
from topicloom.errors import InputError
from topicloom.kernels.local_search import (
    BEST_COST,
    BEST_LINKS,
    BEST_SQUARES,
    BEST_TARGET,
    COST,
    COUNTS,
    JOURNAL_PLACES,
    KEPT,
    ROUNDS,
    Instance,
    Progress,
    Schedule,
    Workspace,
    best_links,
    search_rounds,
)
from topicloom.kernels.neighbours import NO_TARGET, SHARED, SQUARES, Neighbours, list_links, new_neighbours
from topicloom.kernels.recreating import Limits, new_heap, new_ruin, workspace_bytes
from topicloom.kernels.ruins import new_kinds
from topicloom.kernels.splits import new_parts, new_sides
from topicloom.kernels.subscriptions import nearest_nodes, new_subscriptions
from topicloom.kernels.topic_links import TopicLinks, new_topic_links, total_common
from topicloom.model.constraints import UNLIMITED, ConstraintArrays
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import PriceArrays

Aim = Literal["links", "price", "degree-links", "links-degree"]
AIMS: tuple[str, ...] = get_args(Aim)
# Rounds that a search without a number of seconds or rounds takes, for each node.
ROUNDS_BY_NODE = 200
# The nodes with most topics in common that are candidates of a node.
_NEAREST = 40
# The highest contribution that a price leaves exact comes to this much.
_FINE = 1 << 14
# From this share of the search on, highest degrees are lowered if they come after the links.
_DEGREES_LAST = 0.7
# Seconds between two looks at the clock, and the fewest rounds.
_LOOK = 0.1
_FEW = 16
# Temperatures at the beginning and at the end.
_HOT, _COLD = 0.1, 0.03


class SearchedLinks(NamedTuple):
    """Links by rising (source, target), and what the search says of them."""

    source: Ids
    target: Ids
    facts: MappingProxyType[str, Any]


class Search(NamedTuple):
    """A search that can be continued: what it searches, the overlay as it stands, and how far it is."""

    instance: Instance
    links: TopicLinks
    neighbours: Neighbours
    space: Workspace
    progress: Progress
    schedule: Schedule

    @classmethod
    def of(
        cls,
        interest: Interest,
        source: Ids,
        target: Ids,
        *,
        limits: ConstraintArrays | None = None,
        prices: PriceArrays | None = None,
        fixed: npt.NDArray[np.bool_] | None = None,
        max_degree: int | None = None,
        aim: str = "links",
        seed: int = 0,
    ) -> Search:
        """Begin a search; see `search_links`."""
        if aim not in AIMS:
            raise InputError(f"aim must be one of {', '.join(AIMS)}, not {aim!r}", "aim")
        if aim == "price" and prices is None:
            raise InputError("aim 'price' needs prices", "aim")
        require("search", search_bytes(interest, source, target))
        ends = np.stack([np.minimum(source, target), np.maximum(source, target)]).astype(np.int32)
        stays = _fixed(interest, ends, limits, fixed)
        most: Ids = np.full(interest.node_count, UNLIMITED if max_degree is None else max_degree, np.int32)
        if limits is not None:
            most = np.minimum(most, limits.room).astype(np.int32)
        subscriptions = new_subscriptions(
            interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes
        )
        neighbours = new_neighbours(ends[0], ends[1], stays, most)
        links = new_topic_links(subscriptions, *ends)
        neighbours.total[SHARED] = total_common(links)
        salted = np.uint64(seed % 2**64)
        nearest = nearest_nodes(subscriptions, min(_NEAREST, max(1, interest.node_count - 1)), salted)
        costs = _limits(interest, limits, prices if aim == "price" else None)
        cost = len(source) if aim != "price" or prices is None else int(prices.of(*ends).sum())
        count = np.zeros(COUNTS, np.int64)
        count[[COST, BEST_COST]] = cost
        count[BEST_TARGET] = NO_TARGET
        count[BEST_LINKS], count[BEST_SQUARES] = len(source), neighbours.total[SQUARES]
        space = Workspace(
            new_ruin(),
            new_parts(interest.node_count, interest.topic_count),
            new_sides(interest.node_count),
            new_heap(nearest.shape[1]),
        )
        best = neighbours._replace(
            node=np.zeros_like(neighbours.node),
            degree=np.zeros_like(neighbours.degree),
            total=np.zeros_like(neighbours.total),
        )
        progress = Progress(np.array([salted]), new_kinds(), count, np.zeros(JOURNAL_PLACES, np.int32), best)
        target_from = {"degree-links": 0.0, "links-degree": _DEGREES_LAST}.get(aim, 2.0)
        unit = max(1.0, cost / max(1, len(source)))
        schedule = Schedule(_HOT, _COLD, 0.0, 0.0, 0, unit, target_from, aim == "degree-links")
        return cls(Instance(subscriptions, costs, nearest), links, neighbours, space, progress, schedule)

    @property
    def rounds(self) -> int:
        """Rounds done so far."""
        return int(self.progress.counts[ROUNDS])

    def run(self, rounds: int, begin: float, share: float, first: int, watch: Watch) -> None:
        """Do some rounds; the search is at `begin` after the `first` rounds, and each adds its `share`."""
        schedule = self.schedule._replace(begin=float(begin), share=float(share), first=first)
        state = (self.instance, self.links, self.neighbours, self.space)
        search_rounds(*state, schedule, self.progress, rounds, watch.ticks)

    def best(self) -> tuple[Ids, Ids]:
        """The best links so far, by rising (source, target)."""
        count = self.progress.counts
        best_links(self.progress, self.neighbours)
        source, target = (np.zeros(int(count[BEST_LINKS]), np.int32) for _ in range(2))
        list_links(self.progress.best, source, target)
        order = np.lexsort((target, source))
        return source[order], target[order]


def search_links(
    interest: Interest,
    source: Ids,
    target: Ids,
    *,
    limits: ConstraintArrays | None = None,
    prices: PriceArrays | None = None,
    fixed: npt.NDArray[np.bool_] | None = None,
    max_degree: int | None = None,
    aim: str = "links",
    seconds: float | None = None,
    rounds: int | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchedLinks:
    """Search for a better overlay than the links `source` - `target`, which it begins with.

    Args:
        interest: the subscriptions.
        source: one end of each link. target: the other.
        limits: links that no round may add: beyond `room`, between groups that are not permitted. Its links stay.
        prices: what links cost, for the aim `price`.
        fixed: which of the links stay.
        max_degree: no link is added to a node with so many; a node that begins with more keeps at most these.
        aim: `links`, the fewest; `price`, the lowest sum of prices; `degree-links`, the lowest highest degree and then
            the fewest links; `links-degree`, the other way round. Of equals the one with less squared degrees is best.
        seconds: that it may take, without compiling. The result then depends on the speed of the machine.
        rounds: rounds that it may take; the same number and seed give the same links.
        seed: of the random draws.
        watch: counts rounds, and stops the search, which then returns the best links so far.
        clock: measures the seconds.
    """
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds must be above 0, not {seconds}", "seconds")
    if rounds is not None and rounds < 0:
        raise InputError(f"rounds must be 0 or more, not {rounds}", "rounds")
    compile_kernels()
    begun = clock()
    watch = watch or Watch()
    given = {"limits": limits, "prices": prices, "fixed": fixed, "max_degree": max_degree, "aim": aim, "seed": seed}
    search = Search.of(interest, source, target, **given)  # type: ignore[arg-type]
    if seconds is None:
        rounds = ROUNDS_BY_NODE * interest.node_count if rounds is None else rounds
        search.run(rounds, 0.0, 1.0 / max(1, rounds), 0, watch)
    else:
        for count, begin, share in _chunks(search, lambda: (clock() - begun) / seconds, seconds, rounds):
            search.run(count, begin, share, search.rounds, watch)
            if watch.stopped:
                break
    return SearchedLinks(*search.best(), MappingProxyType(_facts(search, source, target)))


def search_bytes(interest: Interest, source: Ids, target: Ids) -> int:
    """Bytes that a search takes at most.

    A subscription takes 56, a pair of a link and a topic that its ends have in common 24, a node 1,000.
    """
    sizes = np.diff(interest.node_start)
    common = int(np.minimum(sizes[source], sizes[target]).sum())
    bits = min(1 << 25, interest.node_count * (interest.topic_count // 8 + 8))
    fixed = bits + workspace_bytes() + 4 * JOURNAL_PLACES + 8 * interest.topic_count
    return fixed + 56 * interest.subscription_count + 24 * common + 1000 * interest.node_count + 32 * len(source)


def _chunks(
    search: Search, passed: Callable[[], float], seconds: float, rounds: int | None
) -> Iterator[tuple[int, float, float]]:
    """Rounds to do before the next look at the clock, how far the search is, and what a round adds."""
    look = _LOOK / seconds
    pace = look / _FEW
    while (before := passed()) < 1.0:
        count = max(1, int(min(look, 1.0 - before) / pace))
        if rounds is not None:
            count = min(count, rounds - search.rounds)
            if count == 0:
                return
        yield count, before, pace
        pace = max((passed() - before) / count, 1e-12)


@cache
def compile_kernels() -> None:
    """Compile what a search needs, by a tiny one; once in a process."""
    tiny = Interest.from_pairs([("a", "x"), ("b", "x")])
    link = np.zeros(1, np.int32), np.ones(1, np.int32)
    search = Search.of(tiny, *link)
    search.run(0, 0.0, 0.0, 0, Watch())
    search.best()


def _fixed(
    interest: Interest, ends: Ids, limits: ConstraintArrays | None, fixed: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    """Which links stay: those of a mask, and those of the limits."""
    stays = np.zeros(ends.shape[1], np.bool_) if fixed is None else fixed.copy()
    if limits is not None and len(limits.source):
        keys = ends[0].astype(np.int64) * interest.node_count + ends[1]
        stays |= np.isin(keys, limits.source.astype(np.int64) * interest.node_count + limits.target)
    return stays


def _limits(interest: Interest, limits: ConstraintArrays | None, prices: PriceArrays | None) -> Limits:
    """Which links may be added and what they cost, as kernels read it."""
    none = np.zeros(interest.node_count, np.int32)
    group, permitted = (none, np.ones((1, 1), np.bool_)) if limits is None else (limits.group, limits.permitted)
    if prices is None:
        return Limits(group, permitted, none, np.zeros((0, 0), np.int64), np.zeros(0, np.int64), 1.0)
    cheapest = prices.price.min(axis=1)
    return Limits(group, permitted, prices.group, prices.price, cheapest, float(cheapest.min()) * _FINE)


def _facts(search: Search, source: Ids, target: Ids) -> dict[str, Any]:
    count, best, nodes = search.progress.counts, search.progress.best, len(search.neighbours.degree)
    before = np.bincount(np.concatenate([source, target]), minlength=nodes)
    return {
        "rounds": search.rounds,
        "accepted": int(count[KEPT]),
        "links_before": len(source),
        "links": int(count[BEST_LINKS]),
        "degree_before": int(before.max(initial=0)),
        "degree": int(best.degree.max(initial=0)),
        "squares": int(count[BEST_SQUARES]),
        "cost": int(count[BEST_COST]),
    }
