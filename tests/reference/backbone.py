"""Slow twin of the backbone designer, on plain sets: every host's gain counted anew for every choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

from reference.greedy import Components, Link, Step
from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest

HOST_SHARE, MOST_HOSTS, TRIES, SPARE = 5, 10_000, 8, 1.25
ROUNDS, LOOSENED = 16, 4

# Of an interest, and of prices where they are given.
Core = Callable[..., list[Step]]
Cover = list[tuple[int, int]]


class Backbone:
    """Hosts in the order they were placed, their links and their room."""

    def __init__(
        self,
        interest: Interest,
        core: Core,
        core_size: int,
        max_degree: int | None,
        block_size: int,
        price: dict[Link, Fraction] | None = None,
    ) -> None:
        self.price = price
        self.wanted = topics_by_node(interest)
        self.nodes = interest.node_count
        self.limited = max_degree is not None
        self.limit = self.nodes if max_degree is None else min(max_degree, self.nodes)
        self.order = sorted(range(self.nodes), key=lambda u: (-len(self.wanted[u]), u))
        self.hosts: list[int] = []
        self.degree = [0] * self.nodes
        self.links: list[Step] = []
        self.unmet: set[int] = set()
        self._place_hosts(interest, core, core_size)
        self._hang_leaves(block_size)
        if self.unmet:
            self._repair(interest)
            components = Components(interest)
            self.links = [(*link[:2], _merged(components, link[:2])) for link in self.links]

    def _place_hosts(self, interest: Interest, core: Core, core_size: int) -> None:
        core_size = min(core_size, self.nodes)
        rank = {u: k for k, u in enumerate(self.order)}
        first = set(self.order[: max(core_size, min(self.nodes // HOST_SHARE, MOST_HOSTS))])
        for nodes in nodes_by_topic(interest):
            needed = max(3, math.ceil(SPARE * len(nodes) / self.limit)) if self.limited else 1
            first |= set(sorted(nodes, key=rank.__getitem__)[:needed]) if len(nodes) > 1 else set()
        waiting = sorted(first, key=rank.__getitem__)
        inner = waiting[:core_size]
        names = [f"{k:03}" for k in range(len(inner))]
        mine = Interest.from_pairs((names[k], f"{t:03}") for k, u in enumerate(inner) for t in self.wanted[u])
        steps = core(mine) if self.price is None else core(mine, _price_of(inner, self.price))
        degree = [sum(k in step[:2] for step in steps) for k in range(len(inner))]
        if max(degree, default=0) <= self.limit:
            for a, b, contribution in steps:
                self._link(inner[a], inner[b], contribution)
            self.hosts, waiting = inner, waiting[core_size:]
        while True:
            for u in waiting:
                self._attach_host(u)
            leaves = [u for u in self.order if u not in self.hosts]
            each = max(1.0, len(self.links) / len(self.hosts))
            room = sum(self.limit - self.degree[u] for u in self.hosts)
            missing = SPARE * len(leaves) * each - room
            if not self.limited or missing <= 0:
                break
            more = int(missing / max(1.0, self.limit - each)) + 1
            waiting = leaves[: max(more, len(self.hosts) // 4, TRIES)]

    def _attach_host(self, u: int) -> None:
        topics = {t for t in self.wanted[u] if any(t in self.wanted[h] for h in self.hosts)}
        busy = {h: self.degree[h] for h in self.hosts}
        allowed = [h for h in self.hosts if self.degree[h] < self.limit]
        for h, gain in self._cover(u, topics, allowed, busy, self.limit - self.degree[u]):
            self._link(u, h, gain)
            topics = topics - self.wanted[h]
        self.unmet |= topics
        self.hosts.append(u)

    def _hang_leaves(self, block_size: int) -> None:
        leaves = [u for u in self.order if u not in self.hosts]
        blocks = max(1, math.ceil(sum(len(self.wanted[u]) for u in leaves) / block_size))
        trunk = [self.degree[h] for h in self.hosts]
        left: dict[int, set[int]] = {}
        for block in range(blocks):
            room = {}
            for k, h in enumerate(self.hosts):
                free, turn = self.limit - trunk[k], k % blocks
                room[h] = (free * (block + 1) + turn) // blocks - (free * block + turn) // blocks
            busy = dict(zip(self.hosts, trunk, strict=True))
            mine = [u for u in leaves if u % blocks == block]
            left |= self._hang({u: self.wanted[u] for u in mine}, room, busy, blocks)
        room = {h: self.limit - self.degree[h] for h in self.hosts}
        busy = {h: self.degree[h] for h in self.hosts}
        left = self._hang({u: left[u] for u in sorted(left)}, room, busy, 1)
        self.unmet |= {t for topics in left.values() for t in topics}

    def _hang(
        self, leaves: dict[int, set[int]], room: dict[int, int], busy: dict[int, int], step: int
    ) -> dict[int, set[int]]:
        left = {}
        for u, wanted in leaves.items():
            topics = {t for t in wanted if any(t in self.wanted[h] for h in self.hosts)}
            allowed = [h for h in self.hosts if room[h] > 0]
            for h, gain in self._cover(u, topics, allowed, busy, self.limit - self.degree[u]):
                self._link(u, h, gain)
                room[h] -= 1
                busy[h] += step
                topics = topics - self.wanted[h]
            if topics:
                left[u] = topics
        return left

    def _cover(self, u: int, topics: set[int], allowed: list[int], busy: dict[int, int], most: int) -> Cover:
        """The best of the covers that are begun with each of the best hosts."""

        def paid(h: int) -> Fraction:
            return Fraction(0) if self.price is None else self.price[min(u, h), max(u, h)]

        def key(topics: set[int], h: int) -> tuple[int, Fraction, int, int]:
            return -len(topics & self.wanted[h]), paid(h), busy[h], self.hosts.index(h)

        if most <= 0:
            return []
        useful = [h for h in allowed if topics & self.wanted[h]]
        starts = sorted(useful, key=lambda h: key(topics, h))[:TRIES]
        covers = []
        for start in starts:
            cover: list[tuple[int, int]] = []
            left, host = set(topics), start
            while len(cover) < most:
                cover.append((host, len(left & self.wanted[host])))
                left -= self.wanted[host]
                useful = [h for h in allowed if left & self.wanted[h]]
                if not useful:
                    break
                host = min(useful, key=lambda h: key(left, h))
            covers.append(
                (len(left), len(cover), sum(paid(h) for h, _ in cover), max(busy[h] for h, _ in cover), cover)
            )
        return min(covers, key=lambda found: found[:4], default=(0, 0, 0, 0, []))[4]

    def _repair(self, interest: Interest) -> None:
        self.members = nodes_by_topic(interest)
        topics = self.unmet
        best, least = self.links, math.inf
        for _ in range(1 + ROUNDS):
            self._join_pieces(sorted(topics, key=lambda t: (len(self.members[t]), t)))
            pieces = {t: self._pieces(t) for t in topics}
            split = [t for t in topics if len(pieces[t]) > 1]
            left = sum(len(pieces[t]) - 1 for t in split)
            if left < least:
                best, least = list(self.links), left
            full = [(t, min(p)) for t in split for p in pieces[t] if all(self._room(u) == 0 for u in p)]
            loose = self._loose_links([u for _, u in full])
            if not loose:
                break
            topics = {t for t, _ in full} | {t for k in loose for t in self._shared(*self.links[k][:2])}
            for k in loose:
                for u in self.links[k][:2]:
                    self.degree[u] -= 1
            self.links = [link for k, link in enumerate(self.links) if k not in loose]
        self.links = best

    def _room(self, u: int) -> int:
        return self.limit - self.degree[u]

    def _shared(self, u: int, v: int) -> set[int]:
        return self.wanted[u] & self.wanted[v]

    def _pieces(self, t: int) -> list[set[int]]:
        """The components of a topic, by their first members."""
        pieces = [{u} for u in sorted(self.members[t])]
        for u, v, _ in self.links:
            if t in self._shared(u, v):
                one, other = (next(p for p in pieces if end in p) for end in (u, v))
                if one is not other:
                    one |= other
                    pieces.remove(other)
        return sorted(pieces, key=min)

    def _join_pieces(self, topics: list[int]) -> None:
        for t in topics:
            while True:
                roomy = [p for p in self._pieces(t) if any(self._room(u) for u in p)]
                if len(roomy) < 2:
                    break
                first, second = sorted(roomy, key=lambda p: -sum(map(self._room, p)))[:2]
                one = min(second, key=lambda u: (-self._room(u), u))
                merged = {u: self._merged_by(one, u, topics) for u in first if self._room(u)}
                other = min(merged, key=lambda u: (-merged[u], -self._room(u), u))
                self._link(one, other, merged[other])

    def _merged_by(self, u: int, v: int, topics: list[int]) -> int:
        shared = self._shared(u, v) & set(topics)
        return sum(not any({u, v} <= p for p in self._pieces(t)) for t in shared)

    def _loose_links(self, needy: list[int]) -> set[int]:
        """Links of full nodes to take away: those that merged least, of equals those of popular topics, then first."""
        loose = set()
        for node in set(needy):
            own = [k for k, link in enumerate(self.links) if node in link[:2]]
            own.sort(
                key=lambda k: (self.links[k][2], -min(len(self.members[t]) for t in self._shared(*self.links[k][:2])))
            )
            loose |= set(own[: LOOSENED * needy.count(node)])
        return loose

    def _link(self, u: int, v: int, gain: int) -> None:
        self.links.append((min(u, v), max(u, v), gain))
        self.degree[u] += 1
        self.degree[v] += 1


def _price_of(nodes: list[int], price: dict[Link, Fraction]) -> dict[Link, Fraction]:
    """The prices by places among some of the nodes."""
    return {
        (i, j): price[min(nodes[i], nodes[j]), max(nodes[i], nodes[j])] for i, j in combinations(range(len(nodes)), 2)
    }


def _merged(components: Components, link: Link) -> int:
    contribution = components.contribution(link)
    components.add(link)
    return contribution
