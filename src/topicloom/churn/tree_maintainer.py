"""One tree for all topics, kept while nodes come and go: few links change with each event.

Not from the papers; for NATS, which refuses circles. After an event the links that are left stay where their nodes
still share a topic, and the best ones that join what is in pieces come to them: those that share most topics, then the
lowest names. Constraints are kept; where they allow no tree, topics stay in pieces.

Cost of an event: for n nodes the pairs that share a topic, sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import networkx
import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, MaintainerByName
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


class TreeMaintainer(MaintainerByName):
    """Keeps links a forest in which the nodes of every topic are connected, over others where they must be."""

    method = "tree"
    _topics: dict[str, frozenset[str]]
    _links: dict[Link, None]

    def __init__(
        self, topics: Mapping[str, Iterable[str]], links: Iterable[tuple[str, str]], constraints: Constraints
    ) -> None:
        self._topics = {node: frozenset(wanted) for node, wanted in topics.items()}
        self._constraints = constraints
        self._links = {Link(*sorted(link)): None for link in links}
        self._mend()

    def _join(self, node: str, topics: list[str]) -> Change:
        return self._become({node: set(topics)})

    def _leave(self, node: str) -> Change:
        return self._become({node: None})

    def _change(self, node: str, add: list[str], remove: list[str]) -> Change:
        return self._become({node: (set(self._topics[node]) | set(add)) - set(remove)})

    def _become(self, wanted: Mapping[str, set[str] | None]) -> Change:
        for node, topics in wanted.items():
            if topics is None:
                del self._topics[node]
            else:
                self._topics[node] = frozenset(topics)
        before = self._links
        self._mend()
        added = tuple(link for link in self._links if link not in before)
        return Change(added, tuple(sorted(before.keys() - self._links.keys())), self.node_count)

    def _mend(self) -> None:
        """Keep links between nodes that share a topic, and join what is in pieces; most topics first, then by name."""
        interest = self.interest()
        names, ids = interest.node_names, interest.node_ids
        wants = np.zeros((interest.node_count, interest.topic_count), np.float32)
        wants[np.repeat(np.arange(len(names)), np.diff(interest.node_start)), interest.node_topics] = 1
        shared = wants @ wants.T
        source, target = np.nonzero(np.triu(shared, 1))
        order = np.lexsort((target, source, -shared[source, target]))
        best = (Link(names[u], names[v]) for u, v in zip(source[order].tolist(), target[order].tolist(), strict=True))
        stay = (
            link for link in self._links if link[0] in ids and link[1] in ids and shared[ids[link[0]], ids[link[1]]]
        )
        forest = networkx.utils.UnionFind(names)
        room = {name: self._constraints.limit(name) for name in names}
        always = [Link(*link) for link in self._constraints.links if link[0] in ids and link[1] in ids]
        self._links = {}
        for link in (*always, *stay, *best):
            apart = forest[link[0]] != forest[link[1]]
            if apart and min(room[link[0]], room[link[1]]) > 0 and not self._constraints.reasons_against(*link):
                forest.union(*link)
                self._links[link] = None
                for end in link:
                    room[end] -= 1

    @property
    def parameters(self) -> Mapping[str, int | float | str | bool]:
        """What it was made with."""
        return MappingProxyType({})

    @property
    def links(self) -> tuple[Link, ...]:
        """The links as they are now, in the order they were added."""
        return tuple(self._links)

    def interest(self) -> Interest:
        """What all nodes want now."""
        return Interest.from_pairs((node, topic) for node, topics in self._topics.items() for topic in topics)

    def overlay(self) -> Overlay:
        """The links as they are now, in the order they were added."""
        return Overlay.from_links(self.interest(), self._links)
