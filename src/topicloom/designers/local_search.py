"""The engine of searches by ruin and recreate: rounds over the links of an overlay, as many as are asked for.

A round removes a few links and adds the best ones until their topics are connected again (`kernels.local_search`). A
search can be continued: it ends after so many rounds or seconds, or as soon as a watch is stopped, with its best links.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from topicloom.designers.memory import require
from topicloom.errors import InputError
from topicloom.kernels.changes import FIRST_PRICE, NO_GIVEN, given_links
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
from topicloom.model.constraints import NO_LIMITS, UNLIMITED, LinkLimits
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry import Watch

Aim = Literal["links", "price", "degree-links", "links-degree"]
AIMS: tuple[str, ...] = get_args(Aim)
# Rounds that a search without a number of seconds or rounds takes, for each node; and the most that it may take.
ROUNDS_BY_NODE = 200
MOST_ROUNDS = 10**12
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
        return len(pairs_of(*self[:2]) ^ pairs_of(source, target))


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchRules:
    """What a search lowers, and what it may change.

    Args:
        aim: `links`, the fewest; `price`, the lowest sum of prices; `degree-links`, the lowest highest degree and then
            the fewest links; `links-degree`, the other way round. Of equals the one with less squared degrees is best.
        limits: links that no round may add: beyond `spare`, between groups that may not be linked. Its links stay.
        prices: what links cost, for the aim `price`.
        fixed: which of the links to begin with stay.
        max_degree: no link is added to a node with so many; a node that begins with more keeps at most these.
        near: links that the result may differ from by so many changes; of equals the one with fewest is best. The links
            to begin with must have no more.
        seed: of the random draws.
    """

    aim: Aim = "links"
    limits: LinkLimits = NO_LIMITS
    prices: LinkPrices | None = None
    fixed: npt.NDArray[np.bool_] | None = None
    max_degree: int | None = None
    near: NearLinks | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.aim not in AIMS:
            raise InputError(f"aim must be one of {', '.join(AIMS)}, not {self.aim!r}", "aim")
        if self.aim == "price" and self.prices is None:
            raise InputError("aim price needs prices", "aim", "prices")

    @property
    def paid(self) -> LinkPrices | None:
        """The prices that are lowered."""
        return self.prices if self.aim == "price" else None


def check_extent(rounds: int | None, seconds: float | None) -> None:
    """Refuse numbers of rounds or seconds that no search can take."""
    if rounds is not None and not 0 <= rounds <= MOST_ROUNDS:
        raise InputError(f"rounds must be from 0 to {MOST_ROUNDS:,}, not {rounds}", "rounds")
    if seconds is not None and not 0 < seconds < math.inf:
        raise InputError(f"seconds must be above 0, not {seconds}", "seconds")


def pairs_of(source: Ids, target: Ids) -> set[tuple[int, int]]:
    """Links as pairs, the lower end first."""
    return set(zip(np.minimum(source, target).tolist(), np.maximum(source, target).tolist(), strict=True))


class Search(NamedTuple):
    """A search that can be continued: what it searches, the overlay as it stands, and how far it is."""

    instance: Instance
    links: TopicLinks
    neighbours: Neighbours
    space: Workspace
    progress: Progress
    schedule: Schedule

    @classmethod
    def of(cls, interest: Interest, source: Ids, target: Ids, rules: SearchRules) -> Search:
        """Begin a search with the links `source` - `target`."""
        require("search", search_bytes(interest, source, target))
        ends = np.stack([np.minimum(source, target), np.maximum(source, target)]).astype(np.int32)
        highest = UNLIMITED if rules.max_degree is None else min(rules.max_degree, UNLIMITED)
        most: Ids = np.full(interest.node_count, highest, np.int32)
        if not rules.limits.unlimited:
            most = np.minimum(most, rules.limits.spare).astype(np.int32)
        subscriptions = new_subscriptions(
            interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes
        )
        neighbours = new_neighbours(ends[0], ends[1], _fixed(interest, ends, rules), most)
        links = new_topic_links(subscriptions, *ends)
        neighbours.total[SHARED] = total_common(links)
        salted = np.uint64(rules.seed % 2**64)
        nearest = nearest_nodes(subscriptions, min(_NEAREST, max(1, interest.node_count - 1)), salted)
        cost = len(source) if rules.paid is None else int(rules.paid.of(*ends).sum())
        space = Workspace(
            new_ruin(),
            new_parts(interest.node_count, interest.topic_count),
            new_sides(interest.node_count),
            new_heap(nearest.shape[1]),
        )
        target_from = {"degree-links": 0.0, "links-degree": _DEGREES_LAST}.get(rules.aim, 2.0)
        unit = max(1.0, cost / max(1, len(source)))
        return cls(
            Instance(subscriptions, _limits(interest, rules), nearest),
            links,
            neighbours,
            space,
            _progress(neighbours, cost, rules, ends),
            Schedule(_HOT, _COLD, 0.0, 0.0, 0, unit, target_from, rules.aim == "degree-links"),
        )

    @property
    def rounds(self) -> int:
        """Rounds done so far."""
        return int(self.progress.counts[ROUNDS])

    def run(self, turn: Turn, watch: Watch) -> None:
        """Do some rounds."""
        schedule = self.schedule._replace(begin=turn.begin, share=turn.share, first=turn.first)
        state = (self.instance, self.links, self.neighbours, self.space)
        search_rounds(*state, schedule, self.progress, turn.rounds, watch.ticks)

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
    rules: SearchRules,
    *,
    seconds: float | None = None,
    rounds: int | None = None,
    watch: Watch | None = None,
    lower_bound: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchedLinks:
    """Search for a better overlay than the links `source` - `target`, which it begins with.

    Args:
        interest: the subscriptions.
        source: one end of each link. target: the other.
        rules: what it lowers, and what it may change.
        seconds: that it may take, without compiling. The result then depends on the speed of the machine.
        rounds: rounds that it may take; the same number and seed give the same links.
        watch: counts rounds, and stops the search, which then returns the best links so far.
        lower_bound: a known lower bound on the links, or on their price for that aim, for the progress.
        clock: measures the seconds.
    """
    check_extent(rounds, seconds)
    compile_kernels()
    begun = clock()
    watch = watch or Watch()
    search = Search.of(interest, source, target, rules)
    if len(source):  # else there is nothing to remove, and kernels rely on a link
        pace = _Pace(search, lower_bound, clock)
        if seconds is None:
            turns = _turns(search, ROUNDS_BY_NODE * interest.node_count if rounds is None else rounds)
        else:
            turns = _timed_turns(search, lambda: (clock() - begun) / seconds, _LOOK / seconds, rounds)
        for turn in turns:
            search.run(turn, watch)
            watch.note = pace.note()
            if watch.stopped:
                break
    return SearchedLinks(*search.best(), MappingProxyType(_facts(search, source, target)))


class Turn(NamedTuple):
    """Rounds to do at once: how far the search is after the `first` rounds, and what a round adds to that."""

    rounds: int
    begin: float
    share: float
    first: int


def _turns(search: Search, rounds: int) -> Iterator[Turn]:
    """Turns of a search by rounds."""
    while search.rounds < rounds:
        yield Turn(min(_NOTED, rounds - search.rounds), 0.0, 1.0 / rounds, 0)


def _timed_turns(search: Search, passed: Callable[[], float], look: float, rounds: int | None) -> Iterator[Turn]:
    """Turns of a search by time: `passed` is the share of it that is over, `look` that between two turns."""
    pace = look / _FEW
    while (before := passed()) < 1.0:
        count = max(1, int(min(look, 1.0 - before) / pace))
        if rounds is not None:
            count = min(count, rounds - search.rounds)
            if count == 0:
                return
        yield Turn(count, before, pace, search.rounds)
        pace = max((passed() - before) / count, 1e-12)


class _Pace:
    """Progress in words: best links, current max degree, gap to the bound, and what a minute has lately given."""

    def __init__(self, search: Search, lower_bound: int | None, clock: Callable[[], float]) -> None:
        self._counts, self._degree = search.progress.counts, search.neighbours.degree
        self._lower_bound = lower_bound
        self._clock = clock
        self._seen = [(clock(), int(self._counts[BEST_LINKS]))]

    def note(self) -> str:
        """A few words, up to date."""
        now, links = self._clock(), int(self._counts[BEST_LINKS])
        words = [f"{links:,} links", f"max degree {int(self._degree.max()):,}"]
        if self._lower_bound:
            words.append(f"{int(self._counts[BEST_COST]) / self._lower_bound - 1:.1%} above the bound")
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


@cache
def compile_kernels() -> None:
    """Compile what a search needs, by a tiny one; once in a process."""
    tiny = Interest.from_pairs([("a", "x"), ("b", "x")])
    search = Search.of(tiny, np.zeros(1, np.int32), np.ones(1, np.int32), SearchRules())
    search.run(Turn(0, 0.0, 0.0, 0), Watch())
    search.best()


def _progress(neighbours: Neighbours, cost: int, rules: SearchRules, ends: Ids) -> Progress:
    """The progress of a search before its first round: the links to begin with are the best."""
    count = np.zeros(COUNTS, np.int64)
    count[[COST, BEST_COST]] = cost
    count[BEST_TARGET] = NO_TARGET
    count[BEST_LINKS], count[BEST_SQUARES] = ends.shape[1], neighbours.total[SQUARES]
    count[MOST_CHANGES] = UNLIMITED if rules.near is None else min(rules.near.changes, UNLIMITED)
    count[[CHANGES, BEST_CHANGES]] = 0 if rules.near is None else rules.near.changes_of(*ends)
    best = neighbours._replace(
        node=np.zeros_like(neighbours.node),
        degree=np.zeros_like(neighbours.degree),
        total=np.zeros_like(neighbours.total),
    )
    draws, journal = np.array([np.uint64(rules.seed % 2**64)]), np.zeros(JOURNAL_PLACES, np.int32)
    return Progress(draws, new_kinds(), count, journal, best, np.array([FIRST_PRICE]))


def _fixed(interest: Interest, ends: Ids, rules: SearchRules) -> npt.NDArray[np.bool_]:
    """Which links stay: those of a mask, and those of the limits."""
    stays = np.zeros(ends.shape[1], np.bool_) if rules.fixed is None else rules.fixed.copy()
    limits = rules.limits
    if len(limits.source):
        keys = ends[0].astype(np.int64) * interest.node_count + ends[1]
        stays |= np.isin(keys, limits.source.astype(np.int64) * interest.node_count + limits.target)
    return stays


def _limits(interest: Interest, rules: SearchRules) -> Limits:
    """Which links may be added, what they cost and which were given, as kernels read it."""
    given = NO_GIVEN if rules.near is None else given_links(interest.node_count, *rules.near[:2])
    none = np.zeros(interest.node_count, np.int32)
    limits, prices = rules.limits, rules.paid
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
