"""Low-ODA: Low 2010, section III.

Rule: e1 is the link that `minmax-oda` would add, e2 the one that `gm` would; add e1 if it contributes at least 1/k of
what e2 does, as algorithm 1 has it, else e2. With `strict` it must contribute more than that, as the text says.

Guarantee: topic-connected; links within O(k log(subscriptions)) of the fewest, highest degree within
O((nodes/k) log(subscriptions)) of the lowest (Theorems 1 and 2). With k = 1 every link added contributes as
much as any could, and with `strict` is that of `gm`; with large k the links are those of `minmax-oda`.

Cost: between `gm` and `minmax-oda`. The exact contribution of e2 is sought only where its bound would win.

Symbols: w(e) is the contribution of e.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.base import TIES, Designer, Links, Parameter, Watch
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
    """Links that keep both the number of links and the highest degree low, until topic-connected."""
    return merging.even_links(
        interest,
        watch,
        patience=float(parameters["k"]),
        strict=parameters["strict"],
        constraints=constraints,
        prices=prices,
        ties=parameters.get("ties"),
    )


DESIGNER = Designer(
    name="low-oda",
    paper="Low 2010, section III",
    rule="the link of minmax-oda if it contributes at least 1/k of that of gm, else that of gm",
    guarantee="links within O(k log(subscriptions)), highest degree within O((nodes/k) log(subscriptions)) of the best",
    build=build,
    parameters=(
        Parameter("k", float, "how much more a link must contribute to be worth a higher degree", 3),
        Parameter("strict", bool, "whether exactly k times as much is worth a higher degree, too", False),
        TIES,
    ),
    memory=merging.memory,
    total=merging.total,
    takes_constraints=True,
    takes_prices=True,
)
