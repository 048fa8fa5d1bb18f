"""Links that no better overlay has, and links that every better one has, by the prices of a tree bound.

If an overlay has the link of u and v, its trees have that link for nothing once its capacity is paid: the bound changes
by the capacity, less the dearest price on the path of u and v in the cheapest tree of each common topic. If it does not
have the link, trees that use it need the cheapest replacement. If the changed bound reaches a known overlay, no better
overlay is on that side (reduced-cost fixing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.tree_prices import replacements, tree_bottlenecks
from topicloom.metrics.tree_bound import UNIT, Certificate

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Above any sum of prices: nothing replaces the link of a topic of two nodes.
_NO_REPLACEMENT = np.int64(1) << 60


class FixedLinks(NamedTuple):
    """Which of the given pairs no better overlay links, and which every better one does."""

    excluded: Flags
    required: Flags


class LinkBounds(NamedTuple):
    """Lower bounds, in units, of overlays that link each of the given pairs, and of those that do not.

    `least` is the lower bound of all overlays, in links or parts of a price.
    """

    linked: Int64s
    unlinked: Int64s
    dearest: int
    least: int

    def fixed(self, upper: int) -> FixedLinks:
        """Pairs that are settled in all overlays of fewer links, or of a lower price, than `upper`."""
        enough = (upper - 1) * UNIT // self.dearest + 1  # the fewest units that prove `upper`
        return FixedLinks(self.linked >= enough, self.unlinked >= enough)


def link_bounds(certificate: Certificate, source: Int32s, target: Int32s) -> LinkBounds:
    """Bound the overlays with and without each pair; pairs are given once, by rising source < target.

    Memory and time go by pairs of nodes in topics, and by tree links times entries of a topic: for small interests.
    """
    rows, capacity, pairs, topics = certificate.rows, certificate.capacity, certificate.pairs, certificate.topics
    nodes = len(rows.node_start) - 1
    keys = source.astype(np.int64) * nodes + target
    total = int(certificate.cost.sum())
    linked = total + capacity.price[capacity.group[source], capacity.group[target]]
    only = np.zeros(len(keys), np.bool_)
    replaced = certificate.price.astype(np.int64)
    for topic in np.flatnonzero(topics.size >= 2).tolist():
        members = rows.topic_nodes[rows.topic_start[topic] : rows.topic_start[topic + 1]].astype(np.int64)
        first, second = np.triu_indices(len(members), 1)
        wanted = members[first] * nodes + members[second]
        place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        given = keys[place] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
        dearest = tree_bottlenecks(topics, certificate.used, certificate.price, topic)
        linked[place[given]] -= dearest[first, second][given]
        if len(members) == 2:
            only[place[given]] = True
        else:
            replacements(topics, certificate.used, certificate.price, topic, replaced)
    unlinked = np.full(len(keys), total)
    if len(pairs.source) and len(keys):
        more = np.add.reduceat(replaced - certificate.price, pairs.start[:-1])
        stored = pairs.source.astype(np.int64) * nodes + pairs.target
        place = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
        unlinked += np.where(stored[place] == keys, more[place], 0)
    return LinkBounds(linked, np.where(only, _NO_REPLACEMENT, unlinked), certificate.dearest, certificate.value)
