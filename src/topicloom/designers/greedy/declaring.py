"""How greedy designers are declared: which links they add, and what their parameters mean to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from topicloom.designers.base import Designer, Links, Watch
from topicloom.designers.greedy import merging
from topicloom.model.constraints import ConstraintArrays
from topicloom.model.interest import Interest
from topicloom.model.prices import PriceArrays


def greedy_designer(
    *, evenly: bool = False, choices: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda given: {}, **described: Any
) -> Designer:
    """A designer that adds links of highest contribution, or those that raise the highest degree least.

    `choices` makes of its parameters what `merging.greedy_links`, or `merging.even_links`, is told besides; `described`
    is what else a `Designer` says of itself.
    """
    links: Callable[..., Links] = merging.even_links if evenly else merging.greedy_links

    def build(
        interest: Interest,
        parameters: Mapping[str, Any],
        rng: np.random.Generator,
        watch: Watch,
        constraints: ConstraintArrays | None = None,
        prices: PriceArrays | None = None,
    ) -> Links:
        known = {"constraints": constraints, "prices": prices, "ties": parameters.get("ties")}
        return links(interest, watch, **known, **choices(parameters))

    return Designer(
        build=build,
        memory=merging.memory,
        total=merging.total,
        takes_constraints=True,
        takes_prices=True,
        **described,
    )
