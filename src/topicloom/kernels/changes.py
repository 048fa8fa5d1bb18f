"""Changes of given links, for searches that may make only so many.

A change is a given link that is not there, or one that is there and was not given. Each has a price, in those of a
link, which rises while there are too many changes and falls otherwise. So those changes are made first that save most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inlined, inner_kernel

# So many given links of a node are candidates.
GIVEN_CANDIDATES = 16
FIRST_PRICE = 0.5
_LOWEST, _HIGHEST = 1e-3, 1.0
# The price may fall by a factor e to this power in a search, with a step of at most `_STEP` a round.
_PACE = 40.0
_STEP = 0.1


class Given(NamedTuple):
    """The links that were given, as neighbours of each node in rising order; empty if changes are not limited."""

    start: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]


NO_GIVEN = Given(np.zeros(0, np.int64), np.zeros(0, np.int32))


def given_links(nodes: int, source: npt.NDArray[np.int32], target: npt.NDArray[np.int32]) -> Given:
    """The neighbours that links make."""
    ends, others = np.concatenate([source, target]), np.concatenate([target, source])
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=nodes), out=start[1:])
    return Given(start, others[np.lexsort((others, ends))].astype(np.int32))


@inlined()
def is_limited(given):
    """Whether changes are limited."""
    return given.start.shape[0] > 0


@inner_kernel()
def was_given(given, u, v):
    """Whether a link was given."""
    low, high = given.start[u], given.start[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if given.node[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < given.start[u + 1] and given.node[low] == v


@inner_kernel()
def changes_undone(given, ruin, removed):
    """How many of the removed links were not given."""
    total = np.int64(0)
    for k in range(removed):
        total += 0 if was_given(given, ruin.u[k], ruin.v[k]) else 1
    return total


@inner_kernel()
def changes_by(given, ruin, removed, added):
    """How many changes more there are after a round that removed and added so many links."""
    total = np.int64(0)
    for k in range(removed):
        total += 1 if was_given(given, ruin.u[k], ruin.v[k]) else -1
    for k in range(added):
        total += -1 if was_given(given, ruin.added_u[k], ruin.added_v[k]) else 1
    return total


@inlined()
def change_price(price, too_many, share):
    """Raise or lower the price of a change."""
    step = min(_STEP, _PACE * share)
    price[0] = min(_HIGHEST, max(_LOWEST, price[0] * (1.0 + step if too_many else 1.0 - step)))
