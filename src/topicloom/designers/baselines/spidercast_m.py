"""SpiderCastM: Partial 2016, section IX-A.

Rule: SpiderCast (see `spidercast`), where no node is given more than `max_degree` links, by itself or by others.

Guarantee: no degree passes `max_degree`. Coverage and connectivity are whatever that leaves room for.

Cost: as SpiderCast, less the nodes that are full: 1 to 2 seconds for 10,000 nodes with 697,000 subscriptions and
a `max_degree` of 4.

Symbols: the paper's d is `max_degree`.
"""

from __future__ import annotations

from topicloom.designers.base import MAX_DEGREE, Designer
from topicloom.designers.baselines import spidercast

DESIGNER = Designer(
    name="spidercast-m",
    paper="Partial 2016, section IX-A",
    rule="spidercast, where no node gets more than max_degree links",
    guarantee="no degree above max_degree",
    build=spidercast.build,
    parameters=(MAX_DEGREE, *spidercast.COVERAGE),
    random=True,
    memory=spidercast.memory,
)
