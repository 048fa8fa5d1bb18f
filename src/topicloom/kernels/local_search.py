"""Ruin and recreate: a round removes some links and adds the best ones until their topics are connected again.

A round is kept if its links cost less than those it removed, or if they cost as much and have lower degrees or more
topics in common; otherwise with a probability that falls with the temperature. Else it is undone. The best overlay is
found again from a journal of what has been kept since. If changes of the given links are limited, each has a price.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.changes import change_price, changes_by, changes_undone, is_limited
from topicloom.kernels.draws import draw, fraction
from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel
from topicloom.kernels.neighbours import (
    EXCESS,
    LINKS,
    NO_TARGET,
    SHARED,
    SQUARES,
    TARGET,
    Neighbours,
    add,
    highest_degree,
    remove,
    set_target,
)
from topicloom.kernels.recreating import (
    ADDED,
    COST_ADDED,
    COST_REMOVED,
    REMOVED,
    Heap,
    Limits,
    Ruin,
    cost_of,
    recreate,
)
from topicloom.kernels.ruins import PERIOD, Kinds, choose_kind, choose_ruin, weigh
from topicloom.kernels.splits import (
    PART_NODES,
    TOPICS,
    Parts,
    Sides,
    forget,
    label_nodes,
    number_topics,
    split_topics,
)
from topicloom.kernels.subscriptions import Subscriptions
from topicloom.kernels.topic_links import LOGGED, connect, disconnect, list_common, span, take_back

DONE, STOP = 0, 1
# Positions in `Progress.counts`.
ROUNDS, KEPT, COST, BEST_COST, BEST_TARGET, BEST_SQUARES, BEST_LINKS, JOURNAL, RESTORED = range(9)
CHANGES, BEST_CHANGES, MOST_CHANGES = range(9, 12)
COUNTS = 12
JOURNAL_PLACES = 1 << 16
# A topic more that the ends of a link have in common counts as much as so many squares of degrees.
_SHARED = 8
# Temperatures of rounds that cost as much, in squares of degrees.
_HOT_TIES = 100.0
_COLD_TIES = 20.0
# So many links more are allowed to lower degrees that come first; others may not be saved by as much.
_LINKS_FOR_DEGREE = 2
# If changes are limited, a link less counts as much as so many links less above the highest degree aimed at.
_LINK_GAIN = 0.125


class Instance(NamedTuple):
    """What does not change in a search."""

    subscriptions: Subscriptions
    limits: Limits
    nearest: npt.NDArray[np.int32]


class Workspace(NamedTuple):
    """Space for a round; empty between rounds, but for the marks of searches."""

    ruin: Ruin
    parts: Parts
    sides: Sides
    heap: Heap


class Schedule(NamedTuple):
    """When worse rounds are kept, and what is better; temperatures fall by equal ratios."""

    hot: float  # temperature of costs, in those of a link, at the beginning
    cold: float  # and at the end
    begin: float  # how far the search is as the rounds begin, from 0 to 1
    share: float  # how much farther it is after a round
    first: int  # rounds done at `begin`
    unit: float  # cost of a link
    target_from: float  # from when on the highest degree is lowered; above 1 if never
    degree_first: bool  # whether it comes before the cost


class Progress(NamedTuple):
    """How far a search is."""

    draws: npt.NDArray[np.uint64]
    kinds: Kinds
    counts: npt.NDArray[np.int64]
    journal: npt.NDArray[np.int32]  # pairs of nodes; the first is inverted if the link was removed
    best: Neighbours  # the best overlay, once it has been asked for or the journal is full
    change_price: npt.NDArray[np.float64]  # of a change, in those of a link


@inner_kernel()
def undo(ruin, parts, subscriptions, links, neighbours):
    """Take out the links that were added, and put back those that were removed."""
    for k in range(ruin.counts[ADDED] - 1, -1, -1):
        pairs = list_common(links, subscriptions, ruin.added_u[k], ruin.added_v[k])
        disconnect(links, pairs)
        neighbours.total[SHARED] -= pairs
        remove(neighbours, ruin.added_u[k], ruin.added_v[k])
    for k in range(ruin.counts[REMOVED] - 1, -1, -1):
        pairs = list_common(links, subscriptions, ruin.u[k], ruin.v[k])
        connect(links, pairs)
        neighbours.total[SHARED] += pairs
        add(neighbours, ruin.u[k], ruin.v[k])
    if not take_back(links):
        for number in range(parts.counts[TOPICS]):
            span(links, subscriptions, parts.topic[number, 0])


@inner_kernel()
def rewind(neighbours, journal, pairs):
    """Undo what a journal holds, the last first."""
    for k in range(pairs - 1, -1, -1):
        u, v = journal[2 * k], journal[2 * k + 1]
        if u < 0:
            add(neighbours, ~u, v)
        else:
            remove(neighbours, u, v)


@inlined()
def level(neighbours):
    """The highest degree that is known not to be passed."""
    return neighbours.total[TARGET] + (neighbours.total[EXCESS] > 0)


@inlined()
def is_best(schedule, neighbours, count):
    """Whether an overlay is better than the best so far: by cost and highest degree, in the order of the aim.

    Of equals the one with fewer changes is better, then the one with less squared degrees.
    """
    if count[CHANGES] > count[MOST_CHANGES]:
        return False
    cost, best_cost = count[COST], count[BEST_COST]
    target, best_target = level(neighbours), count[BEST_TARGET]
    if schedule.degree_first and target != best_target:
        return target < best_target
    if cost != best_cost:
        return cost < best_cost
    if target != best_target:
        return target < best_target
    if count[CHANGES] != count[BEST_CHANGES]:
        return count[CHANGES] < count[BEST_CHANGES]
    return neighbours.total[SQUARES] < count[BEST_SQUARES]


@inner_kernel()
def note(schedule, progress, neighbours, ruin):
    """Note a round that is kept: that it gave the best overlay, or what it changed since."""
    count = progress.counts
    if is_best(schedule, neighbours, count):
        count[BEST_COST], count[BEST_TARGET] = count[COST], level(neighbours)
        count[BEST_LINKS], count[BEST_SQUARES] = neighbours.total[LINKS], neighbours.total[SQUARES]
        count[BEST_CHANGES] = count[CHANGES]
        count[JOURNAL] = 0
        count[RESTORED] = 0
        return
    if count[RESTORED]:
        return
    pairs = count[JOURNAL]
    for k in range(ruin.counts[REMOVED]):
        progress.journal[2 * pairs], progress.journal[2 * pairs + 1] = ~ruin.u[k], ruin.v[k]
        pairs += 1
    for k in range(ruin.counts[ADDED]):
        progress.journal[2 * pairs], progress.journal[2 * pairs + 1] = ruin.added_u[k], ruin.added_v[k]
        pairs += 1
    count[JOURNAL] = pairs
    if 2 * (pairs + ruin.u.shape[0] + ruin.added_u.shape[0]) > progress.journal.shape[0]:
        restore_best(progress, neighbours)
        count[RESTORED] = 1


@inner_kernel()
def restore_best(progress, neighbours):
    """Make `progress.best` the best overlay, unless it is so already."""
    if progress.counts[RESTORED]:
        return
    best = progress.best
    for k in range(neighbours.node.shape[0]):
        best.node[k] = neighbours.node[k]
    for k in range(neighbours.degree.shape[0]):
        best.degree[k] = neighbours.degree[k]
    rewind(best, progress.journal, progress.counts[JOURNAL])


@inner_kernel()
def ruin_links(instance, links, neighbours, space, kind, draws):
    """Remove links and find what falls apart; tell whether there is space for it."""
    ruin, parts = space.ruin, space.parts
    subscriptions = instance.subscriptions
    choose_ruin(ruin, kind, subscriptions, neighbours, instance.nearest, draws)
    chosen = ruin.counts[REMOVED]
    for k in range(chosen):
        if not number_topics(parts, subscriptions, links, list_common(links, subscriptions, ruin.u[k], ruin.v[k])):
            chosen = k
            break
    ruin.counts[REMOVED] = chosen
    for k in range(chosen):
        u, v = ruin.u[k], ruin.v[k]
        remove(neighbours, u, v)
        pairs = list_common(links, subscriptions, u, v)
        disconnect(links, pairs)
        neighbours.total[SHARED] -= pairs
        ruin.counts[COST_REMOVED] += cost_of(instance.limits, u, v)
        if not split_topics(parts, space.sides, subscriptions, links, pairs):
            ruin.counts[REMOVED] = k + 1
            return False
    return label_nodes(parts)


@inlined()
def above(draws, temperature):
    """How much worse a round may be, drawn at random."""
    return -temperature * math.log(fraction(draw(draws)))


@inlined()
def is_kept(schedule, saved, less, as_good):
    """Whether a round is kept that saved so much, with so much less above the target, if the temperature lets it."""
    if schedule.degree_first and less != 0:
        return less > 0
    if saved != 0:
        return True
    return less > 0 or (less == 0 and as_good)


@inlined()
def is_kept_near(schedule, price, change, saved, less, as_good, slack):
    """Whether a round is kept if changes are limited: if it saves more than its changes cost, but for some slack."""
    gain = saved / schedule.unit
    if schedule.degree_first:
        gain = less + gain * _LINK_GAIN
    if gain == 0 and change >= 0 and not as_good:
        return False
    return price * change - gain <= slack


@inner_kernel()
def do_round(instance, links, neighbours, space, schedule, progress):
    """Do a round; tell whether it is kept."""
    ruin, parts, draws, count = space.ruin, space.parts, progress.draws, progress.counts
    subscriptions = instance.subscriptions
    for k in range(4):
        ruin.counts[k] = 0
    passed = schedule.begin + (count[ROUNDS] - schedule.first) * schedule.share
    slack = above(draws, schedule.hot * (schedule.cold / schedule.hot) ** passed)
    more = np.int64(schedule.unit * slack)
    worse = above(draws, _HOT_TIES * (_COLD_TIES / _HOT_TIES) ** passed)
    reached = neighbours.total[EXCESS] == 0 and count[CHANGES] <= count[MOST_CHANGES]
    if schedule.target_from <= passed and reached:
        if neighbours.total[TARGET] == NO_TARGET:
            restore_best(progress, neighbours)
            count[RESTORED] = 1
            count[BEST_TARGET] = highest_degree(progress.best)
        set_target(neighbours)
    limited = is_limited(instance.limits.given)
    kind = choose_kind(progress.kinds, draws)
    salt = draw(draws)
    excess = neighbours.total[EXCESS]
    ties = neighbours.total[SQUARES] - _SHARED * neighbours.total[SHARED]
    kept = ruin_links(instance, links, neighbours, space, kind, draws)
    work = ruin.counts[REMOVED] + parts.counts[PART_NODES]
    if kept:
        if schedule.degree_first and excess > 0:
            more = max(more, np.int64(_LINKS_FOR_DEGREE * schedule.unit))
        allowed = ruin.counts[COST_REMOVED] + more
        if limited:
            undone = changes_undone(instance.limits.given, ruin, ruin.counts[REMOVED])
            allowed += np.int64(schedule.unit * progress.change_price[0] * 2 * undone)
        kept = recreate(
            space.heap, instance.limits, neighbours, links, parts, subscriptions, salt, instance.nearest, ruin, allowed
        )
    removed, added = ruin.counts[REMOVED], ruin.counts[ADDED]
    saved = ruin.counts[COST_REMOVED] - ruin.counts[COST_ADDED]
    if kept:
        less = excess - neighbours.total[EXCESS]
        worse_ties = neighbours.total[SQUARES] - _SHARED * neighbours.total[SHARED] - ties
        change = changes_by(instance.limits.given, ruin, removed, added) if limited else np.int64(0)
        if limited:
            price = progress.change_price[0]
            kept = is_kept_near(schedule, price, change, saved, less, worse_ties <= worse, slack)
            count[CHANGES] += change if kept else 0
        else:
            kept = is_kept(schedule, saved, less, worse_ties <= worse)
    if kept:
        count[COST] -= saved
        count[KEPT] += 1
        links.counts[LOGGED] = 0
        note(schedule, progress, neighbours, ruin)
    else:
        undo(ruin, parts, subscriptions, links, neighbours)
        saved = 0
    progress.kinds.work[kind] += 16 + work
    if saved > 0:
        progress.kinds.saved[kind] += saved / schedule.unit
    forget(parts)
    if limited:
        change_price(progress.change_price, count[CHANGES] > count[MOST_CHANGES], schedule.share)
    count[ROUNDS] += 1
    if count[ROUNDS] % PERIOD == 0:
        weigh(progress.kinds)
    return kept


@tight_kernel()
def search_rounds(instance, links, neighbours, space, schedule, progress, rounds, ticks):
    """Do some rounds, fewer if the ticks say so."""
    for _ in range(rounds):
        if ticks[STOP] != 0:
            break
        do_round(instance, links, neighbours, space, schedule, progress)
        ticks[DONE] += 1


@tight_kernel()
def best_links(progress, neighbours):
    """Make `progress.best` the best overlay."""
    restore_best(progress, neighbours)
