"""How many topics each node wants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.model import InputError

Counts = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator, int, int, int, float], Counts]


def draw_sizes(
    rng: np.random.Generator, sizes: str, nodes: int, min_topics: int, max_topics: int | None, exponent: float
) -> Counts:
    """A number of topics for each node, between min_topics and max_topics; the exponent is that of a power law."""
    if not exponent < np.inf or exponent < 0:
        raise InputError(f"size_exponent is {exponent}; give a number, 0 or more", "size_exponent")
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
    return _DRAWS[sizes](rng, nodes, min_topics, max_topics, exponent)


def _fixed(rng: np.random.Generator, nodes: int, low: int, high: int, exponent: float) -> Counts:
    return np.full(nodes, low, np.int64)


def _uniform(rng: np.random.Generator, nodes: int, low: int, high: int, exponent: float) -> Counts:
    return rng.integers(low, high, size=nodes, endpoint=True)


def _power_law(rng: np.random.Generator, nodes: int, low: int, high: int, exponent: float) -> Counts:
    sizes = np.arange(low, high + 1)
    weights = sizes**-exponent
    drawn: Counts = rng.choice(sizes, size=nodes, p=weights / weights.sum())
    return drawn


_DRAWS: dict[str, Draw] = {"fixed": _fixed, "uniform": _uniform, "power-law": _power_law}

SIZES: tuple[str, ...] = tuple(_DRAWS)
