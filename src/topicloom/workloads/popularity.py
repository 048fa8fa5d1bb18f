"""How often each topic is chosen; the first topic is the most popular.

Weights are kept as logarithms: 1/i^alpha underflows to zero long before alpha stops making sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.model import InputError

Floats = npt.NDArray[np.float64]

# The exponential popularity of GM 2007, section 8: this share of the topics draws this share of the choices.
POPULAR_TOPICS = 0.1
POPULAR_CHOICES = 0.55

# From here on even the second topic is chosen with a chance of 2^-1000: the order of choice is fixed.
_LARGEST_ALPHA = 1000.0


def log_weights(popularity: str, topics: int, alpha: float) -> Floats:
    """Logarithm of each topic's weight; the weights need not add up to one."""
    if popularity not in _WEIGHTS:
        raise InputError(f"popularity '{popularity}' is unknown; known are {', '.join(POPULARITIES)}", "popularity")
    if not 0 < alpha <= _LARGEST_ALPHA:
        raise InputError(f"alpha is {alpha}; give a number above 0 and at most {_LARGEST_ALPHA:g}", "alpha")
    return _WEIGHTS[popularity](topics, alpha)


def probabilities(popularity: str, topics: int, alpha: float = 2.0) -> Floats:
    """Chance of each topic to be a node's first choice."""
    logs = log_weights(popularity, topics, alpha)
    weights = np.exp(logs - logs.max())
    chances: Floats = weights / weights.sum()
    return chances


def popular_topics(topics: int) -> int:
    """How many topics are the 10% most popular ones: topics/10 rounded, at least one."""
    return max(1, round(topics * POPULAR_TOPICS))


def _uniform(topics: int, alpha: float) -> Floats:
    return np.zeros(topics)


def _zipf(topics: int, alpha: float) -> Floats:
    weights: Floats = -alpha * np.log(np.arange(1, topics + 1, dtype=np.float64))
    return weights


def _exponential(topics: int, alpha: float) -> Floats:
    weights: Floats = -_decay(topics) * np.arange(1, topics + 1, dtype=np.float64)
    return weights


def _steep_exponential(topics: int, alpha: float) -> Floats:
    """Weights e^(-c r) of rank r, with the c that gives the last of the popular topics 0.45 of the first one's
    weight on a logarithm to base 10 taken for a natural one."""
    rank = np.arange(topics, dtype=np.float64)
    last_popular = max(1, math.ceil(POPULAR_TOPICS * (topics - 1)))
    weights: Floats = rank * (math.log(1 - POPULAR_CHOICES) * math.log(10) / last_popular)
    return weights


def _decay(topics: int) -> float:
    """The x for which weights e^(-x i) give the most popular topics their share; 0 for a single topic.

    That share, (1 - e^(-kx)) / (1 - e^(-nx)), rises with x from k/n, which is at most a half, and is above 0.63
    at x = 1. So bisection finds it.
    """
    if topics == 1:
        return 0.0
    popular = popular_topics(topics)
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if np.expm1(-popular * middle) / np.expm1(-topics * middle) < POPULAR_CHOICES:
            low = middle
        else:
            high = middle
    return high


_WEIGHTS: dict[str, Callable[[int, float], Floats]] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "exponential": _exponential,
    "steep-exponential": _steep_exponential,
}

POPULARITIES: tuple[str, ...] = tuple(_WEIGHTS)
