"""The links of a fleet that has one tree for all topics, as NATS needs: few change with each event.

After an event the links that are left stay, and the best ones that join what is in pieces come to them. In a quiet time
the tree goes over to a fresh one, link by link, where it makes brokers pass on much more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import networkx
import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, Maintainer
from topicloom.churn.rebuild import links_by_name
from topicloom.churn.snapshot import checksum
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Interest
from topicloom.model.interest_changes import topics_by_node
from topicloom.model.overlay import Overlay

_DESIGNER = "tree"
# How much more than over a fresh tree brokers may pass on before it is tidied.
_SLACK = 1.1


class TreeMaintainer(Maintainer):
    """Keeps links a forest in which the nodes of every topic are connected, over others where they must be."""

    method = _DESIGNER

    def __init__(self, topics: Mapping[str, Iterable[str]], links: Iterable[Link], constraints: Constraints) -> None:
        self._topics = {node: frozenset(wanted) for node, wanted in topics.items()}
        self._constraints = constraints
        self._links = dict.fromkeys(links)
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
    def link_count(self) -> int:
        """How many links there are now."""
        return len(self._links)

    @property
    def node_count(self) -> int:
        """How many nodes there are now."""
        return len(self._topics)

    @property
    def max_degree(self) -> int:
        """The most links that a node has now."""
        return int(self.overlay().degrees.max(initial=0))

    def has(self, node: str) -> bool:
        """Whether a node is there."""
        return node in self._topics

    def topics_of(self, node: str) -> list[str]:
        """The topics that a node wants now."""
        return sorted(self._topics[node])

    def interest(self) -> Interest:
        """What all nodes want now."""
        return Interest.from_pairs((node, topic) for node, topics in self._topics.items() for topic in topics)

    def overlay(self) -> Overlay:
        """The links as they are now, in the order they were added."""
        return Overlay.from_links(self.interest(), self._links)


class TreeLinks:
    """How the links of a tree are designed, mended, tidied and kept."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints

    def fresh(self, interest: Interest) -> Maintainer:
        """Links designed anew."""
        return self.over(design(interest, _DESIGNER))

    def over(self, overlay: Overlay) -> Maintainer:
        """These links."""
        return TreeMaintainer(topics_by_node(overlay.interest), links_by_name(overlay), self._constraints)

    def tidying(self, overlay: Overlay, changes: int) -> list[list[str]]:
        """Steps that bring a tree nearer to a fresh one where brokers pass on much more; at most so many.

        A link of the fresh tree takes the place of one on the way between its ends, so it is a tree after every two.
        """
        fresh = self.fresh(overlay.interest).overlay()
        if carried_topics(overlay) <= _SLACK * carried_topics(fresh):
            return []
        tree, wanted = networkx.Graph(list(links_by_name(overlay))), links_by_name(fresh)
        steps: list[list[str]] = []
        for link in wanted:
            if tree.has_edge(*link) or len(steps) + 2 > changes or not networkx.has_path(tree, *link):
                continue
            way = networkx.shortest_path(tree, *link)
            gone = next(Link(*sorted(pair)) for pair in pairwise(way) if Link(*sorted(pair)) not in wanted)
            tree.remove_edge(*gone)
            tree.add_edge(*link)
            steps += [["remove", *gone], ["add", *link]]
        return steps

    def write(self, path: Path, links: Maintainer, decisions: int) -> None:
        """Keep links as they are after so many decisions; the file is on the disk when this returns."""
        overlay = links.overlay()
        content = {
            "decisions": decisions,
            "nodes": {node: links.topics_of(node) for node in overlay.interest.node_names},
            "links": list(links_by_name(overlay)),
        }
        text = json.dumps(content, ensure_ascii=False)
        with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n{checksum(text)}\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self, path: Path) -> tuple[Maintainer, int]:
        """The links that were kept, and after how many decisions; those that the fleet file allows no more are gone."""
        text, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n")
        if rest != checksum(text) + "\n":
            raise InputError(f"{path}: is damaged; its checksum is wrong")
        content = json.loads(text)
        links = [Link(*link) for link in content["links"]]
        return TreeMaintainer(content["nodes"], links, self._constraints), content["decisions"]


def carried_topics(overlay: Overlay) -> int:
    """How many topics the links of a tree carry, summed over the links."""
    tree = networkx.Graph(list(links_by_name(overlay)))
    wanted = topics_by_node(overlay.interest)
    everywhere: dict[str, int] = {}
    for topics in wanted.values():
        for topic in topics:
            everywhere[topic] = everywhere.get(topic, 0) + 1
    carried = 0
    for root in (min(island) for island in networkx.connected_components(tree)):
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
