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


def best(
    interest: Interest, components: Components, links: list[Link], price: dict[Link, Fraction], *, hashed: bool
) -> Step:
    """Most merged for the price, then the cheaper, then by the hash of the names or by ids; 0 if nothing merges."""
    names = interest.node_names
    merged = {link: components.contribution(link) for link in links}
    order = {
        link: (-count / price[link], price[link], link_hash(names[link[0]], names[link[1]]) if hashed else 0, link)
        for link, count in merged.items()
        if count
    }
    if not order:
        return 0, 0, 0
    u, v = min(order, key=order.__getitem__)
    return u, v, merged[u, v]


def gm(
    interest: Interest,
    price: dict[Link, Fraction],
    *,
    hashed: bool,
    rules: Rules = FREE,
    max_edges: float = math.inf,
    without: frozenset[Link] = frozenset(),
) -> list[Step]:
    """The best link until none merges."""
    components = Components(interest)
    steps = kept(interest, components, rules)
    candidates = [link for link in pairs(interest) if link not in without]
    while len(steps) < max_edges + len(rules.keep):
        step = best(interest, components, rules.allowed(interest, candidates, steps), price, hashed=hashed)
        if step[2] == 0:
            break
        steps.append(step)
        components.add(step[:2])
    return steps


def low_oda(
    interest: Interest,
    price: dict[Link, Fraction],
    k: Fraction | None = None,
    max_degree: int | None = None,
    *,
    hashed: bool,
    strict: bool = False,
    rules: Rules = FREE,
) -> list[Step]:
    """The best link that raises the highest degree least, unless another is worth k times as much; never without k."""
    components = Components(interest)
    if max_degree is not None:
        rules = rules.within(interest.node_names, max_degree)
    steps = kept(interest, components, rules)
    degree = [sum(node in step[:2] for step in steps) for node in range(interest.node_count)]
    while True:
        highest = max(degree, default=0)
        allowed = rules.allowed(interest, pairs(interest), steps)
        below = [(u, v) for u, v in allowed if max(degree[u], degree[v]) < highest]
        e1 = best(interest, components, below, price, hashed=hashed)
        e2 = best(interest, components, allowed, price, hashed=hashed)
        if e2[2] == 0:
            return steps
        chosen = e1 if e1[2] else e2
        if e1[2] and k is not None:
            one, two = k * e1[2] / price[e1[:2]], e2[2] / price[e2[:2]]
            chosen = e2 if two > one or (strict and two == one) else e1
        steps.append(chosen)
        components.add(chosen[:2])
        for node in chosen[:2]:
            degree[node] += 1


def gm_fold(interest: Interest, price: dict[Link, Fraction], folds: int, *, hashed: bool, rules: Rules) -> list[Step]:
    steps: list[Step] = []
    for _ in range(folds):
        used = frozenset((u, v) for u, v, _ in steps)
        fold = gm(interest, price, hashed=hashed, rules=rules, without=used)
        rules = rules.after(interest, fold)
        steps += fold
    return steps
