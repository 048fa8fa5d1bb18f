"""Ruin and recreate: a round removes some links and adds the best ones until their topics are connected again.

A round is kept if its links cost less than those it removed, if they cost as much and the sum of squared degrees falls,
and with a probability that falls with the temperature otherwise; else it is undone. The best overlay is found again from
a journal of what has been kept since.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.draws import draw, fraction
from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel
from topicloom.kernels.neighbours import LINKS, SQUARES, Neighbours, add, remove
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
    MISSING,
    PART_NODES,
    Parts,
    Sides,
    forget,
    label_nodes,
    number_topics,
    split_topics,
)
from topicloom.kernels.subscriptions import Subscriptions

DONE, STOP = 0, 1
# Positions in `Progress.count`.
ROUNDS, KEPT, COST, BEST_COST, BEST_SQUARES, BEST_LINKS, JOURNAL, RESTORED = range(8)


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
    """Temperatures, which fall from the first to the last by equal ratios."""

    hot: float  # of costs, in those of a link
    cold: float
    hot_squares: float
    cold_squares: float
    begin: float  # how far the search is as the rounds begin, from 0 to 1
    share: float  # how much farther it is after a round
    first: int  # rounds done at `begin`
    unit: float  # cost of a link


class Progress(NamedTuple):
    """How far a search is."""

    draws: npt.NDArray[np.uint64]
    kinds: Kinds
    count: npt.NDArray[np.int64]
    journal: npt.NDArray[np.int32]  # pairs of nodes; the first is inverted if the link was removed
    best: Neighbours  # the best overlay, once it has been asked for or the journal is full


@inner_kernel()
def undo(ruin, neighbours):
    """Take out the links that were added, and put back those that were removed."""
    for k in range(ruin.count[ADDED] - 1, -1, -1):
        remove(neighbours, ruin.added_u[k], ruin.added_v[k])
    for k in range(ruin.count[REMOVED] - 1, -1, -1):
        add(neighbours, ruin.u[k], ruin.v[k])


@inner_kernel()
def rewind(neighbours, journal, pairs):
    """Undo what a journal holds, the last first."""
    for k in range(pairs - 1, -1, -1):
        u, v = journal[2 * k], journal[2 * k + 1]
        if u < 0:
            add(neighbours, ~u, v)
        else:
            remove(neighbours, u, v)


@inner_kernel()
def note(progress, neighbours, ruin):
    """Note a round that is kept: that it gave the best overlay, or what it changed since."""
    count = progress.count
    links, squares, cost = neighbours.total[LINKS], neighbours.total[SQUARES], count[COST]
    if cost < count[BEST_COST] or (cost == count[BEST_COST] and squares < count[BEST_SQUARES]):
        count[BEST_COST], count[BEST_SQUARES], count[BEST_LINKS] = cost, squares, links
        count[JOURNAL] = 0
        count[RESTORED] = 0
        return
    if count[RESTORED]:
        return
    pairs = count[JOURNAL]
    for k in range(ruin.count[REMOVED]):
        progress.journal[2 * pairs], progress.journal[2 * pairs + 1] = ~ruin.u[k], ruin.v[k]
        pairs += 1
    for k in range(ruin.count[ADDED]):
        progress.journal[2 * pairs], progress.journal[2 * pairs + 1] = ruin.added_u[k], ruin.added_v[k]
        pairs += 1
    count[JOURNAL] = pairs
    if 2 * (pairs + ruin.u.shape[0] + ruin.added_u.shape[0]) > progress.journal.shape[0]:
        restore_best(progress, neighbours)
        count[RESTORED] = 1


@inner_kernel()
def restore_best(progress, neighbours):
    """Make `progress.best` the best overlay, unless it is so already."""
    if progress.count[RESTORED]:
        return
    best = progress.best
    for k in range(neighbours.node.shape[0]):
        best.node[k] = neighbours.node[k]
    for k in range(neighbours.degree.shape[0]):
        best.degree[k] = neighbours.degree[k]
    rewind(best, progress.journal, progress.count[JOURNAL])


@inner_kernel()
def ruin_links(instance, neighbours, space, kind, draws):
    """Remove links and find what falls apart; tell whether there is space for it."""
    ruin, parts = space.ruin, space.parts
    subscriptions = instance.subscriptions
    choose_ruin(ruin, kind, subscriptions, neighbours, instance.nearest, draws)
    chosen = ruin.count[REMOVED]
    for k in range(chosen):
        if not number_topics(parts, subscriptions, ruin.u[k], ruin.v[k]):
            chosen = k
            break
    ruin.count[REMOVED] = chosen
    for k in range(chosen):
        u, v = ruin.u[k], ruin.v[k]
        remove(neighbours, u, v)
        ruin.count[COST_REMOVED] += cost_of(instance.limits, u, v)
        if not split_topics(parts, space.sides, subscriptions, neighbours, u, v):
            ruin.count[REMOVED] = k + 1
            return False
    return label_nodes(parts, subscriptions)


@inlined()
def above(draws, temperature):
    """How much worse a round may be, drawn at random."""
    return -temperature * math.log(fraction(draw(draws)))


@inner_kernel()
def do_round(instance, neighbours, space, schedule, progress):
    """Do a round; tell whether it is kept."""
    ruin, parts, draws, count = space.ruin, space.parts, progress.draws, progress.count
    for k in range(4):
        ruin.count[k] = 0
    passed = schedule.begin + (count[ROUNDS] - schedule.first) * schedule.share
    hot, cold = schedule.hot, schedule.cold
    more = np.int64(schedule.unit * above(draws, hot * (cold / hot) ** passed))
    hot, cold = schedule.hot_squares, schedule.cold_squares
    more_squares = np.int64(above(draws, hot * (cold / hot) ** passed))
    kind = choose_kind(progress.kinds, draws)
    salt = draw(draws)
    squares = neighbours.total[SQUARES]
    kept = ruin_links(instance, neighbours, space, kind, draws)
    work = ruin.count[REMOVED] + parts.count[PART_NODES]
    if kept:
        allowed = ruin.count[COST_REMOVED] + more
        kept = recreate(
            space.heap, instance.limits, neighbours, parts, instance.subscriptions, salt, instance.nearest, ruin, allowed
        )
    saved = ruin.count[COST_REMOVED] - ruin.count[COST_ADDED]
    if kept and saved == 0:
        kept = neighbours.total[SQUARES] - squares <= more_squares
    if kept:
        count[COST] -= saved
        count[KEPT] += 1
        note(progress, neighbours, ruin)
    else:
        undo(ruin, neighbours)
        saved = 0
    progress.kinds.work[kind] += 16 + work
    if saved > 0:
        progress.kinds.saved[kind] += saved / schedule.unit
    forget(parts)
    count[ROUNDS] += 1
    if count[ROUNDS] % PERIOD == 0:
        weigh(progress.kinds)
    return kept


@tight_kernel()
def search_rounds(instance, neighbours, space, schedule, progress, rounds, ticks):
    """Do some rounds, fewer if the ticks say so."""
    for _ in range(rounds):
        if ticks[STOP] != 0:
            break
        do_round(instance, neighbours, space, schedule, progress)
        ticks[DONE] += 1


@tight_kernel()
def best_links(progress, neighbours):
    """Make `progress.best` the best overlay."""
    restore_best(progress, neighbours)
