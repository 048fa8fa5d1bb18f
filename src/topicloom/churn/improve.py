"""An overlay improved by few changes: search, near to the links that run today.

Rule: what topics lack comes first, by the links that connect most. Links that no topic needs go next. Search then looks
for the best overlay that differs from the given one by so many links at most: each change has a price, which rises
while there are too many, so those remain that save most.
Guarantee: never worse than the given overlay, and no topic has more components after any of the changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from topicloom.churn.live_overlay import LiveOverlay
from topicloom.churn.maintainer import LinkStep
from topicloom.designers.contract import DesignProblem, Links
from topicloom.designers.gm import greedy_merge
from topicloom.designers.greedy import Greedy
from topicloom.designers.local_search import (
    ROUNDS_BY_NODE,
    Aim,
    NearLinks,
    SearchRules,
    check_extent,
    pairs_of,
    search_links,
)
from topicloom.errors import InputError
from topicloom.kernels.live_graph import relink
from topicloom.kernels.needed_links import common_topics, prune
from topicloom.metrics.support import possible_merges
from topicloom.model.constraints import NO_LIMITS, Constraints
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance
from topicloom.registry import Watch

# Small fleets are searched for longer than by rounds for each node: for about two seconds.
LEAST_ROUNDS = 100_000
# With few changes several short searches, each from the best so far, find more than a long one.
_PASSES = 4

Ends = tuple[int, int]


@dataclass(frozen=True)
class Improvement:
    """An overlay after changes, and the changes in an order that leaves topics connected.

    - `mending`: how many steps, the first ones, connect what topics lack.
    """

    overlay: Overlay
    steps: tuple[LinkStep, ...]
    mending: int


def improve(
    overlay: Overlay,
    changes: int,
    *,
    aim: Aim = "links",
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> Improvement:
    """Change at most so many links of an overlay.

    If subscriptions have changed since it was designed, read it for the new ones (`Overlay.read(..., changed=True)`).

    Args:
        overlay: the links that there are.
        changes: how many links may be added or removed.
        aim: what becomes less, as of `SearchRules`.
        constraints: links that may not be added, and links that stay. Forbidden links are replaced if changes suffice.
        prices: what links cost, for the aim `price`.
        rounds: rounds of the search; 200 for each node, and at least 100,000, unless given.
        seconds: seconds of the search instead; the result then depends on time.
        seed: of the search.
        watch: counts rounds, and stops the search, which then returns the best links so far.
    """
    if changes < 0:
        raise InputError(f"changes must be 0 or more, not {changes}", "changes")
    check_extent(rounds, seconds)
    interest = overlay.interest
    paid = prices if aim == "price" else None
    problem = DesignProblem.of(interest, constraints=constraints, prices=paid, seed=seed, watch=watch)
    given = np.stack([overlay.source, overlay.target]).astype(np.int32)
    allowed = NearLinks(given[0], given[1], changes)
    rules = SearchRules(aim=aim, limits=problem.limits, prices=problem.prices, near=allowed)
    begin = found = _mended(problem, allowed)
    if aim != "links" or changes < given.shape[1] + begin.shape[1]:
        if aim != "degree-links":
            work = _Work(overlay, constraints, problem)
            work.go_to(begin)
            found = work.without_needless(changes - len(work.steps))
        passes = _PASSES
    else:
        rules, passes = replace(rules, near=None), 1
    if rounds is None and seconds is None:
        rounds = max(LEAST_ROUNDS, ROUNDS_BY_NODE * interest.node_count)
    left = changes - allowed.changes_of(*begin)
    if aim == "links" and begin.shape[1] - found.shape[1] == left:  # no change can save more than a link
        left = 0
    for number in range(passes if left else 0):
        best = search_links(
            interest,
            found[0],
            found[1],
            replace(rules, seed=problem.seed + number),
            rounds=None if rounds is None else rounds * (number + 1) // passes - rounds * number // passes,
            seconds=None if seconds is None else seconds / passes,
            watch=problem.watch,
        )
        found = np.stack([best.source, best.target])
    work = _Work(overlay, constraints, problem)
    mending = _mending(interest, given, begin, found)
    work.add(mending)
    work.go_to(found)
    final = Links.measured(interest, *work.ends())
    made = Provenance("improve", MappingProxyType({"changes": changes, "aim": aim}), seed)
    return Improvement(Overlay(interest, *final[:3], made), tuple(work.steps), len(mending))


def _mended(problem: DesignProblem, allowed: NearLinks) -> Ids:
    """The given links without forbidden ones, completed until topics are connected, or as far as changes go."""
    limits, given = problem.limits, np.stack(allowed[:2])
    required = np.stack([limits.source, limits.target])
    if not limits.unlimited:
        permitted = limits.may_link[limits.group[given[0]], limits.group[given[1]]]
        if not permitted.all():
            without = _completed(problem, _joined(given[:, permitted], required))
            # As connected as with the forbidden links, in each topic.
            merges = Links.measured(problem.interest, *_joined(without, given)).merges
            few = allowed.changes_of(*without) <= allowed.changes
            if few and Links.measured(problem.interest, *without).merges == merges:
                return without
    return _completed(problem, _joined(given, required))[:, : given.shape[1] + allowed.changes]


def _mending(interest: Interest, given: Ids, begin: Ids, found: Ids) -> list[Ends]:
    """The links of `found` that connect what topics lack: those of the greedy way to begin with first."""
    there, wanted = pairs_of(*given), pairs_of(*found)
    wanted -= there
    added = [ends for ends in dict.fromkeys(_ends(begin) + _ends(found)) if ends in wanted]
    merged = Links.measured(interest, *_joined(given, _table(added).T)).contribution[given.shape[1] :]
    return [ends for ends, merges in zip(added, merged.tolist(), strict=True) if merges]


def _joined(links: Ids, more: Ids) -> Ids:
    """Links and those of another table that are not among them."""
    there = pairs_of(*links)
    new = [ends for ends in _ends(more) if ends not in there]
    return np.concatenate([links, _table(new).T], axis=1)


def _completed(problem: DesignProblem, links: Ids) -> Ids:
    """Links, followed by those that `gm` adds to them."""
    if Links.measured(problem.interest, *links).merges == possible_merges(problem.interest):
        return links
    limits = replace(NO_LIMITS if problem.limits.unlimited else problem.limits, source=links[0], target=links[1])
    if not limits.unlimited:
        degrees = np.bincount(links.ravel(), minlength=problem.interest.node_count)
        limits = replace(limits, spare=np.maximum(limits.spare, degrees).astype(np.int32))
    done = greedy_merge(Greedy.of(replace(problem, limits=limits, watch=Watch())))
    return np.stack([done.source, done.target])


class _Work:
    """The links as they change, and the steps taken."""

    def __init__(self, overlay: Overlay, constraints: Constraints | None, problem: DesignProblem) -> None:
        self._live = LiveOverlay(overlay, 0, constraints)
        self._prices = problem.prices
        self._links = dict.fromkeys(_ends(np.stack([overlay.source, overlay.target])))
        self._staying = set(_ends(np.stack([problem.limits.source, problem.limits.target])))
        self.steps: list[LinkStep] = []

    def ends(self) -> Ids:
        """The links as they are."""
        return _table(self._links).T.copy()

    def without_needless(self, changes: int) -> Ids:
        """The links without those that no topic needs, as far as changes go: of few topics or high prices first."""
        links = [ends for ends in self._links if ends not in self._staying]
        self._try_without(sorted(links, key=self._worth), changes)
        return self.ends()

    def go_to(self, found: Ids) -> None:
        """Make these links the only ones: group after group of changes at the same nodes, those that save most first.

        A link is removed as soon as every topic has another path between its ends.
        """
        wanted = pairs_of(*found)
        added = [ends for ends in _ends(found) if ends not in self._links]
        removed = [ends for ends in self._links if ends not in wanted]
        for new, old in _groups(added, removed):
            for ends in new:
                self.add([ends])
                self._try_without([link for link in old if link in self._links and {*link} & {*ends}])
            self._try_without([link for link in old if link in self._links])
        self._remove([link for link in removed if link in self._links])

    def _worth(self, ends: Ends) -> tuple[int, Ends]:
        if self._prices is not None:
            return -int(self._prices.of(np.array(ends[:1]), np.array(ends[1:]))[0]), ends
        return len(common_topics(self._live.population, self._live.scratch, *ends)), ends

    def _try_without(self, links: Sequence[Ends], most: int | None = None) -> None:
        """Remove the links that no topic needs, one after the other, `most` of them at most."""
        if not links or most == 0:
            return
        reasons = prune(self._live.population, self._live.scratch, _table(links)).tolist()
        needless = [ends for ends, reason in zip(links, reasons, strict=True) if reason < 0]
        if most is not None:
            self._relink(needless[most:], [])
            needless = needless[:most]
        self._note("remove", needless)

    def add(self, links: Sequence[Ends]) -> None:
        """Add links."""
        self._relink(links, [])
        self._note("add", links)

    def _remove(self, links: Sequence[Ends]) -> None:
        self._relink([], links)
        self._note("remove", links)

    def _relink(self, added: Sequence[Ends], removed: Sequence[Ends]) -> None:
        self._live.reserve(links=len(added))
        relink(self._live.population, _table(added), _table(removed))

    def _note(self, action: Literal["add", "remove"], links: Sequence[Ends]) -> None:
        for ends in links:
            if action == "add":
                self._links[ends] = None
            else:
                del self._links[ends]
            self.steps.append(LinkStep(action, self._live.link(*ends)))


def _groups(added: Sequence[Ends], removed: Sequence[Ends]) -> list[tuple[list[Ends], list[Ends]]]:
    """Links to add and to remove, in groups that share no node, those that save most for each change first."""
    above: dict[int, int] = {}

    def root(node: int) -> int:
        while (parent := above.setdefault(node, node)) != node:
            above[node] = above[parent]
            node = parent
        return node

    for u, v in (*added, *removed):
        above[root(u)] = root(v)
    groups: dict[int, tuple[list[Ends], list[Ends]]] = {}
    for side, links in enumerate((added, removed)):
        for ends in links:
            groups.setdefault(root(ends[0]), ([], []))[side].append(ends)

    def saved(group: tuple[list[Ends], list[Ends]]) -> float:
        new, old = map(len, group)
        return (old - new) / (old + new)

    return sorted(groups.values(), key=saved, reverse=True)


def _ends(links: Ids) -> list[Ends]:
    """The columns of a table of links."""
    return list(zip(links[0].tolist(), links[1].tolist(), strict=True))


def _table(links: Iterable[Ends]) -> Ids:
    return np.array(list(links), np.int32).reshape(-1, 2)
