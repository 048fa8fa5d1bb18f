"""How many topics each node wants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.model import InputError

Counts = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator, int, int, int], Counts]

# Partial 2016 gives the smallest and largest size and no exponent; 2 is ours.
POWER_LAW_EXPONENT = 2.0


def draw_sizes(rng: np.random.Generator, sizes: str, nodes: int, min_topics: int, max_topics: int | None) -> Counts:
    """A number of topics for each node, between min_topics and max_topics."""
    if sizes not in _DRAWS:
        raise InputError(f"sizes '{sizes}' is unknown; known are {', '.join(SIZES)}", "sizes")
    if sizes == "fixed" and max_topics not in (None, min_topics):
        raise InputError(
            f"max_topics is {max_topics} but sizes 'fixed' gives every node min_topics = {min_topics} topics; "
            "leave max_topics out, or give sizes 'uniform' or 'power-law'",
            *("max_topics", "min_topics", "sizes"),
        )
    if max_topics is None:
        if sizes != "fixed":
            raise InputError(
                f"sizes '{sizes}' needs max_topics; give a number of at least min_topics = {min_topics}",
                *("max_topics", "min_topics", "sizes"),
            )
        max_topics = min_topics
    return _DRAWS[sizes](rng, nodes, min_topics, max_topics)


def _fixed(rng: np.random.Generator, nodes: int, low: int, high: int) -> Counts:
    return np.full(nodes, low, np.int64)


def _uniform(rng: np.random.Generator, nodes: int, low: int, high: int) -> Counts:
    return rng.integers(low, high, size=nodes, endpoint=True)


def _power_law(rng: np.random.Generator, nodes: int, low: int, high: int) -> Counts:
    sizes = np.arange(low, high + 1)
    weights = sizes**-POWER_LAW_EXPONENT
    drawn: Counts = rng.choice(sizes, size=nodes, p=weights / weights.sum())
    return drawn


_DRAWS: dict[str, Draw] = {"fixed": _fixed, "uniform": _uniform, "power-law": _power_law}

SIZES: tuple[str, ...] = tuple(_DRAWS)
