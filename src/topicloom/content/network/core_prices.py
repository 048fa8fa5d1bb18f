"""Core prices as a metric: checked, or made one by shortest paths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topicloom.content.network.channels_by_user import Floats
from topicloom.errors import InputError
from topicloom.kernels.content.spanning import broken_triangle, close_prices

# Sums of prices that are equal on paper may differ in the last digits.
_SLACK = 1e-9


def require_metric(prices: Floats, names: Sequence[str], where: str) -> None:
    """Refuse prices of which one link costs more than the way around it; says which three brokers."""
    i, j, k = broken_triangle(prices, _SLACK)
    if i >= 0:
        raise InputError(
            f"the price from '{names[i]}' to '{names[k]}' is {prices[i, k]:g}, "
            f"and {prices[i, j] + prices[j, k]:g} through '{names[j]}'; "
            "prices must obey the triangle inequality, or be closed with close",
            "close",
            file=where,
        )


def closed(prices: Floats) -> Floats:
    """The prices of the cheapest paths, which are a metric."""
    shortest = np.array(prices, np.float64)
    close_prices(shortest)
    return shortest
