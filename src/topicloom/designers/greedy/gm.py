"""Greedy Merge: GM 2007, section 6.

Rule: add the link of highest contribution until none contributes.

Guarantee: topic-connected, with at most ln(subscriptions) times the fewest links possible (Lemma 6.5). The highest
degree may be as large as the number of nodes.

Cost: one popcount pass over all pairs, and about one more evaluation for every fourth pair. For sparse interests two
to eight passes over the pairs in each topic, and no memory but for the subscriptions and links.

Symbols: NODES[v][t] is the component of v in topic t, LINKCONTRIB[i] the links of contribution i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.base import TIES, Designer, Links, Watch
from topicloom.designers.greedy import merging
from topicloom.model.constraints import ConstraintArrays
from topicloom.model.interest import Interest
from topicloom.model.prices import PriceArrays


def build(
    interest: Interest,
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
    watch: Watch,
    constraints: ConstraintArrays | None = None,
    prices: PriceArrays | None = None,
) -> Links:
    """Links of highest contribution until topic-connected."""
    return merging.greedy_links(interest, watch, constraints=constraints, prices=prices, ties=parameters.get("ties"))


DESIGNER = Designer(
    name="gm",
    paper="GM 2007, section 6",
    rule="add the link of highest contribution until topic-connected",
    guarantee="links at most ln(subscriptions) times the fewest possible",
    build=build,
    parameters=(TIES,),
    memory=merging.memory_by_rows,
    total=merging.total,
    takes_constraints=True,
    takes_prices=True,
)
