"""Links taken off the nodes that have most, where links between others can do what they did.

Rule: of the nodes of highest degree D, by name, and their links, by the other end's name: the link is taken away, and
the topics that this breaks are mended by links among all nodes that have less than D - 1 links, those that mend most
first. The way that needs fewest links is taken, the first of several. So there is one node of degree D less, or two.

Cost of a way: a search through each topic of the link, and what mending takes. All ways are tried unless one needs no
more than one link.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from topicloom.churn.live_overlay import LiveOverlay, row_of
from topicloom.kernels import mending
from topicloom.kernels.live_graph import relink
from topicloom.kernels.needed_links import common_topics
from topicloom.model.interest import Ids

Ends = tuple[int, int]
_NONE = np.empty((0, 2), np.int32)
# Links that mend most come first, whatever their degrees: those that are too high are not there to choose.
_RHO = 0.0


class Relief(NamedTuple):
    """A link that goes and those that come in its place, the lower number first in each."""

    gone: Ends
    instead: tuple[Ends, ...]


def link_to_take_off(live: LiveOverlay, staying: Collection[Ends], most: int) -> Relief | None:
    """The best way to take a link off a node of highest degree, with at most so many in its place; None without one.

    Nothing has changed afterwards. Links in `staying` stay. A node is never given more links than it may have.
    """
    top = live.max_degree
    limit = live.population.limit.copy()
    live.population.limit[:] = np.minimum(limit, top - 1)
    best: Relief | None = None
    for link in _links_of_highest(live, top):
        instead = None if link in staying else _instead_of(live, link)
        if instead is not None and len(instead) <= most:
            best, most = Relief(link, instead), len(instead) - 1
            if most <= 0:
                break
    live.population.limit[:] = limit
    return best


def _links_of_highest(live: LiveOverlay, top: int) -> list[Ends]:
    """The links of nodes of highest degree, by their names, then by the names of the other ends."""
    population = live.population
    by_name = np.argsort(population.rank, kind="stable").tolist()
    highest = [u for u in by_name if population.rank[u] >= 0 and population.neighbours.length[u] == top]
    links = [
        (u, v)
        for u in highest
        for v in sorted(row_of(population.neighbours, u).tolist(), key=population.rank.__getitem__)
    ]
    return list(dict.fromkeys((min(link), max(link)) for link in links))


def _instead_of(live: LiveOverlay, link: Ends) -> tuple[Ends, ...] | None:
    """Links that connect what a link does; None where there are none."""
    gone = np.array([link], np.int32)
    relink(live.population, _NONE, gone)
    topics = common_topics(live.population, live.scratch, *link)
    nodes, table, _ = mending.pieces_of(live.population, live.scratch, topics)
    live.reserve(links=int(table.max(axis=0, initial=0).sum()) + 1)
    population = live.population
    added: Ids = mending.mend(population, nodes, table, mending.NO_NODE, _RHO)[0]
    # Mending puts pieces together in the table, too.
    mended = not (table[nodes == link[0]] != table[nodes == link[1]]).any()
    relink(population, gone, added)
    return tuple((min(ends), max(ends)) for ends in added.tolist()) if mended else None
