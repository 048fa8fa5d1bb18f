"""Search by ruin and recreate: an overlay at least as good as its start, from any designer or from what runs today.

Start: the overlay of the problem, that of a designer, or, without either, links that the trees of a lower bound choose
(`low-oda` if limits are to be kept or prices counted). Links of the start that limits or `max_degree` do not allow are
left out, and the best that they allow complete it; or `gpm` takes its place if that connects more. If topics are not
connected then, half of the search is spent on lowering the degrees of the start first.
Rule: remove a few links, add the links of highest contribution until their topics are connected again, and keep the
result if it is no worse. What is worse is kept now and then, by simulated annealing.
Guarantee: never worse than the start in what is asked for, and no topic has more components than in the start.
Cost: a round takes some microseconds, whatever the number of nodes; a search ends after so many rounds or seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import (
    BEGIN,
    CONSTRAINTS,
    MAX_DEGREE,
    PRICES,
    TIES,
    Designer,
    DesignProblem,
    Links,
)
from topicloom.designers.gm import greedy_merge
from topicloom.designers.greedy import Greedy
from topicloom.designers.memory import require
from topicloom.errors import InputError
from topicloom.kernels.changes import FIRST_PRICE, NO_GIVEN, given_links
from topicloom.kernels.covers import fitting
from topicloom.kernels.local_search import (
    BEST_CHANGES,
    BEST_COST,
    BEST_LINKS,
    BEST_SQUARES,
    BEST_TARGET,
    CHANGES,
    COST,
    COUNTS,
    JOURNAL_PLACES,
    KEPT,
    MOST_CHANGES,
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
from topicloom.metrics.bounds import Bounds, bound
from topicloom.metrics.tree_bound import tree_bound_bytes
from topicloom.model.constraints import NO_LIMITS, UNLIMITED, LinkLimits
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry import Parameter, Value, Watch

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
# Seconds between two looks at the clock, and the rounds before the first.
_LOOK = 0.1
_FEW = 16
# Rounds between two looks at the progress.
_NOTED = 5_000
# Seconds over which progress is told.
_LATELY = 10.0
# Shares of the seconds for the bound at most, and for the rounds at least.
_BOUND_SHARE, _LEAST_SHARE = 0.2, 0.3
# Weights of contributions beside use in the trees of the bound, for links to begin with.
_GUIDES = (0.5, 1.0, 2.0)
# One group of nodes, of which any two may be linked.
_ANY_LINK = np.ones((1, 1), np.bool_)
# Temperatures at the beginning and at the end.
_HOT, _COLD = 0.1, 0.03


class SearchedLinks(NamedTuple):
    """Links by rising (source, target), and what the search says of them."""

    source: Ids
    target: Ids
    facts: MappingProxyType[str, Any]


class NearLinks(NamedTuple):
    """Links to stay near to, the lower end first, and how many changes of them are allowed."""

    source: Ids
    target: Ids
    changes: int

    def changes_of(self, source: Ids, target: Ids) -> int:
        """How many links are in one of two overlays alone."""
        return len(_pairs(*self[:2]) ^ _pairs(source, target))


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
        limits: LinkLimits = NO_LIMITS,
        prices: LinkPrices | None = None,
        fixed: npt.NDArray[np.bool_] | None = None,
        max_degree: int | None = None,
        aim: str = "links",
        seed: int = 0,
        near: NearLinks | None = None,
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
        if not limits.unlimited:
            most = np.minimum(most, limits.spare).astype(np.int32)
        subscriptions = new_subscriptions(
            interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes
        )
        neighbours = new_neighbours(ends[0], ends[1], stays, most)
        links = new_topic_links(subscriptions, *ends)
        neighbours.total[SHARED] = total_common(links)
        salted = np.uint64(seed % 2**64)
        nearest = nearest_nodes(subscriptions, min(_NEAREST, max(1, interest.node_count - 1)), salted)
        costs = _limits(interest, limits, prices if aim == "price" else None, near)
        cost = len(source) if aim != "price" or prices is None else int(prices.of(*ends).sum())
        count = np.zeros(COUNTS, np.int64)
        count[[COST, BEST_COST]] = cost
        count[BEST_TARGET] = NO_TARGET
        count[BEST_LINKS], count[BEST_SQUARES] = len(source), neighbours.total[SQUARES]
        count[MOST_CHANGES] = UNLIMITED if near is None else near.changes
        count[[CHANGES, BEST_CHANGES]] = 0 if near is None else near.changes_of(*ends)
        change_price = np.array([FIRST_PRICE])
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
        progress = Progress(
            np.array([salted]), new_kinds(), count, np.zeros(JOURNAL_PLACES, np.int32), best, change_price
        )
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
    limits: LinkLimits = NO_LIMITS,
    prices: LinkPrices | None = None,
    fixed: npt.NDArray[np.bool_] | None = None,
    max_degree: int | None = None,
    aim: str = "links",
    seconds: float | None = None,
    rounds: int | None = None,
    seed: int = 0,
    near: NearLinks | None = None,
    watch: Watch | None = None,
    lower_bound: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchedLinks:
    """Search for a better overlay than the links `source` - `target`, which it begins with.

    Args:
        interest: the subscriptions.
        source: one end of each link. target: the other.
        limits: links that no round may add: beyond `spare`, between groups that may not be linked. Its links stay.
        prices: what links cost, for the aim `price`.
        fixed: which of the links stay.
        max_degree: no link is added to a node with so many; a node that begins with more keeps at most these.
        aim: `links`, the fewest; `price`, the lowest sum of prices; `degree-links`, the lowest highest degree and then
            the fewest links; `links-degree`, the other way round. Of equals the one with less squared degrees is best.
        seconds: that it may take, without compiling. The result then depends on the speed of the machine.
        rounds: rounds that it may take; the same number and seed give the same links.
        seed: of the random draws.
        near: links that the result may differ from by so many changes; of equals the one with fewest is best. The links
            to begin with must have no more.
        watch: counts rounds, and stops the search, which then returns the best links so far.
        lower_bound: a known lower bound on the links, for the progress.
        clock: measures the seconds.
    """
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds must be above 0, not {seconds}", "seconds")
    if rounds is not None and rounds < 0:
        raise InputError(f"rounds must be 0 or more, not {rounds}", "rounds")
    compile_kernels()
    begun = clock()
    watch = watch or Watch()
    given: dict[str, Any] = {"limits": limits, "prices": prices, "fixed": fixed, "max_degree": max_degree}
    search = Search.of(interest, source, target, **given, aim=aim, seed=seed, near=near)
    if len(source) == 0:  # nothing to remove; kernels rely on a link
        return SearchedLinks(*search.best(), MappingProxyType(_facts(search, source, target)))
    if seconds is None:
        rounds = ROUNDS_BY_NODE * interest.node_count if rounds is None else rounds
        pace = _Pace(search, lower_bound, clock)
        while search.rounds < rounds and not watch.stopped:
            search.run(min(_NOTED, rounds - search.rounds), 0.0, 1.0 / rounds, 0, watch)
            watch.note = pace.note()
    else:
        pace = _Pace(search, lower_bound, clock)
        for count, begin, share in _chunks(search, lambda: (clock() - begun) / seconds, seconds, rounds):
            search.run(count, begin, share, search.rounds, watch)
            watch.note = pace.note()
            if watch.stopped:
                break
    return SearchedLinks(*search.best(), MappingProxyType(_facts(search, source, target)))


class _Pace:
    """Progress in words: links, degree, gap to the bound, and what a minute has lately given."""

    def __init__(self, search: Search, lower_bound: int | None, clock: Callable[[], float]) -> None:
        self._counts, self._best = search.progress.counts, search.progress.best
        self._lower_bound = lower_bound
        self._clock = clock
        self._seen = [(clock(), int(self._counts[BEST_LINKS]))]

    def note(self) -> str:
        """A few words, up to date."""
        now, links = self._clock(), int(self._counts[BEST_LINKS])
        words = [f"{links:,} links"]
        if self._lower_bound:
            words.append(f"{links / self._lower_bound - 1:.1%} above the bound")
        self._seen.append((now, links))
        while now - self._seen[1][0] > _LATELY:
            del self._seen[0]
        since, before = self._seen[0]
        if now > since:
            words.append(f"{(links - before) * 60 / (now - since):+,.0f} a minute")
        return ", ".join(words)


def search_bytes(interest: Interest, source: Ids, target: Ids) -> int:
    """Bytes that a search takes at most.

    A subscription takes 56, a pair of a link and a topic that its ends have in common 24, a node 1,000.
    """
    sizes = np.diff(interest.node_start)
    common = int(np.minimum(sizes[source], sizes[target]).sum())
    bits = min(1 << 25, interest.node_count * (interest.topic_count // 8 + 8))
    fixed = bits + workspace_bytes() + 4 * JOURNAL_PLACES + 8 * interest.topic_count
    return fixed + 56 * interest.subscription_count + 24 * common + 1000 * interest.node_count + 32 * len(source)


PARAMETERS = (
    Parameter("start", str, "the designer to begin with; links guided by a lower bound unless given", optional=True),
    Parameter(
        "rounds",
        int,
        f"its rounds; {ROUNDS_BY_NODE} for each node if no seconds are given",
        optional=True,
    ),
    Parameter(
        "seconds",
        float,
        "the seconds that the search may take; its result then depends on time",
        minimum=0,
        exclusive=True,
        optional=True,
    ),
    Parameter("aim", str, "the numbers to lower, in this order", "links", choices=AIMS),
    replace(MAX_DEGREE, optional=True),
    TIES,
)


def build(
    problem: DesignProblem,
    *,
    start: str | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    aim: str = "links",
    max_degree: int | None = None,
    ties: str | None = None,
) -> Links:
    """The best links found, by rising ids of their ends."""
    begun = time.monotonic()
    interest, watch = problem.interest, problem.watch
    if aim == "price" and problem.prices is None:
        raise InputError("aim 'price' needs prices", "aim")
    _check_start(problem, start)
    least = bound(interest, seconds=None if seconds is None else _BOUND_SHARE * seconds, watch=watch)
    begin = _start(problem, start, ties, least)
    watch.ticks[0] = 0
    if seconds is not None:
        # Compilation does not count.
        compile_kernels()
        seconds = max(seconds - (time.monotonic() - begun), _LEAST_SHARE * seconds)
    given: dict[str, Any] = {"limits": problem.limits, "prices": problem.prices, "seed": problem.seed, "watch": watch}
    earlier = 0
    within = _within(problem, begin, max_degree)
    if within.merges < begin.merges:
        # Overlays that connect topics by more links at a node often come down to the limits.
        first, rounds, seconds = _halves(interest, rounds, seconds)
        more = search_links(
            interest, begin.source, begin.target, **given, **first, max_degree=max_degree, aim="degree-links"
        )
        earlier = int(more.facts["rounds"])
        lowered = Links.measured(interest, more.source, more.target)
        within = min(within, _within(problem, lowered, max_degree), key=_rank)
    begin = within
    found = search_links(
        interest,
        begin.source,
        begin.target,
        **given,
        max_degree=max_degree,
        aim=aim,
        seconds=seconds,
        rounds=rounds,
        lower_bound=least.links,
    )
    links = Links.measured(interest, found.source, found.target)
    facts = {
        "start_links": len_of(begin),
        "start_max_degree": highest_degree(begin),
        "rounds": earlier + found.facts["rounds"],
        "accepted": found.facts["accepted"],
    }
    if int(links.contribution.sum()) == interest.subscription_count - interest.topic_count:
        gap = len_of(links) / least.links - 1 if least.links else 0.0
        facts |= {"lower_bound": least.links, "gap": gap, "optimal": len_of(links) == least.links}
    return links._replace(facts=MappingProxyType(facts))


def _check_start(problem: DesignProblem, start: str | None) -> None:
    """Refuse a designer that a search cannot begin with, before any work."""
    # The registry imports this module.
    from topicloom.designers.registry import DESIGNERS

    if start is None:
        return
    if problem.begin is not None:
        raise InputError("start and an overlay to begin with exclude each other; give one of them", "start")
    if start == DESIGNER.name or DESIGNERS.find(start).budget is not None:
        raise InputError(f"start must be a designer without a budget, not {start}", "start")


def _start(problem: DesignProblem, start: str | None, ties: str | None, least: Bounds) -> Links:
    """The links to begin with."""
    if problem.begin is not None:
        return Links.measured(problem.interest, problem.begin.source, problem.begin.target)
    if start is None and problem.limits.unlimited and problem.prices is None and least.trees is not None:
        return min((_guided(problem, *least.trees.guided_links(guide)) for guide in _GUIDES), key=len_of)
    return _designed(problem, start or "low-oda", {} if ties is None else {"ties": ties})


def _designed(problem: DesignProblem, name: str, parameters: Mapping[str, Value]) -> Links:
    """The links of a designer, with those of the parameters that it takes."""
    # The registry imports this module.
    from topicloom.designers.registry import DESIGNERS
    from topicloom.designers.run import run

    designer = DESIGNERS.find(name)
    asked = replace(problem, begin=None, prices=problem.prices if designer.honours >= PRICES else None, traffic=None)
    overlay = run(asked, DESIGNERS.prepare(name, problem.seed, designer.own(parameters))).overlay
    return Links.measured(problem.interest, overlay.source, overlay.target)


def _within(problem: DesignProblem, links: Links, max_degree: int | None) -> Links:
    """Links within the limits and a degree: as many of some as may stay, completed by the best, or those of `gpm`."""
    limits, nodes = problem.limits, problem.interest.node_count
    most = UNLIMITED if max_degree is None else max_degree
    if limits.unlimited:
        if highest_degree(links) <= most:
            return links
        group = np.zeros(nodes, np.int32)
        limits = replace(limits, spare=np.full(nodes, most, np.int32), group=group, may_link=_ANY_LINK)
    else:
        limits = replace(limits, spare=np.minimum(limits.spare, most).astype(np.int32))
    source, target = (np.concatenate(ends) for ends in zip((limits.source, limits.target), links[:2], strict=True))
    built = fitting(source, target, limits.spare, limits.group, limits.may_link, len(limits.source))
    kept = replace(limits, source=source[built], target=target[built])
    if _pairs(kept.source, kept.target) == _pairs(*links[:2]):
        return links
    ways = [greedy_merge(Greedy.of(replace(problem, limits=kept, begin=None)))]
    if max_degree is not None:
        ways.append(_designed(problem, "gpm", {"max_degree": max_degree}))
    return min(ways, key=_rank)


def _rank(links: Links) -> tuple[int, int]:
    """The order of overlays: those that connect more first, then those of fewer links."""
    return -links.merges, len_of(links)


def _pairs(source: Ids, target: Ids) -> set[tuple[int, int]]:
    """Links as pairs, the lower end first."""
    return set(zip(np.minimum(source, target).tolist(), np.maximum(source, target).tolist(), strict=True))


def _halves(
    interest: Interest, rounds: int | None, seconds: float | None
) -> tuple[dict[str, Any], int | None, float | None]:
    """The first half of the rounds or seconds, as arguments of a search, and what is left of both."""
    if rounds is None and seconds is None:
        rounds = ROUNDS_BY_NODE * interest.node_count
    half = None if rounds is None else rounds // 2
    time_left = None if seconds is None else seconds / 2
    left = None if rounds is None or half is None else rounds - half
    return {"rounds": half, "seconds": time_left}, left, time_left


def _guided(problem: DesignProblem, source: Ids, target: Ids) -> Links:
    """Guided links, completed by the best links if topics are not connected."""
    ends = np.sort(np.stack([source, target]).astype(np.int32), axis=0)
    links = Links.measured(problem.interest, *ends)
    if int(links.contribution.sum()) == problem.interest.subscription_count - problem.interest.topic_count:
        return links
    kept = replace(NO_LIMITS, source=ends[0], target=ends[1])
    return greedy_merge(Greedy.of(replace(problem, limits=kept)))


def len_of(links: Links) -> int:
    """The number of links."""
    return len(links.source)


def highest_degree(links: Links) -> int:
    """The most links of a node."""
    return int(np.bincount(np.concatenate([links.source, links.target]), minlength=1).max())


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes that a bound and a search take, without the topics of its links, which `Search.of` foresees."""
    none = np.empty(0, np.int32)
    return search_bytes(interest, none, none) + tree_bound_bytes(np.diff(interest.topic_start))


def total(interest: Interest, parameters: Mapping[str, Any]) -> int | None:
    """Rounds that `watch.done` comes to, if there are no seconds."""
    if "seconds" in parameters:
        return None
    return int(parameters.get("rounds", ROUNDS_BY_NODE * interest.node_count))


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
    interest: Interest, ends: Ids, limits: LinkLimits, fixed: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    """Which links stay: those of a mask, and those of the limits."""
    stays = np.zeros(ends.shape[1], np.bool_) if fixed is None else fixed.copy()
    if len(limits.source):
        keys = ends[0].astype(np.int64) * interest.node_count + ends[1]
        stays |= np.isin(keys, limits.source.astype(np.int64) * interest.node_count + limits.target)
    return stays


def _limits(interest: Interest, limits: LinkLimits, prices: LinkPrices | None, near: NearLinks | None) -> Limits:
    """Which links may be added, what they cost and which were given, as kernels read it."""
    given = NO_GIVEN if near is None else given_links(interest.node_count, *near[:2])
    none = np.zeros(interest.node_count, np.int32)
    group, may_link = (none, np.ones((1, 1), np.bool_)) if limits.unlimited else (limits.group, limits.may_link)
    if prices is None:
        return Limits(group, may_link, none, np.zeros((0, 0), np.int64), np.zeros(0, np.int64), 1.0, given)
    cheapest = prices.price.min(axis=1)
    return Limits(group, may_link, prices.group, prices.price, cheapest, float(cheapest.min()) * _FINE, given)


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
        "changes": int(count[BEST_CHANGES]),
    }


DESIGNER = Designer(
    name="search",
    paper="none; ruin and recreate, after Schrimpf et al., J. Comput. Phys. 159 (2000)",
    rule="remove a few links, connect their topics again by the best links, keep what is no worse; again and again",
    guarantee="never worse than its start in what is asked for, and as connected",
    build=build,
    honours=CONSTRAINTS | PRICES | BEGIN,
    parameters=PARAMETERS,
    random=True,
    anytime=True,
    compile_with=(("rounds", 1),),
    memory=memory,
    total=total,
)
