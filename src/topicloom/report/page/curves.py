"""Lines over links and events, thinned to what a page can show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]

# How many points a line gets at most: more than a screen could show would only make the page heavy.
_POINTS = 300


class Binned(NamedTuple):
    """Values in so few groups that they can be drawn: where each group ends, its mean, lowest and highest."""

    at: Column
    mean: Column
    low: Column
    high: Column


def thinned(values: Column) -> tuple[npt.NDArray[np.int64], Column]:
    """Positions spread evenly from the first to the last value, and the values there."""
    at = np.linspace(0, len(values) - 1, min(len(values), _POINTS)).round().astype(np.int64)
    return at, values[at]


def binned(at: Column, values: Column) -> Binned:
    """Values in groups of neighbours of about equal size; as they are where they are few."""
    begins = np.unique(np.arange(min(_POINTS, len(values))) * len(values) // max(1, min(_POINTS, len(values))))
    sizes = np.diff([*begins, len(values)])
    ends = begins + sizes - 1
    return Binned(
        at[ends],
        np.add.reduceat(values, begins) / sizes,
        np.minimum.reduceat(values, begins),
        np.maximum.reduceat(values, begins),
    )


def first_reaching(curve: Column, share: float) -> int | None:
    """How many links it takes until the support is at least `share`; None where all of them are too few."""
    reached = np.flatnonzero(curve >= share)
    return int(reached[0]) if len(reached) else None
