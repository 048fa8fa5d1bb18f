"""How many topics each node wants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.model import InputError

Counts = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator, int, int, int, float], Counts]

# Sizes that take no max_topics, and what min_topics is for them.
_WITHOUT_MOST = {"fixed": "", "by-chance": "in the mean "}


def draw_sizes(
    rng: np.random.Generator,
    sizes: str,
    nodes: int,
    topics: int,
    min_topics: int,
    max_topics: int | None,
    exponent: float,
) -> Counts:
    """A number of topics for each node, of as many as there are: between min_topics and max_topics, or by chance.

    The exponent is that of a power law, shifted or not.
    """
    if not exponent < np.inf or exponent < 0:
        raise InputError(f"size_exponent is {exponent}; give a number, 0 or more", "size_exponent")
    if sizes not in SIZES:
        raise InputError(f"sizes '{sizes}' is unknown; known are {', '.join(SIZES)}", "sizes")
    if sizes in _WITHOUT_MOST and max_topics not in (None, min_topics):
        raise InputError(
            f"max_topics is {max_topics} but sizes '{sizes}' gives every node {_WITHOUT_MOST[sizes]}min_topics = "
            f"{min_topics} topics; leave max_topics out, or give sizes 'uniform' or 'power-law'",
            *("max_topics", "min_topics", "sizes"),
        )
    if sizes == "by-chance":
        return np.maximum(rng.binomial(topics, min_topics / topics, size=nodes), 1)
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


def _shifted_zipf(rng: np.random.Generator, nodes: int, low: int, high: int, exponent: float) -> Counts:
    weights = np.arange(1, high - low + 2) ** -exponent
    drawn: Counts = low + rng.choice(len(weights), size=nodes, p=weights / weights.sum())
    return drawn


_DRAWS: dict[str, Draw] = {
    "fixed": _fixed,
    "uniform": _uniform,
    "power-law": _power_law,
    "shifted-zipf": _shifted_zipf,
}

SIZES: tuple[str, ...] = (*_DRAWS, "by-chance")
