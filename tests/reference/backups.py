"""Slow twins of the ways to choose backups, straight from Shadows, algorithms 11 and 12.

`weight` says what each node bears already, its links and its primaries, once the old backups are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

Topics = Mapping[str, set[str]]
_WORD = 2**64


class SplitMix64:
    """The generator of Steele, Lea and Flood; a call gives a whole number below a count."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def __call__(self, count: int) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) % _WORD
        z = self._state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % _WORD
        return (z ^ (z >> 31)) % count


def greedy_backups(
    node: str, topics: Topics, weight: Mapping[str, int], coverage: int, *, plain: bool = False
) -> list[str]:
    """Algorithm 11: again and again the node of least weight for each uncovered topic that it wants."""
    if plain:
        weight = dict.fromkeys(topics, 1)
    backups: list[str] = []
    for _ in range(coverage):
        rest = set(topics[node])
        while candidates := [u for u in topics if u != node and u not in backups and topics[u] & rest]:
            chosen = min(candidates, key=lambda u: (Fraction(weight[u], len(topics[u] & rest)), u))
            backups.append(chosen)
            rest -= topics[chosen]
    return backups


def primal_dual_backups(
    node: str,
    topics: Topics,
    weight: Mapping[str, int],
    coverage: int,
    draw: Callable[[int], int],
    *,
    carried: bool = False,
) -> list[str]:
    """Algorithm 12: a random uncovered topic takes the cheapest node that wants it; the others owe so much less.

    The paper leaves out whoever owes nothing any more, and would wait for ever where nobody else is left: here they
    come last, and a topic whose nodes are all chosen is left out. Where they are carried, what nodes owe after a cover
    is what they owe before the next.
    """
    backups: list[str] = []
    owed: dict[str, int] = {}
    for cover in range(coverage):
        if cover == 0 or not carried:
            owed = {u: weight[u] for u in topics if u != node and u not in backups}
        rest = sorted(topics[node])
        while rest:
            topic = rest[draw(len(rest))]
            candidates = [u for u in owed if topic in topics[u]]
            if not candidates:
                rest.remove(topic)
                continue
            owing = [u for u in candidates if owed[u] > 0]
            chosen = min(owing or candidates, key=lambda u: (owed[u], u))
            price = owed[chosen]
            for u in owing:
                owed[u] -= price
            del owed[chosen]
            backups.append(chosen)
            rest = [t for t in rest if t not in topics[chosen]]
    return backups
