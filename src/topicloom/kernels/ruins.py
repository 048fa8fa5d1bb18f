"""Which links a round removes: six kinds of ruins, chosen by what they have lately saved.

- node: some links of a node.
- pair: some links of a node and of one of its neighbours.
- similar: some links of a node and of one that has many topics in common with it.
- path: the links along a path in one topic.
- region: some links of a node, and one of each of some neighbours.
- random: one link each of some nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.draws import below, draw, fraction
from topicloom.kernels.jit import inlined, inner_kernel
from topicloom.kernels.neighbours import EXCESS
from topicloom.kernels.recreating import CENTRE, REMOVED
from topicloom.kernels.splits import MOST_REMOVED
from topicloom.kernels.subscriptions import wants

NODE, PAIR, SIMILAR, PATH, REGION, RANDOM = range(6)
KINDS = 6
# Rounds after which kinds are weighed anew.
PERIOD = 2048
# What a kind has saved counts this share less after a period.
_FADING = 0.8
# Every kind is chosen in at least this share of the rounds.
_LEAST_SHARE = 0.1
_TRIES = 4
# One of so many rounds begins anywhere; the others, near the last.
_STEPS = 16


class Kinds(NamedTuple):
    """Kinds of ruins by what they give."""

    saved: npt.NDArray[np.float64]  # by kind, fading
    work: npt.NDArray[np.float64]
    share: npt.NDArray[np.float64]  # of rounds, summed up from the first kind on


def new_kinds() -> Kinds:
    """All kinds are equally good at first."""
    return Kinds(np.zeros(KINDS), np.zeros(KINDS), np.arange(1, KINDS + 1) / KINDS)


@inner_kernel()
def weigh(kinds):
    """Choose kinds by what a unit of work with them has saved."""
    total = 0.0
    for kind in range(KINDS):
        total += (kinds.saved[kind] + 1e-9) / (kinds.work[kind] + 1.0)
    upto = 0.0
    for kind in range(KINDS):
        share = (kinds.saved[kind] + 1e-9) / (kinds.work[kind] + 1.0) / total
        upto += _LEAST_SHARE + (1.0 - KINDS * _LEAST_SHARE) * share
        kinds.share[kind] = upto
        kinds.saved[kind] *= _FADING
        kinds.work[kind] *= _FADING


@inlined()
def choose_kind(kinds, draws):
    """A kind of ruin at random, by their shares."""
    number = fraction(draw(draws))
    kind = 0
    while kind < KINDS - 1 and number > kinds.share[kind]:
        kind += 1
    return kind


@inner_kernel()
def choose_link(ruin, u, v):
    """Note a link that is to be removed, unless it is noted already or there are too many."""
    count = ruin.counts[REMOVED]
    if count == MOST_REMOVED:
        return
    for k in range(count):
        if (ruin.u[k] == u and ruin.v[k] == v) or (ruin.u[k] == v and ruin.v[k] == u):
            return
    ruin.u[count], ruin.v[count] = u, v
    ruin.counts[REMOVED] = count + 1


@inner_kernel()
def choose_links(ruin, neighbours, draws, x, count):
    """Choose links of a node that may be removed, at random: at most so many."""
    fixed = neighbours.fixed[x]
    loose = neighbours.degree[x] - fixed
    if loose == 0:
        return
    first = neighbours.start[x] + fixed
    if loose <= count:
        for place in range(first, first + loose):
            choose_link(ruin, x, neighbours.node[place])
    else:
        for _ in range(count):
            choose_link(ruin, x, neighbours.node[first + below(draw(draws), loose)])


@inner_kernel()
def choose_path(ruin, subscriptions, neighbours, draws, x, t, count):
    """Choose links along a path in a topic that begins at a node."""
    for _ in range(count):
        degree = neighbours.degree[x]
        if degree == 0:
            return
        offset = below(draw(draws), degree)
        following = -1
        for k in range(degree):
            place = offset + k if offset + k < degree else offset + k - degree
            y = neighbours.node[neighbours.start[x] + place]
            if wants(subscriptions, y, t):
                following = y
                if place >= neighbours.fixed[x]:
                    choose_link(ruin, x, y)
                break
        if following < 0:
            return
        x = following


@inner_kernel()
def next_centre(x, neighbours, nearest, draws):
    """A node near the one of the last round, or any node: rounds at one place find more than as many at many."""
    step = below(draw(draws), _STEPS)
    if step == 0 or neighbours.degree[x] == 0:
        return below(draw(draws), neighbours.degree.shape[0])
    if step & 1:
        return np.int64(neighbours.node[neighbours.start[x] + below(draw(draws), neighbours.degree[x])])
    y = np.int64(nearest[x, below(draw(draws), nearest.shape[1])])
    return y if y >= 0 else np.int64(x)


@inner_kernel()
def choose_ruin(ruin, kind, subscriptions, neighbours, nearest, draws):
    """Choose the links that a round removes."""
    nodes = neighbours.degree.shape[0]
    x = next_centre(ruin.counts[CENTRE], neighbours, nearest, draws)
    ruin.counts[CENTRE] = x
    if neighbours.total[EXCESS] > 0:
        # With a target for degrees, nodes above it are looked for.
        for _ in range(_TRIES):
            y = below(draw(draws), nodes)
            x = y if neighbours.degree[y] > neighbours.degree[x] else x
    degree = neighbours.degree[x]
    if degree == 0:
        return
    count = 1 + below(draw(draws), 4)
    if kind == NODE:
        choose_links(ruin, neighbours, draws, x, count + 1)
    elif kind == PAIR:
        y = neighbours.node[neighbours.start[x] + below(draw(draws), degree)]
        choose_links(ruin, neighbours, draws, x, count)
        choose_links(ruin, neighbours, draws, y, count)
    elif kind == SIMILAR:
        y = nearest[x, below(draw(draws), nearest.shape[1])]
        choose_links(ruin, neighbours, draws, x, count)
        if y >= 0:
            choose_links(ruin, neighbours, draws, y, count)
    elif kind == PATH:
        first = subscriptions.node_start[x]
        topics = subscriptions.node_start[x + 1] - first
        if topics > 0:
            t = subscriptions.node_topics[first + below(draw(draws), topics)]
            choose_path(ruin, subscriptions, neighbours, draws, x, t, count + 1)
    elif kind == REGION:
        choose_links(ruin, neighbours, draws, x, 2)
        for _ in range(count):
            y = neighbours.node[neighbours.start[x] + below(draw(draws), degree)]
            choose_links(ruin, neighbours, draws, y, 1)
    else:
        choose_links(ruin, neighbours, draws, x, 1)
        for _ in range(count):
            choose_links(ruin, neighbours, draws, below(draw(draws), nodes), 1)
