"""Slow twin of the relief of the highest degrees: every way tried on sets of names, every piece searched anew."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations

from reference.backups import Topics
from reference.constrained import FREE, Rules
from reference.maintainers import Link, broken_topics, pieces

# The link that goes, and those that come in its place.
Relief = tuple[Link, list[Link]]


def relief(topics: Topics, links: Collection[Link], most: int, rules: Rules = FREE) -> Relief | None:
    """The link of a node of highest degree whose place fewest links can take; the first one of equals.

    A way with no more than one link is taken as soon as it is found.
    """
    degree = Counter(node for link in links for node in link)
    top = max(degree.values(), default=0)
    staying = {tuple(sorted(pair)) for pair in rules.keep + rules.require}
    best: Relief | None = None
    for node in sorted(node for node in degree if degree[node] == top):
        for link in sorted(
            (link for link in links if node in link), key=lambda link: [end for end in link if end != node]
        ):
            instead = None if link in staying else _instead_of(topics, set(links) - {link}, link, rules, top)
            if instead is not None and len(instead) <= most and (best is None or len(instead) < len(best[1])):
                best = link, instead
                if len(instead) <= 1:
                    return best
    return best


def _instead_of(topics: Topics, links: set[Link], gone: Link, rules: Rules, top: int) -> list[Link] | None:
    concerned = [topic for topic in broken_topics(topics, links) if topic in topics[gone[0]] & topics[gone[1]]]
    found: list[Link] = []
    while True:
        there = links | set(found)
        degree = Counter(node for link in there for node in link)
        apart = {topic: pieces(topics, there, topic) for topic in concerned}
        allowed = [
            link
            for link in combinations(sorted(topics), 2)
            if all(degree[node] < min(top - 1, rules.limit.get(node, math.inf)) for node in link)
            and rules.may_link(*link)
        ]
        best = max(allowed, key=lambda link: _joins(apart.values(), link), default=None)
        if best is None or not _joins(apart.values(), best):
            whole = all(any({*gone} <= piece for piece in apart[topic]) for topic in concerned)
            return found if whole else None
        found.append(best)


def _joins(apart: Iterable[list[set[str]]], link: Link) -> int:
    """In how many topics a link joins two pieces."""
    return sum(
        not any({*link} <= piece for piece in found) and sum(bool({*link} & piece) for piece in found) == 2
        for found in apart
    )
