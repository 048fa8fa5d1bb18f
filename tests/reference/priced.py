"""Slow twin of greedy merging by price: every link compared with every other at every step, by fractions."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

from reference.constrained import FREE, Rules
from reference.greedy import Components, Link, Step, kept, pairs
from topicloom.model import Interest

_MASK = (1 << 64) - 1


def name_hash(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest()[:8], "little")


def link_hash(a: str, b: str) -> int:
    """The end of SplitMix64."""
    z = name_hash(a) ^ name_hash(b)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def gm(
    interest: Interest,
    price: dict[Link, Fraction],
    *,
    hashed: bool,
    rules: Rules = FREE,
    max_edges: float = math.inf,
    without: frozenset[Link] = frozenset(),
) -> list[Step]:
    """Most merged for the price, then the cheaper, then by the hash of the names or by ids."""
    components = Components(interest)
    names = interest.node_names
    steps = kept(interest, components, rules)
    candidates = [link for link in pairs(interest) if link not in without]
    while len(steps) < max_edges + len(rules.keep):
        merged = {link: components.contribution(link) for link in rules.allowed(interest, candidates, steps)}
        order = {
            link: (-count / price[link], price[link], link_hash(names[link[0]], names[link[1]]) if hashed else 0, link)
            for link, count in merged.items()
            if count
        }
        if not order:
            break
        u, v = min(order, key=order.__getitem__)
        steps.append((u, v, merged[u, v]))
        components.add((u, v))
    return steps


def gm_fold(interest: Interest, price: dict[Link, Fraction], folds: int, *, hashed: bool, rules: Rules) -> list[Step]:
    steps: list[Step] = []
    for _ in range(folds):
        used = frozenset((u, v) for u, v, _ in steps)
        fold = gm(interest, price, hashed=hashed, rules=rules, without=used)
        rules = rules.after(interest, fold)
        steps += fold
    return steps
