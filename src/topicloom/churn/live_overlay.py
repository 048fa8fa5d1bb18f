"""An overlay that lives: nodes, what they want and how they are linked, all of which may change.

Inside, nodes and topics have numbers in no particular order, which kernels work on; outside, names.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.designers.contract import Links
from topicloom.kernels.bit_planes import room_for_bits, wanting_rows
from topicloom.kernels.live_graph import GrowingRows, Population, Scratch, new_rows, reserved
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance

AnyArray = npt.NDArray[Any]


class Link(NamedTuple):
    """A link by the names of its ends, the lower one first."""

    source: str
    target: str


class _Room(NamedTuple):
    """How many subscriptions, links and backups may still be added before kernels run out of room."""

    topics: int
    links: int
    backups: int


# What is reserved besides what is asked for.
_AT_ONCE = 4096


class LiveOverlay:
    """Nodes with their topics, and links in the order they were added, each with its contribution at that time.

    `constraints` say which links kernels may add. A link that stays takes room at a node while the other is away. Of
    equally good links they add the cheaper by `prices`.
    """

    def __init__(
        self, overlay: Overlay, random: int, constraints: Constraints | None = None, prices: Prices | None = None
    ) -> None:
        self.prices = prices
        self.constraints = constraints or Constraints()
        allowed = self.constraints.over(overlay.interest)
        self._parting: set[str] = set()
        self._partners: dict[str, list[str]] = {}
        for a, b in self.constraints.links:
            self._partners.setdefault(a, []).append(b)
            self._partners.setdefault(b, []).append(a)
        interest = overlay.interest
        nodes, topics = interest.node_count, interest.topic_count
        self.numbers = dict(interest.node_ids)
        self.names: list[str] = list(interest.node_names)
        self._ordered = list(interest.node_names)
        self._free: list[int] = []
        self._room = _Room(0, 0, 0)
        self.topic_numbers = dict(interest.topic_ids)
        self.topic_names = list(interest.topic_names)
        source, target = overlay.source, overlay.target
        contribution = overlay.contribution
        if contribution is None:
            contribution = Links.measured(interest, source, target).contribution
        ends = zip(source.tolist(), target.tolist(), strict=True)
        self.links: dict[tuple[int, int], int] = dict(zip(ends, contribution.tolist(), strict=True))
        around = np.argsort(np.concatenate([source, target]), kind="stable")
        starts = np.zeros(nodes + 1, np.int64)
        np.cumsum(overlay.degrees, out=starts[1:])
        degrees = np.zeros(nodes + 2, np.int32)
        counts = np.bincount(overlay.degrees, minlength=1)
        degrees[: len(counts)] = counts
        degrees[-1] = len(counts) - 1
        wanted = new_rows(nodes, interest.node_start, interest.node_topics)
        self.population = Population(
            rank=np.arange(nodes, dtype=np.int32),
            topics=wanted,
            members=new_rows(topics, interest.topic_start, interest.topic_nodes),
            neighbours=new_rows(nodes, starts, np.concatenate([target, source])[around]),
            backups=new_rows(nodes),
            primaries=new_rows(nodes),
            wanting=wanting_rows(wanted, nodes, topics),
            degrees=degrees,
            limit=allowed.spare.copy(),
            group=allowed.group.copy(),
            permitted=allowed.may_link,
            price_group=np.array([self._price_group(name) for name in interest.node_names], np.int32),
            price=np.ones((1, 1), np.int64) if prices is None else prices.groups.price,
        )
        self.scratch = Scratch(
            mark=np.zeros(nodes, np.int64),
            key=np.zeros(nodes, np.uint64),
            gain=np.zeros(nodes, np.int64),
            chosen=np.zeros(nodes, np.int64),
            topic_mark=np.zeros(topics, np.int64),
            uncovered=np.zeros(topics, np.int32),
            before=np.zeros(topics, np.int32),
            place=np.zeros(nodes, np.int32),
            queue=np.zeros(nodes, np.int32),
            **room_for_bits(nodes),
            latest=np.zeros(1, np.int64),
            random=np.array([random], np.uint64),
        )

    @property
    def max_degree(self) -> int:
        """The highest degree of all nodes."""
        return int(self.population.degrees[-1])

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.numbers)

    def _price_group(self, node: str) -> int:
        return 0 if self.prices is None else self.prices.groups.number(node)

    def rank_of_new(self, node: str) -> int:
        """The place in the order of names where a new node belongs."""
        return bisect_left(self._ordered, node)

    def add_node(self, node: str) -> int:
        """A number for a new node; kernels still have to be told."""
        insort(self._ordered, node)
        if self._free:
            number = self._free.pop()
            self.names[number] = node
        else:
            number = len(self.names)
            self.names.append(node)
            self._make_room_for_nodes()
        self.numbers[node] = number
        staying = self.staying_neighbours(node)
        away = len(self._partners.get(node, ())) - len(staying)
        self.population.limit[number] = self.constraints.limit(node) - away
        self.population.group[number] = self.constraints.groups.number(node)
        self.population.price_group[number] = self._price_group(node)
        for other in staying:
            self.population.limit[other] += 1
        return number

    def staying_neighbours(self, node: str) -> list[int]:
        """Nodes that are there, and stay, and whose link with this one stays."""
        others = self._partners.get(node, ())
        return [self.numbers[other] for other in others if other in self.numbers and other not in self._parting]

    def remove_node(self, node: str) -> None:
        """A node is about to go: nodes that a link of it stays with keep room for it."""
        for other in self.staying_neighbours(node):
            self.population.limit[other] -= 1
        self._parting.add(node)

    def exit(self, node: str) -> None:
        """Forget a node that has parted; kernels know already."""
        self._parting.discard(node)
        self._free.append(self.numbers.pop(node))
        del self._ordered[bisect_left(self._ordered, node)]

    def topics_of(self, node: str) -> list[str]:
        """The topics that a node wants, in the order of their names."""
        return [self.topic_names[topic] for topic in row_of(self.population.topics, self.numbers[node]).tolist()]

    def numbers_of_topics(self, topics: Sequence[str]) -> Ids:
        """Numbers of topics, which may be new; in the order given."""
        known = self.topic_numbers
        for topic in topics:
            if topic not in known:
                known[topic] = len(self.topic_names)
                self.topic_names.append(topic)
        if len(self.topic_names) > len(self.scratch.topic_mark):
            by_topic = ("topic_mark", "uncovered", "before")
            self.scratch = self._longer_scratch(by_topic, len(self.topic_names))
            self._renew_wanting()
        return np.array(list(map(known.__getitem__, topics)), np.int32)

    def reserve(self, *, topics: int = 0, links: int = 0, backups: int = 0) -> None:
        """Room for so many more subscriptions, links and backups before the next call."""
        room = self._room
        self._room = _Room(room.topics - topics, room.links - links, room.backups - backups)
        nodes, known = len(self.population.rank), len(self.topic_names)
        population = self.population
        if min(self._room) >= 0 and nodes <= len(population.topics.start) and known <= len(population.members.start):
            return
        # Room for many events, so that few have to look.
        self._room = _Room(*(_AT_ONCE + more for more in (topics, links, backups)))
        self.population = population._replace(
            topics=reserved(population.topics, nodes, self._room.topics),
            members=reserved(population.members, known, self._room.topics),
            neighbours=reserved(population.neighbours, nodes, 2 * self._room.links),
            backups=reserved(population.backups, nodes, self._room.backups),
            primaries=reserved(population.primaries, nodes, self._room.backups),
        )

    def note_added(self, ends: Ids, contributions: Ids) -> list[Link]:
        """Note links that a kernel has added."""
        added = []
        for (u, v), contribution in zip(ends.tolist(), contributions.tolist(), strict=True):
            self.links[(u, v) if u < v else (v, u)] = contribution
            added.append(self.link(u, v))
        return added

    def note_removed(self, ends: tuple[int, int]) -> Link:
        """Note that a kernel has taken away a link, the lower number first."""
        del self.links[ends]
        return self.link(*ends)

    def set_backups(self, backups: Mapping[str, Sequence[str]]) -> None:
        """Let nodes stand in for others, and nobody else; all by name."""
        count = len(self.names)
        pairs = [(self.numbers[node], self.numbers[other]) for node, others in backups.items() for other in others]
        table = np.array(pairs, np.int32).reshape(-1, 2)
        rows = []
        for by, item in ((0, 1), (1, 0)):
            starts = np.zeros(count + 1, np.int64)
            np.cumsum(np.bincount(table[:, by], minlength=count), out=starts[1:])
            rows.append(new_rows(count, starts, table[np.argsort(table[:, by], kind="stable"), item]))
        self.population = self.population._replace(backups=rows[0], primaries=rows[1])
        self._room = _Room(0, 0, 0)

    def link(self, u: int, v: int) -> Link:
        """A link by the names of its ends."""
        a, b = self.names[u], self.names[v]
        return Link(a, b) if a < b else Link(b, a)

    def interest(self) -> Interest:
        """What all nodes want now."""
        lengths = self.population.topics.length[: len(self.names)]
        nodes = np.repeat(np.arange(len(self.names)), lengths)
        wanted = np.concatenate(
            [np.empty(0, np.int32), *(row_of(self.population.topics, n) for n in range(len(self.names)))]
        )
        present = np.unique(wanted)
        ordered = sorted(present.tolist(), key=self.topic_names.__getitem__)
        ids = np.zeros(len(self.topic_names), np.int32)
        ids[ordered] = np.arange(len(ordered))
        return Interest.from_ids(
            tuple(self._ordered), tuple(self.topic_names[t] for t in ordered), self.population.rank[nodes], ids[wanted]
        )

    def overlay(self, provenance: Provenance | None = None) -> Overlay:
        """All links as they are now, over what all nodes want now."""
        ends = self.population.rank[np.array(list(self.links), np.int64).reshape(-1, 2)]
        contribution = np.array(list(self.links.values()), np.int32)
        return Overlay(self.interest(), ends.min(axis=1), ends.max(axis=1), contribution, provenance)

    def _make_room_for_nodes(self) -> None:
        count = len(self.names)
        if count <= len(self.population.rank):
            return
        population = self.population
        rank = _longer(population.rank, count)
        rank[count - 1 :] = -1
        degrees = np.zeros(len(rank) + 2, np.int32)
        degrees[: len(population.degrees) - 1] = population.degrees[:-1]
        degrees[-1] = population.degrees[-1]
        by_node = (population.limit, population.group, population.price_group)
        limit, group, price_group = (_longer(array, count) for array in by_node)
        self.population = population._replace(
            rank=rank, degrees=degrees, limit=limit, group=group, price_group=price_group
        )
        self.scratch = self._longer_scratch(("mark", "key", "gain", "chosen", "place", "queue"), count)
        self.scratch = self.scratch._replace(**room_for_bits(len(rank)))
        self._renew_wanting()

    def _renew_wanting(self) -> None:
        """Rows of bits for as many nodes and topics as there is room for, if they still pay."""
        nodes, topics = len(self.population.rank), len(self.scratch.topic_mark)
        self.population = self.population._replace(wanting=wanting_rows(self.population.topics, nodes, topics))

    def _longer_scratch(self, names: Sequence[str], count: int) -> Scratch:
        return self.scratch._replace(**{name: _longer(getattr(self.scratch, name), count) for name in names})


def row_of(rows: GrowingRows, number: int) -> Ids:
    """A row of numbers; it changes as the rows do."""
    start = rows.start[number]
    return rows.items[start : start + rows.length[number]]


def _longer(array: AnyArray, count: int) -> AnyArray:
    """An array with so many places at least, and some more."""
    return np.concatenate([array, np.zeros(count + count // 2 - len(array), array.dtype)])
