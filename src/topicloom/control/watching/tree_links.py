"""The links of a fleet that has one tree for all topics, as NATS needs.

In a quiet time the tree goes over to a fresh one, link by link, where it makes brokers pass on much more.
"""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import networkx

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.rebuild import links_by_name
from topicloom.churn.snapshot import checksum
from topicloom.churn.tree_maintainer import TreeMaintainer
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


class TreeLinks:
    """How the links of a tree are designed, mended, tidied and kept."""

    def __init__(self, constraints: Constraints) -> None:
        constraints.require_forest()
        self._constraints = constraints

    def fresh(self, interest: Interest) -> Maintainer:
        """Links designed anew."""
        return self.over(design(interest, _DESIGNER, constraints=self._constraints))

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
