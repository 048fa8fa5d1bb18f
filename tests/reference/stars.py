"""CD-ODA, CD-ODA-I and CD-ODA-II straight from their rule."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest

Score = Callable[[int, list[set[int]]], Fraction]


def neighbours(u: int, topics: list[set[int]]) -> Fraction:
    return Fraction(len(set().union(*topics)))


def weighted_neighbours(u: int, topics: list[set[int]]) -> Fraction:
    return Fraction(sum(len(nodes) for nodes in topics))


def density(u: int, topics: list[set[int]]) -> Fraction:
    return weighted_neighbours(u, topics) / neighbours(u, topics)


def stars(interest: Interest, score: Score) -> list[tuple[int, int]]:
    wanted, members = topics_by_node(interest), nodes_by_topic(interest)
    remaining = {t for t, nodes in enumerate(members) if len(nodes) >= 2}
    links: list[tuple[int, int]] = []
    while remaining:
        scores = {u: score(u, [members[t] for t in own & remaining]) for u, own in enumerate(wanted) if own & remaining}
        centre = min(scores, key=lambda u: (-scores[u], u))
        topics = wanted[centre] & remaining
        for v in sorted(set().union(*(members[t] for t in topics)) - {centre}):
            link = (min(centre, v), max(centre, v))
            if link not in links:
                links.append(link)
        remaining -= topics
    return links
