"""GM, folded: GM 2007, section 6.4.

Rule: run `gm` again on the links not used yet, `folds` times, each time from no links.

Guarantee: a topic whose every fold connects it stays connected after the loss of any `folds` - 1 links. A later fold
connects a topic as far as unused links allow: two subscribers have only one link between them.

Cost: `folds` times that of `gm`. The contribution of a link is what it merged in its own fold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topicloom.designers.contract import CONSTRAINTS, PRICES, TIES, Designer, DesignProblem, Links
from topicloom.designers.gm import greedy_merge
from topicloom.designers.greedy import Greedy, greedy_bytes, greedy_merges
from topicloom.registry.parameters import Parameter


def build(problem: DesignProblem, *, folds: int, ties: str | None = None) -> Links:
    """The links of `folds` runs of Greedy Merge, no link twice."""
    links = Links(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32))
    for _ in range(folds):
        fold = greedy_merge(Greedy.of(problem, ties, without=links))
        if len(fold.source) == 0:
            break
        problem = replace(problem, limits=problem.limits.after(fold.source, fold.target))
        # The first fold merges all that allowed links can merge.
        links = Links.joined([links, fold])._replace(merged=links.merges or fold.merges)
    return links


DESIGNER = Designer(
    name="gm-fold",
    paper="GM 2007, section 6.4",
    rule="gm run again on the links not used yet, folds times",
    guarantee="a topic that every fold connects survives the loss of any folds - 1 links",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(Parameter("folds", int, "how many times to run", 2), TIES),
    memory=greedy_bytes,
    total=greedy_merges,
)
