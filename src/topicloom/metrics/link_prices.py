"""What an overlay costs by the prices of its links, and how far messages go."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.cheapest_trees import cheapest_trees
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import PARTS, Prices


@dataclass(frozen=True)
class PriceMeasures:
    """What an overlay costs.

    - `price`: of all links together.
    - `tree_price`: of the cheapest trees of all topics that are connected, together.
    - `longest_way`: the highest price of a way through one of these trees.
    """

    price: float
    tree_price: float
    longest_way: float

    def to_dict(self) -> dict[str, float]:
        """The fields by name, ready for JSON."""
        return asdict(self)


def measure_prices(interest: Interest, overlay: Overlay, prices: Prices) -> PriceMeasures:
    """Measure what an overlay costs, whose nodes are those of the interest."""
    paid = prices.over(interest).of(overlay.source, overlay.target)
    source, target, rising = by_price(overlay.source, overlay.target, paid)
    rows = (interest.topic_start, interest.topic_nodes)
    *_, total, longest, _ = cheapest_trees(*rows, source, target, rising, interest.node_count)
    return PriceMeasures(int(paid.sum()) / PARTS, int(total.sum()) / PARTS, int(longest.max(initial=0)) / PARTS)


def by_price(source: Ids, target: Ids, paid: npt.NDArray[np.int64]) -> tuple[Ids, Ids, npt.NDArray[np.int64]]:
    """Links by rising price, of equals by their ids."""
    order = np.lexsort((target, source, paid))
    return source[order], target[order], paid[order]
