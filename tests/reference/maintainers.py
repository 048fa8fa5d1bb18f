"""Slow twins of the maintainers, straight from Shadows, section V: names, sets, and every component searched anew."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

from reference.backups import SplitMix64, Topics, greedy_backups, primal_dual_backups
from reference.constrained import FREE, Rules

Link = tuple[str, str]
# Links added in their order, links removed by name, how many nodes were considered.
Change = tuple[list[Link], list[Link], int]


def link_of(u: str, v: str) -> Link:
    return (u, v) if u < v else (v, u)


def subscribers(topics: Topics, topic: str) -> set[str]:
    return {node for node, wanted in topics.items() if topic in wanted}


def pieces(topics: Topics, links: Iterable[Link], topic: str) -> list[set[str]]:
    """The components of a topic, found one node after the other."""
    rest = subscribers(topics, topic)
    around: dict[str, set[str]] = {node: set() for node in rest}
    for u, v in links:
        if u in rest and v in rest:
            around[u].add(v)
            around[v].add(u)
    found = []
    while rest:
        piece: set[str] = set()
        waiting = [rest.pop()]
        while waiting:
            node = waiting.pop()
            piece.add(node)
            waiting += around[node] & rest
            rest -= around[node]
        found.append(piece)
    return found


def broken_topics(topics: Topics, links: Iterable[Link]) -> list[str]:
    """The topics that are in several pieces."""
    links = list(links)
    return [topic for topic in sorted(set().union(*topics.values())) if len(pieces(topics, links, topic)) > 1]


def needed_for(topics: Topics, links: Iterable[Link], link: Link) -> list[str]:
    """The topics that would be in more pieces without a link."""
    u, v = link
    others = [other for other in links if other != link]
    return [
        topic
        for topic in sorted(topics[u] & topics[v])
        if not any({u, v} <= piece for piece in pieces(topics, others, topic))
    ]


class MaintainerTwin:
    """What `shadow` and `naive` do, event by event; `kind` is `naive`, or how backups are built.

    Where the rule is `gm` a link is always the best, where it is `minmax-oda` one that raises no highest degree.
    """

    def __init__(
        self,
        topics: Topics,
        links: Mapping[Link, int],
        kind: str,
        *,
        coverage: int,
        rho: float,
        rule: str = "low-oda",
        prune: bool,
        seed: int,
        rules: Rules = FREE,
        price: Mapping[Link, float] | None = None,
    ) -> None:
        self._rules = rules
        self._price = price or {}
        self._unmended: set[str] = set()
        self.topics = {node: set(wanted) for node, wanted in topics.items()}
        self.links = dict(links)
        self.backups: dict[str, list[str]] = {node: [] for node in topics}
        self._kind = kind
        self._coverage = coverage
        self._rho = rho
        self._rule = rule
        self._prune = prune
        self._draw = SplitMix64(seed)
        for node in sorted(topics):  # algorithm 6
            self._build_backups(node)

    def primaries(self) -> dict[str, list[str]]:
        """The definition: whoever has a node among its backups."""
        return {node: sorted(u for u in self.backups if node in self.backups[u]) for node in self.topics}

    def join(self, node: str, topics: set[str]) -> Change:
        self.topics[node] = set(topics)
        self.backups[node] = []
        first = self._link_at_once(node)
        added, shadow = self._connect(node, topics)
        return self._changed(first + added, [], shadow, stale=self._no_longer_alone(node, topics), topics=topics)

    def leave(self, node: str) -> Change:
        topics = self.topics[node]
        shadows = self._shadows_of_less(node, topics)
        removed = [link for link in self.links if node in link]
        for link in removed:
            del self.links[link]
        primaries = self.primaries()[node]
        del self.topics[node], self.backups[node]
        added = self._construct_low_edges(topics, combinations(sorted(shadows), 2))
        for primary in primaries:
            self.backups[primary].remove(node)
        return self._changed(added, removed, len(shadows), stale=primaries, topics=topics)

    def change(self, node: str, add: set[str], remove: set[str]) -> Change:
        shadow = 0
        added: list[Link] = []
        if remove:
            shadows = self._shadows_of_less(node, remove)
            self.topics[node] -= remove
            added += self._construct_low_edges(remove, combinations(sorted(shadows), 2))
            shadow += len(shadows)
        self.topics[node] |= add
        more, considered = self._connect(node, add)
        primaries = [u for u in self.primaries()[node] if self.topics[u] & remove]
        stale = primaries + self._no_longer_alone(node, add)
        considered = shadow + (considered if add else 0)
        return self._changed(added + more, [], considered, stale=stale, topics=add | remove)

    def _link_at_once(self, node: str, gone: Iterable[str] = ()) -> list[Link]:
        """The links of a newcomer that the rules say are there."""
        left, found = set(self.topics[node]), []
        for pair in self._rules.keep + self._rules.require:
            if node in pair and set(pair) <= self.topics.keys() - set(gone):
                other = pair[pair[0] == node]
                self.links[link_of(*pair)] = len(left & self.topics[other])
                left -= self.topics[other]
                found.append(link_of(*pair))
        return found

    def _is_allowed(self, link: Link, degree: Counter[str]) -> bool:
        """Whether a link may be built; one that is there whenever both ends are takes room before."""
        away = Counter(
            name
            for pair in self._rules.keep + self._rules.require
            for name in pair
            if not set(pair) <= self.topics.keys()
        )
        full = [name for name in link if degree[name] + away[name] >= self._rules.limit.get(name, math.inf)]
        return not full and self._rules.may_link(*link)

    def _mend_rest(self, topics: set[str]) -> list[Link]:
        """Links among all nodes of topics in pieces, these or those that were left so before."""
        concerned = {t for t in topics | self._unmended if len(pieces(self.topics, self.links, t)) > 1}
        nodes = sorted({node for topic in concerned for node in subscribers(self.topics, topic)})
        self._unmended = concerned
        return self._construct_low_edges(concerned, combinations(nodes, 2))

    def jointly(self, wanted: Mapping[str, set[str] | None]) -> Change:
        """Several events at once: nodes want these topics from now on, None where they are gone."""
        if not wanted:
            return [], [], 0
        before = {node: set(self.topics.get(node, ())) for node in wanted}
        given_up = {node: before[node] - (wanted[node] or set()) for node in wanted}
        taken_up = {node: (wanted[node] or set()) - before[node] for node in wanted}
        shadows: set[str] = set()
        for node in wanted:
            if given_up[node]:
                shadows |= {u for link in self.links if node in link for u in link if u != node}
                shadows |= set(self.backups[node])
        gone = {node for node in wanted if wanted[node] is None}
        removed = [link for link in self.links if gone & set(link)]
        for link in removed:
            del self.links[link]
        for node in wanted:
            if node in self.topics:
                self.topics[node] -= given_up[node]
        stale: set[str] = set()
        for topic in set().union(*taken_up.values()):
            if there := subscribers(self.topics, topic):
                shadows.add(min(there))
                stale |= there if len(there) == 1 else set()
        first: list[Link] = []
        for node, after in sorted(wanted.items()):
            if after is not None:
                comes = node not in self.topics
                self.topics[node] = set(after)
                self.backups.setdefault(node, [])
                first += self._link_at_once(node, gone) if comes else []
        for node in wanted:
            primaries = set(self.primaries()[node])
            stale |= primaries if node in gone else {u for u in primaries if self.topics[u] & given_up[node]}
        for node in gone:
            del self.topics[node], self.backups[node]
            for backups in self.backups.values():
                if node in backups:
                    backups.remove(node)
        for node in sorted(set(wanted) - gone):
            self._build_backups(node)
            if taken_up[node]:
                shadows |= {node, *self.backups[node]}
        concerned = set().union(*given_up.values(), *taken_up.values())
        wished = set().union(*taken_up.values())
        everybody = concerned if self._kind == "naive" else wished if self._coverage == 0 else set()
        shadows |= {u for topic in everybody for u in subscribers(self.topics, topic)}
        shadows &= set(self.topics)
        added = self._construct_low_edges(concerned, combinations(sorted(shadows), 2))
        later = sorted(stale & set(self.topics))
        return self._changed(first + added, removed, len(shadows), stale=later, topics=concerned)

    def _shadows_of_less(self, node: str, topics: set[str]) -> set[str]:
        """Algorithms 4 and 7: who may be linked once a node wants these topics no longer."""
        if self._kind == "naive":
            return {u for u in self.topics if u != node and self.topics[u] & topics}
        return {u for link in self.links if node in link for u in link if u != node} | set(self.backups[node])

    def _connect(self, node: str, topics: set[str]) -> tuple[list[Link], int]:
        """Algorithms 3, 9 and 10: link a node within topics that it has begun to want."""
        self._build_backups(node)
        if self._kind == "naive" or self._coverage == 0:
            shadows = {u for u in self.topics if u != node and self.topics[u] & topics}
        else:
            shadows = set(self.backups[node])
        return self._construct_low_edges(topics, {link_of(node, u) for u in shadows}), len(shadows) + 1

    def _no_longer_alone(self, node: str, topics: set[str]) -> list[str]:
        """Who wanted one of these topics alone until a node came."""
        wanting = [subscribers(self.topics, topic) - {node} for topic in topics]
        return sorted({u for others in wanting if len(others) == 1 for u in others})

    def _construct_low_edges(self, topics: set[str], potential: Iterable[Link]) -> list[Link]:
        """Algorithm 2: the best link, unless one that raises no highest degree contributes 1/rho of it."""
        candidates = list(potential)
        new: list[Link] = []
        while True:
            label = {
                (node, topic): number
                for topic in topics
                for number, piece in enumerate(pieces(self.topics, self.links, topic))
                for node in piece
            }
            degree = self._degrees()
            highest = max(degree.values(), default=0)
            best = low = (0, ("", ""))
            for link in sorted(candidates):
                if not self._is_allowed(link, degree):
                    continue
                u, v = link
                common = self.topics[u] & self.topics[v] & topics
                contribution = sum(label[u, topic] != label[v, topic] for topic in common)
                if contribution and self._is_better(contribution, link, best):
                    best = (contribution, link)
                spares = degree[u] < highest and degree[v] < highest
                if contribution and spares and self._is_better(contribution, link, low):
                    low = (contribution, link)
            if best[0] == 0:
                return new
            spares = {"gm": False, "minmax-oda": True, "low-oda": low[0] * self._rho >= best[0]}[self._rule]
            contribution, link = low if low[0] and spares else best
            self.links[link] = contribution
            new.append(link)

    def _is_better(self, contribution: int, link: Link, other: tuple[int, Link]) -> bool:
        """Links come by name, so that of equals the first stays."""
        paid, its = (self._price.get(one, 0) for one in (link, other[1]))
        return contribution > other[0] or (contribution == other[0] and paid < its)

    def _build_backups(self, node: str) -> None:
        self.backups[node] = []
        weight = self._degrees() + Counter(u for backups in self.backups.values() for u in backups)
        given = (node, self.topics, weight, self._coverage)
        if self._kind in ("greedy", "greedy-plain"):
            self.backups[node] = greedy_backups(*given, plain=self._kind == "greedy-plain")
        elif self._kind in ("primal-dual", "primal-dual-carried"):
            carried = self._kind == "primal-dual-carried"
            self.backups[node] = primal_dual_backups(*given, self._draw, carried=carried)

    def _degrees(self) -> Counter[str]:
        return Counter(u for link in self.links for u in link)

    def _changed(
        self, added: list[Link], removed: list[Link], shadow: int, stale: list[str], topics: set[str]
    ) -> Change:
        """Drop the links that no topic needs, oldest first; then, with the links settled, algorithm 8."""
        if self._rules != FREE:
            added = added + self._mend_rest(topics)
        staying = {link_of(*pair) for pair in self._rules.keep + self._rules.require}
        dropped = []
        if self._prune:
            for link in list(self.links):
                if link not in staying and not needed_for(self.topics, self.links, link):
                    del self.links[link]
                    dropped.append(link)
        for node in stale:
            self._build_backups(node)
        net = [link for link in added if link not in dropped]
        return net, sorted(removed + [link for link in dropped if link not in added]), shadow
