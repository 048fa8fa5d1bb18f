"""One tree for all topics, kept while nodes come and go: few links change with each event.

Not from the papers; for NATS, which refuses circles. After an event the links that are left stay where their nodes
still share a topic, and the best ones that join what is in pieces come to them: those that share most topics, then the
lowest names. Constraints are kept as in `designers.forest`; if they allow no tree, topics stay in several components.

Cost of an event: for n nodes the pairs that share a topic, sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, MaintainerByName
from topicloom.designers.forest import spanning_forest, wanted_topics
from topicloom.model.constraints import Constraints
from topicloom.model.filters import PLAIN
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
        wants = wanted_topics(interest).astype(np.float64)
        shared = wants @ wants.T
        there = [(ids[a], ids[b]) for a, b in self._links if a in ids and b in ids]
        first = np.array(there, np.int32).reshape(-1, 2)
        limits = self._constraints.over(interest)
        forest = spanning_forest(interest, shared.astype(np.int64), shared, limits, first)
        self._links = {Link(names[u], names[v]): None for u, v in forest.ends.tolist()}

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
        pairs = ((node, topic) for node, topics in self._topics.items() for topic in topics)
        return Interest.from_pairs(pairs, filters=PLAIN)

    def overlay(self) -> Overlay:
        """The links as they are now, in the order they were added."""
        return Overlay.from_links(self.interest(), self._links)
