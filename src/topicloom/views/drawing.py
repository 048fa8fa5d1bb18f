"""Overlays as drawings.

What is drawn of an overlay: all nodes, or groups where they are too many.

A plan as an overlay: who is linked, and who wants what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.brokers.plan import Plan, preview_plan
from topicloom.metrics.trees import Trees, possible_trees
from topicloom.model import Interest, Overlay
from topicloom.model.filters import PLAIN
from topicloom.views.network import DrawnNetwork, communities, islands, places

Ids = npt.NDArray[np.int64]
Point = tuple[float, float]

# Beyond so many nodes groups are drawn, so many at most.
MOST_NODES = 2000
MOST_GROUPS = 150
# How large nodes are, in pixels.
_SMALLEST, _LARGEST = 7.0, 30.0
# With fewer links than these no node is as large as the largest.
_HUB = 16

DEGREE, LOAD, ISLAND = "links", "topics carried", "island"
COLOURINGS = (DEGREE, LOAD, ISLAND)


@dataclass(frozen=True, eq=False)
class SeenOverlay:
    """An overlay that is looked at, and all that is worked out of it once.

    `regions` are those of nodes by name, and `located` their latitudes and longitudes, where they are known. `given` is
    the plan that the links are of, if they are of one.
    """

    overlay: Overlay
    regions: Mapping[str, str] | None = None
    located: Mapping[str, Point] | None = None
    given: Plan | None = None

    @cached_property
    def _possible(self) -> tuple[Trees, npt.NDArray[np.int64]]:
        return possible_trees(self.overlay)

    @property
    def routes(self) -> Trees:
        """The tree of each topic that has one, with relays where it needs them."""
        return self._possible[0]

    @property
    def pieces(self) -> npt.NDArray[np.int64]:
        """In how many pieces each topic is even with relays."""
        return self._possible[1]

    @cached_property
    def plan(self) -> Plan:
        """The plan, or what one would be."""
        return preview_plan(self.overlay) if self.given is None else self.given

    @cached_property
    def load(self) -> Ids:
        """How many topics the links of each node carry, summed over its links."""
        ends = np.concatenate([self.routes.upper, self.routes.lower])
        return np.bincount(ends, minlength=self.overlay.interest.node_count)

    @cached_property
    def link_load(self) -> Ids:
        """How many topics each link carries."""
        rows = _link_numbers(self.overlay, self.routes.upper, self.routes.lower)
        return np.bincount(rows[rows >= 0], minlength=len(self.overlay))

    @cached_property
    def islands(self) -> Ids:
        """The island of each node."""
        return islands(self.overlay.interest.node_count, self.overlay.source, self.overlay.target).astype(np.int64)

    def rows_of_links(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """The numbers of links that are given by the ids of their ends, in any order; unknown ones are left out."""
        if not pairs:
            return []
        ends = np.array(pairs, np.int64)
        rows = _link_numbers(self.overlay, ends[:, 0], ends[:, 1])
        return [int(row) for row in rows[rows >= 0]]

    @cached_property
    def whole(self) -> Drawing:
        """The drawing of all of it."""
        return draw(self, np.arange(self.overlay.interest.node_count))


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn of some nodes of an overlay.

    `nodes` are the nodes that it is about and `row` the row of each node of the overlay, -1 where it is not in it; of
    groups a row stands for many nodes. `links` are the numbers of the links that are drawn; none where groups are.
    """

    seen: SeenOverlay
    nodes: Ids
    row: Ids
    grouped: bool
    drawn: DrawnNetwork
    links: Ids

    @cached_property
    def link_row(self) -> dict[int, int]:
        """The row of each link that is drawn, by its number."""
        return {int(link): row for row, link in enumerate(self.links.tolist())}

    def members(self, row: int) -> Ids:
        """The nodes of a group."""
        members: Ids = self.nodes[self.row[self.nodes] == row]
        return members


def draw(seen: SeenOverlay, nodes: Ids) -> Drawing:
    """What is drawn of some nodes of an overlay and the links among them."""
    overlay = seen.overlay
    inside = np.zeros(overlay.interest.node_count, bool)
    inside[nodes] = True
    links = np.flatnonzero(inside[overlay.source] & inside[overlay.target])
    return _all_drawn(seen, nodes, links) if len(nodes) <= MOST_NODES else _groups_drawn(seen, nodes, links)


def _all_drawn(seen: SeenOverlay, nodes: Ids, links: Ids) -> Drawing:
    overlay, row = seen.overlay, _rows(seen.overlay.interest.node_count, nodes)
    source, target = row[overlay.source[links]], row[overlay.target[links]]
    degrees = overlay.degrees[nodes]
    names = tuple(overlay.interest.node_names[node] for node in nodes.tolist())
    wanted = np.diff(overlay.interest.node_start)[nodes]
    told = {"links": degrees, "topics it has to do with": wanted, LOAD: seen.load[nodes]}
    if seen.regions:
        told["region"] = np.array([seen.regions.get(name, "") for name in names])
    about_links: dict[str, npt.NDArray[Any]] = {"topics carried": seen.link_load[links]}
    if overlay.contribution is not None:
        about_links["contribution"] = overlay.contribution[links]
    drawn = DrawnNetwork(
        names=names,
        places=_located(seen, names) if seen.located else places(len(nodes), source, target),
        source=source,
        target=target,
        sizes=node_sizes(degrees),
        told=told,
        colourings={DEGREE: degrees, LOAD: seen.load[nodes], ISLAND: seen.islands[nodes]},
        groups=frozenset([ISLAND]),
        widths=_widths(seen.link_load[links]),
        link_told=about_links,
    )
    return Drawing(seen, nodes, row, False, drawn, links)


def _groups_drawn(seen: SeenOverlay, nodes: Ids, links: Ids) -> Drawing:
    """Regions where they are known, else communities; links between two are one."""
    overlay, place = seen.overlay, _rows(seen.overlay.interest.node_count, nodes)
    source, target = place[overlay.source[links]], place[overlay.target[links]]
    group, names = _grouped(seen, nodes, source, target)
    count = int(group.max()) + 1
    row = np.full(len(place), -1, np.int64)
    row[nodes] = group
    low, high = np.minimum(group[source], group[target]), np.maximum(group[source], group[target])
    pairs, between = np.unique((low * count + high)[low != high], return_counts=True)
    sizes = np.bincount(group, minlength=count)
    within = np.bincount(low[low == high], minlength=count)
    ends = (pairs // count, pairs % count)
    drawn = DrawnNetwork(
        names=names,
        places=places(count, *ends, weights=1 + np.log(between)),
        source=ends[0],
        target=ends[1],
        sizes=node_sizes(sizes),
        told={"nodes": sizes, "links among them": within},
        colourings={
            "nodes": sizes,
            DEGREE: np.bincount(group, overlay.degrees[nodes], count) / sizes,
            LOAD: np.bincount(group, seen.load[nodes], count) / sizes,
        },
        widths=0.5 + np.log10(between),
        link_told={"links": between},
    )
    return Drawing(seen, nodes, row, True, drawn, np.empty(0, np.int64))


def _grouped(seen: SeenOverlay, nodes: Ids, source: Ids, target: Ids) -> tuple[Ids, tuple[str, ...]]:
    overlay, names = seen.overlay, seen.overlay.interest.node_names
    regions = [(seen.regions or {}).get(names[node], "") for node in nodes.tolist()]
    if 1 < len(set(regions)) <= MOST_GROUPS:
        known = sorted(set(regions))
        number = {name: at for at, name in enumerate(known)}
        return np.array([number[name] for name in regions]), tuple(name or "no region" for name in known)
    group = communities(len(nodes), source, target, MOST_GROUPS).astype(np.int64)
    count = int(group.max()) + 1
    degrees = overlay.degrees[nodes]
    # The first of each group when sorted by group, then by links, is its hub.
    order = np.lexsort((-degrees, group))
    first = order[np.searchsorted(group[order], np.arange(count))]
    told = [f"around {names[int(nodes[hub])]}" for hub in first]
    if count == MOST_GROUPS:
        told[-1] = "all others"
    return group, tuple(told)


def _rows(count: int, nodes: Ids) -> Ids:
    row = np.full(count, -1, np.int64)
    row[nodes] = np.arange(len(nodes))
    return row


def node_sizes(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Sizes whose areas follow the numbers; smaller where there are many."""
    most = float(max(_HUB, numbers.max(initial=1)))
    shrunk = min(1.0, 12 / max(1.0, float(np.sqrt(len(numbers)))))
    sizes: npt.NDArray[np.float64] = _SMALLEST * max(0.5, shrunk) + _LARGEST * shrunk * np.sqrt(numbers / most)
    return sizes


def _widths(loads: Ids) -> npt.NDArray[np.float64]:
    """Widths that follow what links carry; all are thinner where there are many."""
    thin = min(1.0, 14 / max(1.0, float(np.sqrt(len(loads)))))
    widths: npt.NDArray[np.float64] = thin * (1 + 2 * np.sqrt(loads / max(1, loads.max(initial=1))))
    return widths


def _located(seen: SeenOverlay, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """As on a map, east to the right and north up, all of it within -1 to 1."""
    located = seen.located or {}
    middle = np.array(list(located.values())).mean(axis=0)
    at = np.array([located.get(name, tuple(middle)) for name in names])
    flat = np.stack([at[:, 1] * np.cos(np.radians(middle[0])), at[:, 0]], axis=1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = max(float((high - low).max()), 1e-9)
    scaled: npt.NDArray[np.float64] = 2 * (flat - (low + high) / 2) / scale
    return scaled


def _link_numbers(overlay: Overlay, first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Ids:
    """The number of the link between each two nodes; -1 where there is none."""
    count = overlay.interest.node_count
    keys = overlay.source.astype(np.int64) * count + overlay.target
    order = np.argsort(keys)
    wanted = np.minimum(first, second).astype(np.int64) * count + np.maximum(first, second)
    at = np.searchsorted(keys[order], wanted)
    found = np.full(len(wanted), -1, np.int64)
    fits = at < len(keys)
    fits[fits] = keys[order][at[fits]] == wanted[fits]
    found[fits] = order[at[fits]]
    return found


def seen_plan(plan: Plan) -> SeenOverlay:
    """The links of a plan over the interest that its routes tell of, with its own trees."""
    interest = _interest(plan)
    ids = interest.node_ids
    ends = np.array([[ids[first], ids[second]] for first, second in plan.links], np.int32).reshape(-1, 2)
    overlay = Overlay(interest, ends.min(axis=1, initial=2**31 - 1), ends.max(axis=1, initial=-1))
    return SeenOverlay(overlay, given=plan)


def _interest(plan: Plan) -> Interest:
    rows = [
        (name, route.topic, _role(name in wants, name in publishes))
        for route in plan.routes
        for wants, publishes in [route.sides]
        for name in dict.fromkeys((*wants, *publishes))
    ]
    read = Interest.from_roles(rows, filters=PLAIN)
    named = tuple(sorted(broker.name for broker in plan.brokers))
    if named == read.node_names:
        return read
    # Brokers that have to do with no topic are there too.
    place = np.array([named.index(name) for name in read.node_names], np.int64)
    nodes = np.repeat(place, np.diff(read.node_start))
    return Interest.from_ids(named, read.topic_names, nodes, read.node_topics)


def _role(wants: bool, publishes: bool) -> str:
    return "both" if wants and publishes else "sub" if wants else "pub"
