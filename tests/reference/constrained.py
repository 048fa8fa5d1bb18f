"""Constraints as plain sets and dicts, random ones, and which links they allow: one pair after the other."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from topicloom.model import Constraints, Interest, NodeRule

Link = tuple[int, int]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Rules:
    """What links may be built, by names; pairs both ways round."""

    limit: dict[str, int] = field(default_factory=dict)
    deaf: frozenset[str] = frozenset()
    region: dict[str, str] = field(default_factory=dict)
    forbid: frozenset[Pair] = frozenset()
    forbid_regions: frozenset[Pair] = frozenset()
    keep: tuple[Pair, ...] = ()
    require: tuple[Pair, ...] = ()

    def may_link(self, a: str, b: str) -> bool:
        if {(a, b), (b, a)} & self.forbid or (a in self.deaf and b in self.deaf):
            return False
        regions = self.region.get(a), self.region.get(b)
        return not {regions, regions[::-1]} & self.forbid_regions

    def links(self, interest: Interest) -> list[Link]:
        """The links that are there from the start, as ids."""
        names = interest.node_names
        return [(names.index(min(pair)), names.index(max(pair))) for pair in self.keep + self.require]

    def allowed(self, interest: Interest, links: Iterable[Link], steps: Sequence[tuple[int, ...]]) -> list[Link]:
        """Those of the links that may be built after the steps."""
        names = interest.node_names
        degree = Counter(node for step in steps for node in step[:2])
        free = [degree[u] < self.limit.get(name, math.inf) for u, name in enumerate(names)]
        return [(u, v) for u, v in links if free[u] and free[v] and self.may_link(names[u], names[v])]

    def after(self, interest: Interest, steps: Sequence[tuple[int, ...]]) -> Rules:
        """What is left of the limits after the steps; nothing is there from the start."""
        degree = Counter(interest.node_names[node] for step in steps for node in step[:2])
        limit = {name: most - degree[name] for name, most in self.limit.items()}
        return replace(self, limit=limit, keep=(), require=())

    def within(self, names: Iterable[str], most: int) -> Rules:
        """The same with no more than so many links of any node."""
        return replace(self, limit={name: min(most, self.limit.get(name, most)) for name in names})

    def broken(self, links: Iterable[Pair]) -> list[object]:
        """What links break."""
        pairs = list(links)
        degree = Counter(name for pair in pairs for name in pair)
        return [pair for pair in pairs if not self.may_link(*pair)] + [
            name for name, count in degree.items() if count > self.limit.get(name, math.inf)
        ]

    def constraints(self) -> Constraints:
        """The same for what is tested."""
        names = {*self.limit, *self.deaf, *self.region}
        rules = {name: NodeRule(self.limit.get(name), name not in self.deaf, self.region.get(name)) for name in names}
        return Constraints(
            rules,
            forbid=tuple(sorted(self.forbid)),
            forbid_regions=tuple(sorted(self.forbid_regions)),
            keep=self.keep,
            require=self.require,
        )


FREE = Rules()


def random_rules(names: Sequence[str], dice: random.Random) -> Rules:
    """Rules of any kind, or of several, which do not contradict each other."""
    regions = ["eu", "us", "ap"][: dice.randint(1, 3)]
    pairs = [(a, b) for a in names for b in names if a < b]
    rules = Rules(
        {name: dice.randint(1, 5) for name in names if dice.random() < 0.6} if dice.random() < 0.7 else {},
        frozenset(name for name in names if dice.random() < 0.4) if dice.random() < 0.5 else frozenset(),
        {name: dice.choice(regions) for name in names if dice.random() < 0.8},
        frozenset(pair for pair in pairs if dice.random() < 0.15) if dice.random() < 0.5 else frozenset(),
    )
    met = sorted({(rules.region[a], rules.region[b]) for a, b in pairs if a in rules.region and b in rules.region})
    if met and dice.random() < 0.4:
        rules = replace(rules, forbid_regions=frozenset({dice.choice(met)}))
    there: list[Pair] = []
    for pair in dice.sample(pairs, min(len(pairs), dice.randint(0, 4))):
        if not rules.broken([*there, pair]):
            there.append(pair)
    cut = dice.randint(0, len(there))
    return replace(rules, keep=tuple(there[:cut]), require=tuple(there[cut:]))
