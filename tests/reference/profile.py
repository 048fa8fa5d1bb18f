"""The numbers of a profile straight from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

Pairs = set[tuple[str, str]]


def topics_per_node(pairs: Pairs) -> list[int]:
    return sorted(Counter(node for node, _ in pairs).values())


def nodes_per_topic(pairs: Pairs) -> list[int]:
    return sorted(Counter(topic for _, topic in pairs).values())


def ccdf(sizes: list[int]) -> dict[int, float]:
    return {size: sum(other >= size for other in sizes) / len(sizes) for size in sizes}


def quantile(sizes: list[int], share: float) -> int:
    return next(size for size in sizes if sum(other <= size for other in sizes) >= Fraction(str(share)) * len(sizes))


def share_of_largest(sizes: list[int], share: float) -> float:
    count = math.ceil(Fraction(str(share)) * len(sizes))
    return sum(sorted(sizes, reverse=True)[:count]) / sum(sizes)


def common_topics(pairs: Pairs) -> Counter[int]:
    """How many pairs of nodes share how many topics, of those that share any."""
    wanted: dict[str, set[str]] = {}
    for node, topic in pairs:
        wanted.setdefault(node, set()).add(topic)
    shared = (len(wanted[u] & wanted[v]) for u, v in combinations(wanted, 2))
    return Counter(count for count in shared if count)
