"""GPA: Partial 2016, section V.

Rule: as `gm`, stopped at `max_edges` links. The paper's loop as printed would add one link too many.

Guarantee: merges at least 1 - 1/e = 0.632 of what the best `max_edges` links could (Lemma 1).

Cost: at most that of `gm`.

Symbols: m is `max_edges`, mu'(e|E) the contribution of e, TcoSuppR(E) the support.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.base import MAX_EDGES, TIES, Designer, Links, Watch
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
    """Links of highest contribution, `max_edges` of them at most."""
    return merging.greedy_links(
        interest,
        watch,
        max_edges=parameters["max_edges"],
        constraints=constraints,
        prices=prices,
        ties=parameters.get("ties"),
    )


DESIGNER = Designer(
    name="gpa",
    paper="Partial 2016, section V",
    rule="gm, stopped at max_edges links",
    guarantee="merges at least 1 - 1/e = 0.632 of the best possible with that many links",
    build=build,
    parameters=(MAX_EDGES, TIES),
    memory=merging.memory_by_rows,
    total=merging.total,
    takes_constraints=True,
    takes_prices=True,
)
