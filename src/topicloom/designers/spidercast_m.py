"""SpiderCastM: Partial 2016, section IX-A.

Rule: SpiderCast (see `spidercast`), where no node is given more than `max_degree` links, by itself or by others. With
`turns` "links" a node makes one link in its turn and the turns go round; once no node finds another link, `greedy` is
raised by one, until all nodes are full or have nobody left. So a node "runs the neighbor selection heuristics until
the node degree reaches the given maximum", as the paper has it.

Guarantee: no degree passes `max_degree`. Coverage and connectivity are whatever that leaves room for.

Cost: as SpiderCast, less the nodes that are full: 0.06 seconds for 10,000 nodes with 697,000 subscriptions and
a `max_degree` of 4. By links, for each one the sizes of a node's topics.

Symbols: the paper's d is `max_degree`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topicloom.designers import spidercast
from topicloom.designers.contract import MAX_DEGREE, Designer, DesignProblem, Links
from topicloom.kernels.coverage import cover_in_turns
from topicloom.model.interest import Interest
from topicloom.registry.parameters import Parameter

_LINKS = "links"
TURNS = Parameter(
    "turns",
    str,
    "what a node does in its turn: cover all its topics and be done, or make one link, again and again",
    "nodes",
    choices=("nodes", _LINKS),
)


def build(problem: DesignProblem, *, turns: str = "nodes", **parameters: int) -> Links:
    """Cover the topics of nodes in turn, within `max_degree`."""
    if turns == _LINKS:
        return spidercast.covered(cover_in_turns, problem, parameters, _room(problem.interest, parameters))
    return spidercast.build(problem, **parameters)


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most; those of SpiderCast, and by links who is linked with whom."""
    turns = 12 * 2 * _room(interest, parameters) if parameters["turns"] == _LINKS else 0
    return spidercast.memory(interest, parameters) + turns


def _room(interest: Interest, parameters: Mapping[str, Any]) -> int:
    nodes = interest.node_count
    most: int = min(parameters["max_degree"], max(nodes - 1, 0))
    return nodes * most // 2


DESIGNER = Designer(
    name="spidercast-m",
    paper="Partial 2016, section IX-A",
    rule="spidercast, where no node gets more than max_degree links",
    guarantee="no degree above max_degree",
    build=build,
    parameters=(MAX_DEGREE, *spidercast.COVERAGE, TURNS),
    random=True,
    memory=memory,
)
