"""The papers' worst cases: interests on which an algorithm is known to do badly, and the overlays that do well."""

from __future__ import annotations

import random
from dataclasses import dataclass

from topicloom.model import Interest, Overlay


@dataclass(frozen=True)
class WorstCase:
    """An interest, and links by name that make it topic-connected with few of them."""

    interest: Interest
    good_links: list[tuple[str, str]]

    @property
    def good(self) -> Overlay:
        return Overlay.from_links(self.interest, self.good_links)


def cuboid(k: int, m: int, seed: int | None = None) -> WorstCase:
    """GM 2007, lemma 6.6: a cuboid of 2 x (2^k - 1) x m topics, each wanted by three nodes.

    Stwo_p wants the plane p. Sm_j wants the plane j. Sk_i wants 2^(i-1) columns in either of the planes p, all
    through the m planes j: the columns are split into sets of 1, 2, 4, ... A seed shuffles the names of the nodes.
    """
    roles = [f"two{p}" for p in range(2)] + [f"k{i}" for i in range(1, k + 1)] + [f"m{j}" for j in range(m)]
    name = dict(zip(roles, _names(len(roles), seed), strict=True))
    rows = []
    for p in range(2):
        for column in range(1, 2**k):
            for j in range(m):
                for role in (f"two{p}", f"k{column.bit_length()}", f"m{j}"):
                    rows.append((name[role], f"{p} {column} {j}"))
    good = [(name[f"two{p}"], name[role]) for p in range(2) for role in roles[2:]]
    return WorstCase(Interest.from_pairs(rows), good)


def hub(n: int, seed: int | None = None) -> WorstCase:
    """Low 2010, lemma 1: v_1 wants all of the n^2 topics t_ij, every other v_i wants t_ij and t_ji for all j.

    So t_ij is wanted by v_1, v_i and v_j. A seed shuffles the names of the nodes.
    """
    name = _names(n, seed)
    rows = [(name[v], f"{i} {j}") for i in range(n) for j in range(n) for v in {0, i, j}]
    return WorstCase(Interest.from_pairs(rows), [(name[0], name[v]) for v in range(1, n)])


def _names(count: int, seed: int | None) -> list[str]:
    names = [f"v{i:03}" for i in range(count)]
    if seed is not None:
        random.Random(seed).shuffle(names)
    return names
