"""One tree for all topics, kept while nodes come and go: few links change with each event.

Not from the papers; for NATS, which refuses cycles. After an event a link stays if its nodes still share a topic, and
the best links that join components are added: those that share most topics, then the lowest names. Constraints are
kept, as `designers.forest` says; if they allow no tree, some topics stay in several components.

Cost of an event: for n nodes the pairs that share a topic, sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import SLACK, Change, LinkStep, MaintainerByName, links_by_name
from topicloom.designers.forest import spanning_forest, wanted_topics
from topicloom.model.constraints import Constraints
from topicloom.model.events import topics_by_node
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


class TreeMaintainer(MaintainerByName):
    """Keeps a forest in which the nodes of every topic are connected, over other nodes if necessary."""

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
        return self._apply_jointly({node: set(topics)})

    def _leave(self, node: str) -> Change:
        return self._apply_jointly({node: None})

    def _change(self, node: str, add: list[str], remove: list[str]) -> Change:
        return self._apply_jointly({node: (set(self._topics[node]) | set(add)) - set(remove)})

    def _apply_jointly(self, wanted: Mapping[str, set[str] | None]) -> Change:
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
        """Keep links between nodes that share a topic, and join components; most topics first, then by name."""
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
        """The parameters that it was made with: none."""
        return MappingProxyType({})

    @property
    def links(self) -> tuple[Link, ...]:
        """The links as they are now, in the order they were added."""
        return tuple(self._links)

    def freeze(self) -> dict[str, Any]:
        """Return all that `settings.thaw` needs to make a maintainer that goes on as this one."""
        nodes = {node: sorted(topics) for node, topics in sorted(self._topics.items())}
        return {"method": self.method, "nodes": nodes, "links": [list(link) for link in self._links]}

    def tidying(self, fresh: Overlay, most: int) -> list[LinkStep]:
        """Return steps towards a fresh tree, if the links of this one carry much more topics in all.

        A link of the fresh tree takes the place of one on the path between its ends, so it is a tree after every two.
        """
        import networkx

        if carried_topics(self.overlay()) <= SLACK * carried_topics(fresh):
            return []
        tree, wanted = networkx.Graph(list(self._links)), links_by_name(fresh)
        steps: list[LinkStep] = []
        for link in wanted:
            if tree.has_edge(*link) or len(steps) + 2 > most or not networkx.has_path(tree, *link):
                continue
            path = networkx.shortest_path(tree, *link)
            gone = next(Link(*sorted(pair)) for pair in pairwise(path) if Link(*sorted(pair)) not in wanted)
            tree.remove_edge(*gone)
            tree.add_edge(*link)
            steps += [LinkStep("remove", gone), LinkStep("add", link)]
        return steps

    def _restart(self, overlay: Overlay) -> None:
        self._links = links_by_name(overlay)
        self._mend()

    def interest(self) -> Interest:
        """Return what all nodes want now."""
        pairs = ((node, topic) for node, topics in self._topics.items() for topic in topics)
        return Interest.from_pairs(pairs, filters=PLAIN)

    def _overlay_now(self) -> Overlay:
        return Overlay.from_links(self.interest(), self._links)


def carried_topics(overlay: Overlay) -> int:
    """Return how many topics the links of a tree carry, summed over the links."""
    import networkx

    tree = networkx.Graph(list(links_by_name(overlay)))
    wanted = topics_by_node(overlay.interest)
    everywhere: dict[str, int] = {}
    for topics in wanted.values():
        for topic in topics:
            everywhere[topic] = everywhere.get(topic, 0) + 1
    carried = 0
    for root in (min(nodes) for nodes in networkx.connected_components(tree)):
        below: dict[str, dict[str, int]] = {}
        for node in networkx.dfs_postorder_nodes(tree, root):
            mine = below.setdefault(node, {})
            for topic in wanted.get(node, ()):
                mine[topic] = mine.get(topic, 0) + 1
        for parent, node in reversed(list(networkx.bfs_edges(tree, root))):
            carried += sum(count < everywhere[topic] for topic, count in below[node].items())
            for topic, count in below[node].items():
                below[parent][topic] = below[parent].get(topic, 0) + count
    return carried
