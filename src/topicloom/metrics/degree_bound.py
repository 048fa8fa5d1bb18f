"""Lower bound on the max degree, by weights of nodes.

Let every node have a weight, and every link cost the weights of its two ends together. Then the price of an overlay is
the sum of all degrees, each times the weight of its node; so the max degree is at least the lowest price (`tree_bound`)
divided by the sum of the weights. With equal weights this is the mean degree.

Nodes that need many neighbours form groups. Round by round, groups whose degree in the fractional overlay of the trees
is above the mean get heavier. At 400 nodes with 20 to 600 of 1,000 uniform topics that proves 12 in place of 6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.metrics.compared_topics import ComparedTopics, Numbers
from topicloom.metrics.tree_bound import TreeBound, tree_bound
from topicloom.model.interest import Ids
from topicloom.model.prices import LinkPrices

Floats = npt.NDArray[np.float64]

_GROUPS = 32
_PASSES = 6
_MOST_ROUNDS = 150
# Rounds times entries of all passes: about 3 seconds of processor time.
_WORK = 100_000_000
# Highest degree of a group, in those of the mean, from which weights can prove more than the mean.
_UNEVEN = 1.5
# Weights are whole numbers up to this, and change by at most a factor e to the power of `_LARGEST` in a pass.
_HEAVIEST = 1_000_000
_STEP, _LARGEST = 0.8, 1.5


def degree_bound(
    rows: ComparedTopics,
    needed: Numbers,
    island: Numbers,
    trees: TreeBound,
    *,
    rounds: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Prove what max degree any topic-connected overlay must have; 0 if weights promise no more than the mean.

    Args:
        rows: the subscriptions.
        needed: the fewest neighbours of each node.
        island: number of each node's island.
        trees: the bound on links, whose trees give the first weights.
        rounds: most rounds of each pass.
        stopped: asked after every round; if true, the best bound so far is given.
    """
    groups = min(_GROUPS, rows.node_count)
    group = np.empty(rows.node_count, np.int32)
    by_need = np.lexsort((np.diff(rows.node_start), needed))
    group[by_need] = np.arange(rows.node_count) * groups // max(1, rows.node_count)
    members = np.bincount(group, minlength=groups)
    most = min(_MOST_ROUNDS, _WORK // _PASSES // max(1, len(trees.usage)))
    weight: Floats = np.ones(groups)
    best = 0
    for number in range(_PASSES):
        degree = _degrees(trees, group, members)
        mean = float((degree * members * weight).sum() / (members * weight).sum()) if groups else 0.0
        if stopped() or mean == 0 or (number == 0 and degree.max() < _UNEVEN * mean):
            break
        weight = weight * np.exp(np.clip(_STEP * (degree / mean - 1), -_LARGEST, _LARGEST))
        units = np.maximum(1, weight / weight.max() * _HEAVIEST).astype(np.int64)
        trees = tree_bound(
            rows,
            prices=LinkPrices(group, units[:, None] + units),
            island=island,
            rounds=most if rounds is None else min(most, rounds),
            stopped=stopped,
        )
        total = np.zeros(len(trees.by_island), np.int64)
        np.add.at(total, island, units[group])
        best = max(best, *(-(-price // int(sum_)) for price, sum_ in zip(trees.by_island, total, strict=True)))
    return best


def _degrees(trees: TreeBound, group: Ids, members: Numbers) -> Floats:
    """The mean degree of each group in the fractional overlay of trees: as much of a pair as a topic uses at most."""
    pairs = trees.certificate.pairs
    if not len(pairs.source):
        return np.zeros(len(members))
    use = np.maximum.reduceat(trees.usage, pairs.start[:-1])
    ends = (np.bincount(group[each], use, len(members)) for each in (pairs.source, pairs.target))
    degrees: Floats = sum(ends, np.zeros(len(members))) / members
    return degrees
