"""Random interests by popularity of topics and sizes of nodes: GM 2007, section 8, and Partial 2016, section IX-B.

The first topic is the most popular. Weights of topics are logarithms: 1/i^alpha underflows to zero at an alpha that
still makes sense.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import compress

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.io.tables import NODES, SUBSCRIPTIONS, TOPICS, require_at_most
from topicloom.model import Interest


def whole(name: str, value: int, low: int, high: int | None = None, allowed: str | None = None) -> int:
    """The value as an int, or an InputError that says what is allowed."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        if allowed is None:
            allowed = f"of at least {low}" if number < low else f"of at most {high:,}"
        raise InputError(f"{name} is {value}; give a whole number {allowed}", name, "min_topics")
    return number


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


def _uniform_popularity(topics: int, alpha: float) -> Floats:
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
    "uniform": _uniform_popularity,
    "zipf": _zipf,
    "exponential": _exponential,
    "steep-exponential": _steep_exponential,
}

POPULARITIES: tuple[str, ...] = tuple(_WEIGHTS)


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


def _uniform_sizes(rng: np.random.Generator, nodes: int, low: int, high: int, exponent: float) -> Counts:
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
    "uniform": _uniform_sizes,
    "power-law": _power_law,
    "shifted-zipf": _shifted_zipf,
}

SIZES: tuple[str, ...] = (*_DRAWS, "by-chance")


Ids = npt.NDArray[np.int32]

# Keys drawn at a time: 8 MB of them, so memory does not grow with nodes x topics.
_BLOCK = 1 << 20


def synthetic(
    nodes: int,
    topics: int,
    *,
    popularity: str = "uniform",
    alpha: float = 2.0,
    sizes: str = "fixed",
    min_topics: int,
    max_topics: int | None = None,
    size_exponent: float = 2.0,
    seed: int = 0,
) -> Interest:
    """A random interest: each node draws a number of topics, then that many different topics by popularity.

    A node draws its topics one after the other without replacement, each with a chance in proportion to the
    popularity of the topics that it does not have yet. Names are zero-padded, `n0001` and `t0001`, so that their
    order is the order of ids; `t0001` is the most popular topic. Topics that nobody drew do not appear.

    Args:
        nodes: How many nodes.
        topics: How many topics there are to choose from.
        popularity: `uniform`; `zipf`, where topic i has weight 1/i^alpha; or `exponential`, where topic i has
            weight q^i, with q such that a node's first choice is one of the 10% most popular topics (topics/10
            rounded, at least one) with a chance of 0.55; or `steep-exponential`, where q is such that it is one of
            them with a chance of about 0.84. A single topic is always chosen.
        alpha: The exponent of `zipf`: 0.5 in GM 2007, 2.0 in Partial 2016. The others do not use it.
        sizes: `fixed` gives every node `min_topics` topics; `uniform` draws every size from `min_topics` to
            `max_topics` alike; `power-law` draws size s with weight 1/s^size_exponent; `shifted-zipf` with weight
            1/(s - min_topics + 1)^size_exponent; `by-chance` lets every node take each topic with the same chance,
            min_topics of them in the mean and at least one.
        min_topics: The fewest topics of a node, or `by-chance` the mean.
        max_topics: The most topics of a node; not needed where sizes are fixed or by chance.
        size_exponent: The exponent of `power-law`, which Shadows does not give, and of `shifted-zipf`. The others do
            not use it.
        seed: The same seed gives the same interest.
    """
    nodes = whole("nodes", nodes, 1, NODES)
    topics = whole("topics", topics, 1, TOPICS)
    min_topics = whole("min_topics", min_topics, 1, topics, f"from 1 to the number of topics, {topics}")
    if max_topics is not None:
        allowed = f"from min_topics, {min_topics}, to the number of topics, {topics}"
        max_topics = whole("max_topics", max_topics, min_topics, topics, allowed)
    require_at_most(nodes * min_topics, SUBSCRIPTIONS, "subscriptions", "nodes", "min_topics")
    weights = log_weights(popularity, topics, alpha)
    rng = np.random.default_rng(whole("seed", seed, 0))
    counts = draw_sizes(rng, sizes, nodes, topics, min_topics, max_topics, float(size_exponent))
    chosen_by, chosen = choose_topics(rng, weights, counts)
    drawn = np.bincount(chosen, minlength=topics) > 0
    ids = np.cumsum(drawn, dtype=np.int32) - 1
    topic_names = tuple(compress(_names("t", topics), drawn))
    return Interest.from_ids(_names("n", nodes), topic_names, chosen_by, ids[chosen])


def choose_topics(rng: np.random.Generator, log_weight: Floats, counts: Counts) -> tuple[Ids, Ids]:
    """Draw counts[u] different topics for each node u; give the pairs of node and topic.

    If every topic gets a key Exp/weight, the topics in order of rising keys are a draw without replacement
    (Efraimidis and Spirakis 2006). Nodes are taken in order of their sizes, so that a block of them shares one
    partition at its largest size.
    """
    topics = len(log_weight)
    order = np.argsort(counts, kind="stable").astype(np.int32)
    chosen = np.empty(counts.sum(), np.int32)
    filled = 0
    rows = max(1, _BLOCK // topics)
    for begin in range(0, len(order), rows):
        wanted = counts[order[begin : begin + rows]]
        keys = rng.standard_exponential((len(wanted), topics))
        with np.errstate(divide="ignore"):  # a key of zero may become -inf: it still comes first
            np.log(keys, out=keys)
        keys -= log_weight
        picked = _smallest(keys, wanted)
        chosen[filled : filled + len(picked)] = picked
        filled += len(picked)
    return np.repeat(order, counts[order]), chosen


def _smallest(keys: Floats, wanted: Counts) -> npt.NDArray[np.int64]:
    """Columns of the wanted[i] smallest keys of each row i, row after row."""
    most = int(wanted.max())
    columns = np.argpartition(keys, most - 1, axis=1)[:, :most]
    if wanted.min() < most:
        by_key = np.argsort(np.take_along_axis(keys, columns, axis=1), axis=1)
        columns = np.take_along_axis(columns, by_key, axis=1)
    return columns[np.arange(most) < wanted[:, None]]


def _names(letter: str, count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"{letter}{i:0{width}}" for i in range(1, count + 1))
