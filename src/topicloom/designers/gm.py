"""Greedy Merge: GM 2007, section 6.

Rule: add the link of highest contribution until none contributes.

Guarantee: topic-connected, with at most ln(subscriptions) times the fewest links possible (Lemma 6.5). The highest
degree may be as large as the number of nodes.

Cost: one popcount pass over all pairs, and about one more evaluation for every fourth pair. For sparse interests two
to eight passes over the pairs in each topic, and no memory but for the subscriptions and links.

Symbols: NODES[v][t] is the component of v in topic t, LINKCONTRIB[i] the links of contribution i.
"""

from __future__ import annotations

from topicloom.designers.contract import TIES
from topicloom.designers.greedy import greedy_designer

DESIGNER = greedy_designer(
    name="gm",
    paper="GM 2007, section 6",
    rule="add the link of highest contribution until topic-connected",
    guarantee="links at most ln(subscriptions) times the fewest possible",
    parameters=(TIES,),
)
