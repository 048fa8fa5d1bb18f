"""Random interests: GM 2007, section 8, and Partial 2016, section IX-B."""

from __future__ import annotations

from itertools import compress

import numpy as np
import numpy.typing as npt

from topicloom.files.limits import NODES, SUBSCRIPTIONS, TOPICS, require_at_most
from topicloom.model import Interest
from topicloom.workloads.popularity import Floats, log_weights
from topicloom.workloads.sizes import Counts, draw_sizes
from topicloom.workloads.whole_numbers import whole

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
