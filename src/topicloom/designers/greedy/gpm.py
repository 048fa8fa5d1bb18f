"""GPM: Partial 2016, section VII.

Rule: as `minmax-oda` with the same `matching`, stopped before a degree would pass `max_degree`.

Guarantee: merges at least 1 - e^(-1/6) = 0.154 of what the best links within that degree could (Lemma 4).

Cost: at most that of `minmax-oda`.

Symbols: d is `max_degree`, mu'(e|E) the contribution of e.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.base import MATCHING, MAX_DEGREE, MAXIMAL, TIES, Designer, Links, Watch
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
    """Links that raise the highest degree least, until it would pass `max_degree`."""
    return merging.even_links(
        interest,
        watch,
        max_degree=parameters["max_degree"],
        maximal=parameters["matching"] == MAXIMAL,
        constraints=constraints,
        prices=prices,
        ties=parameters.get("ties"),
    )


DESIGNER = Designer(
    name="gpm",
    paper="Partial 2016, section VII",
    rule="minmax-oda, stopped before a degree would pass max_degree",
    guarantee="merges at least 1 - e^(-1/6) = 0.154 of the best possible within that degree",
    build=build,
    parameters=(MAX_DEGREE, MATCHING, TIES),
    memory=merging.memory,
    total=merging.total,
    takes_constraints=True,
    takes_prices=True,
)
