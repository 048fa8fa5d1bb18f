"""GM, folded: GM 2007, section 6.4.

Rule: run `gm` again on the links not used yet, `folds` times, each time from no links.

Guarantee: a topic whose every fold connects it stays connected after the loss of any `folds` - 1 links. A later fold
connects a topic as far as unused links allow: two subscribers have only one link between them.

Cost: `folds` times that of `gm`. The contribution of a link is what it merged in its own fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers import greedy
from topicloom.designers.contract import TIES, Designer, Links
from topicloom.model.constraints import NO_LIMITS, LinkLimits
from topicloom.model.interest import Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry.parameters import Parameter
from topicloom.registry.running import Watch


def build(
    interest: Interest,
    parameters: Mapping[str, Any],
    rng: np.random.Generator,
    watch: Watch,
    limits: LinkLimits = NO_LIMITS,
    prices: LinkPrices | None = None,
) -> Links:
    """Links of `folds` runs of greedy merge, no link twice."""
    links = Links(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32))
    for _ in range(parameters["folds"]):
        fold = greedy.greedy_links(
            interest, watch, without=links, limits=limits, prices=prices, ties=parameters.get("ties")
        )
        if len(fold.source) == 0:
            break
        limits = limits.after(fold.source, fold.target)
        source, target, contribution = (np.concatenate(columns) for columns in zip(links[:3], fold[:3], strict=True))
        links = Links(source, target, contribution)
    return links


DESIGNER = Designer(
    name="gm-fold",
    paper="GM 2007, section 6.4",
    rule="gm run again on the links not used yet, folds times",
    guarantee="a topic that every fold connects survives the loss of any folds - 1 links",
    build=build,
    parameters=(Parameter("folds", int, "how many times to run", 2), TIES),
    memory=greedy.memory,
    total=greedy.total,
    takes_constraints=True,
    takes_prices=True,
)
