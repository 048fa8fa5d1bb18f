"""SpiderCastM: Partial 2016, section IX-A.

Rule: SpiderCast (see `spidercast`), where no node is given more than `max_degree` links, by itself or by others. With
`turns` "links" a node makes one link in its turn and the turns go round; once no node finds another link, `greedy` is
raised by one, until all nodes are full or have no other node left. So a node "runs the neighbor selection heuristics
until the node degree reaches the given maximum", as the paper has it.

Guarantee: no degree passes `max_degree`. Nothing is known of coverage and connectivity.

Cost: as SpiderCast, less the nodes that are full: 0.06 seconds for 10,000 nodes with 697,000 subscriptions and
a `max_degree` of 4. By links, gains are counted anew for each one.

Symbols: the paper's d is `max_degree`.
"""

from __future__ import annotations

from topicloom.designers import spidercast
from topicloom.designers.contract import MAX_DEGREE, Designer
from topicloom.registry.parameters import Parameter

TURNS = Parameter(
    "turns",
    str,
    "what a node does in its turn: cover all its topics and be done, or make one link, again and again",
    "nodes",
    choices=("nodes", spidercast.LINKS),
)

DESIGNER = Designer(
    name="spidercast-m",
    paper="Partial 2016, section IX-A",
    rule="spidercast, where no node gets more than max_degree links",
    guarantee="no degree above max_degree",
    build=spidercast.build,
    parameters=(MAX_DEGREE, *spidercast.COVERAGE, TURNS),
    random=True,
    memory=spidercast.memory,
)
