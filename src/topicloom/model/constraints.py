"""Which links may be built: limits on degrees, forbidden pairs, and links that are kept or required."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.model.interest import Ids, Interest

Pair = tuple[str, str]
_PAIRS = ("forbid", "forbid_regions", "keep", "require")

# More links than any node can have.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class NodeRule:
    """Rules for a node: its most links (None is no limit), whether others can connect to it, and its region."""

    max_links: int | None = None
    accepts: bool = True
    region: str | None = None


@dataclass(frozen=True)
class Constraints:
    """Which links a designer or maintainer may build.

    Args:
        nodes: the rule of each node by name. others: that of all other nodes.
        forbid: pairs of nodes that may not be linked. forbid_regions: the same for pairs of regions; a region may be
            paired with itself. Two nodes that both accept no connections may not be linked either.
        keep: links that exist and stay. They come first and do not count towards a budget of links.
        require: links that must be built. They come next.
    """

    nodes: Mapping[str, NodeRule] = field(default_factory=lambda: MappingProxyType({}))
    others: NodeRule = NodeRule()
    forbid: tuple[Pair, ...] = ()
    forbid_regions: tuple[Pair, ...] = ()
    keep: tuple[Pair, ...] = ()
    require: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        for name in _PAIRS:
            object.__setattr__(self, name, tuple(dict.fromkeys(_sorted(pair) for pair in getattr(self, name))))
        kept = set(self.keep)
        object.__setattr__(self, "require", tuple(pair for pair in self.require if pair not in kept))
        self._check()

    @property
    def empty(self) -> bool:
        """Whether any link may be built and none has to be."""
        rules = (*self.nodes.values(), self.others)
        pairs = (self.forbid, self.forbid_regions, self.keep, self.require)
        return not any(pairs) and all(rule.accepts and rule.max_links is None for rule in rules)

    def _check(self) -> None:
        for name, rule in (*self.nodes.items(), ("others", self.others)):
            limit = rule.max_links
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
                raise InputError(f"max_links of '{name}' must be a whole number, 1 or more, not {limit!r}")
        regions = {rule.region for rule in (*self.nodes.values(), self.others)} - {None}
        for pair in self.forbid_regions:
            for region in pair:
                if region not in regions:
                    known = ", ".join(sorted(map(str, regions))) or "none"
                    raise InputError(f"forbid names the region '{region}', which no broker has; known are {known}")
        for word, pairs in (("forbid", self.forbid), ("keep", self.keep), ("require", self.require)):
            for a, b in pairs:
                if a == b:
                    raise InputError(f"{word} names '{a}' twice; a link needs two nodes")
        for a, b in self.links:
            if reasons := self.reasons_against(a, b):
                word = "keep" if (a, b) in self.keep else "require"
                raise InputError(f"{word} '{a}' - '{b}' is not allowed: {reasons[0]}")
        for name, count in Counter(name for pair in self.links for name in pair).items():
            limit = self.rule(name).max_links
            if limit is not None and count > limit:
                raise InputError(f"max_links of '{name}' is {limit}, but keep and require name {count} links of it")

    @property
    def links(self) -> tuple[Pair, ...]:
        """The links of every overlay: those that are kept, then those that are required."""
        return self.keep + self.require

    @cached_property
    def text(self) -> str:
        """A text that is the same for equal constraints; `from_text` reads it."""
        rules = {name: asdict(rule) for name, rule in self.nodes.items()}
        pairs = {name: sorted(getattr(self, name)) for name in _PAIRS}
        return json.dumps({"nodes": rules, "others": asdict(self.others), **pairs}, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Constraints:
        """Constraints from their `text`."""
        given = json.loads(text)
        rules = {name: NodeRule(**rule) for name, rule in given["nodes"].items()}
        pairs = {name: tuple(map(tuple, given[name])) for name in _PAIRS}
        return cls(MappingProxyType(rules), NodeRule(**given["others"]), **pairs)

    def rule(self, node: str) -> NodeRule:
        """The rule of a node."""
        return self.nodes.get(node, self.others)

    def limit(self, node: str) -> int:
        """The most links of a node."""
        limit = self.rule(node).max_links
        return UNLIMITED if limit is None else min(limit, UNLIMITED)

    def reasons_against(self, a: str, b: str) -> list[str]:
        """The constraints that forbid a link of two nodes, whatever other links they have."""
        pair = _sorted((a, b))
        one, two = self.rule(a), self.rule(b)
        reasons = [f"forbid '{pair[0]}' - '{pair[1]}'"] if pair in self._forbidden else []
        if one.region is not None and two.region is not None:
            regions = _sorted((one.region, two.region))
            reasons += [f"forbid {regions[0]} - {regions[1]}"] if regions in self._forbidden_regions else []
        if not one.accepts and not two.accepts:
            reasons.append(f"neither '{pair[0]}' nor '{pair[1]}' accepts connections")
        return reasons

    def broken_by(self, links: Iterable[Pair]) -> list[str]:
        """The constraints that links break, one text for each pair or node; missing links break none."""
        found = []
        degree: Counter[str] = Counter()
        for a, b in links:
            degree.update((a, b))
            if reasons := self.reasons_against(a, b):
                found.append(reasons[0] if reasons[0].startswith("neither") else f"'{a}' - '{b}' ({reasons[0]})")
        for name, count in sorted(degree.items()):
            if count > self.limit(name):
                found.append(f"'{name}' has {count} links (max_links {self.limit(name)})")
        return found

    def require_kept(self, links: Iterable[Pair], where: str) -> None:
        """Refuse links that break constraints; the error has their number, the first of them, and `where` links are."""
        broken = self.broken_by(links)
        if broken:
            more = f"; and {len(broken) - 3:,} more" if len(broken) > 3 else ""
            count = "a constraint" if len(broken) == 1 else f"{len(broken):,} constraints"
            raise InputError(f"{where} breaks {count}: {'; '.join(broken[:3])}{more}")

    def require_forest(self, file: str | None = None) -> None:
        """Refuse `keep` and `require` with a cycle, for overlays that are one tree; the error names the `file`."""
        component: dict[str, int] = {}
        for number, (a, b) in enumerate(self.links):
            one, other = component.setdefault(a, 2 * number), component.setdefault(b, 2 * number + 1)
            if one == other:
                raise InputError(f"keep and require form a cycle through '{a}' - '{b}'; a tree allows none", file=file)
            for name, its in component.items():
                if its == other:
                    component[name] = one

    @cached_property
    def _forbidden(self) -> frozenset[Pair]:
        return frozenset(self.forbid)

    @cached_property
    def _forbidden_regions(self) -> frozenset[Pair]:
        return frozenset(self.forbid_regions)

    @cached_property
    def groups(self) -> Groups:
        """Groups of nodes that may be linked with the same others, by names and regions."""
        return Groups(self)

    def over(self, interest: Interest) -> LinkLimits:
        """The same by the ids of an interest. A link to a node without topics counts at its other end."""
        ids = interest.node_ids
        spare = np.array([self.limit(name) for name in interest.node_names], np.int64)
        ends = [(ids.get(a), ids.get(b)) for a, b in self.links]
        for a, b in ends:
            if (a is None) != (b is None):
                spare[a if b is None else b] -= 1
        inside = [[(a, b) for a, b in part if a is not None and b is not None] for part in self._parts(ends)]
        links = np.array([pair for part in inside for pair in part], np.int32).reshape(-1, 2)
        return LinkLimits(
            spare.astype(np.int32),
            self.groups.of(interest.node_names),
            self.groups.may_link,
            links.min(axis=1, initial=UNLIMITED).astype(np.int32),
            links.max(axis=1, initial=-1).astype(np.int32),
            len(inside[0]),
        )

    def _parts(
        self, ends: Sequence[tuple[int | None, int | None]]
    ) -> tuple[Sequence[tuple[int | None, int | None]], ...]:
        return ends[: len(self.keep)], ends[len(self.keep) :]


class Groups:
    """Groups of nodes that may be linked with the same others; nodes that pairs name are groups of their own."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        named = sorted({name for pair in constraints.forbid for name in pair})
        self._named = {name: number for number, name in enumerate(named)}
        regions = sorted({region for pair in constraints.forbid_regions for region in pair})
        keys: list[tuple[str | None, bool]] = [
            (region, accepts) for region in (None, *regions) for accepts in (True, False)
        ]
        self._number = {key: len(named) + number for number, key in enumerate(keys)}
        rules = [self._key(constraints.rule(name)) for name in named] + keys
        kinds = [self._number[rule] - len(named) for rule in rules]
        between = np.array([[self._may_link(one, two) for two in keys] for one in keys])
        self.may_link: npt.NDArray[np.bool_] = between[np.ix_(kinds, kinds)]
        for a, b in constraints.forbid:
            i, j = self._named[a], self._named[b]
            self.may_link[i, j] = self.may_link[j, i] = False

    def number(self, node: str) -> int:
        """The group of a node."""
        if node in self._named:
            return self._named[node]
        return self._number[self._key(self._constraints.rule(node))]

    def of(self, names: Iterable[str]) -> Ids:
        """The group of each node."""
        return np.array([self.number(name) for name in names], np.int32)

    def _key(self, rule: NodeRule) -> tuple[str | None, bool]:
        return (rule.region if (rule.region, True) in self._number else None, rule.accepts)

    def _may_link(self, one: tuple[str | None, bool], two: tuple[str | None, bool]) -> bool:
        if not one[1] and not two[1]:
            return False
        if one[0] is None or two[0] is None:
            return True
        return _sorted((one[0], two[0])) not in self._constraints.forbid_regions


@dataclass(frozen=True, eq=False)
class LinkLimits:
    """Constraints by the ids of an interest; `NO_LIMITS`, whose arrays are empty, stands for none.

    Args:
        spare: how many links each node may have.
        group: the group of each node. may_link: whether nodes of two groups may be linked.
        source, target: the links that exist from the start.
        free_of_budget: how many of these, the first, do not count towards a budget of links.
    """

    spare: Ids
    group: Ids
    may_link: npt.NDArray[np.bool_]
    source: Ids
    target: Ids
    free_of_budget: int

    @property
    def unlimited(self) -> bool:
        """Whether any link may be built."""
        return len(self.spare) == 0

    def after(self, source: Ids, target: Ids) -> LinkLimits:
        """The limits that remain once these links are built, which include those that exist from the start."""
        if self.unlimited:
            return self
        taken = np.bincount(np.concatenate([source, target]), minlength=len(self.spare))
        spare = (self.spare - taken).astype(np.int32)
        return replace(self, spare=spare, source=_NO_IDS, target=_NO_IDS, free_of_budget=0)


_NO_IDS: Ids = np.empty(0, np.int32)
NO_LIMITS = LinkLimits(_NO_IDS, _NO_IDS, np.empty((0, 0), np.bool_), _NO_IDS, _NO_IDS, 0)


def _sorted(pair: Sequence[str]) -> Pair:
    a, b = pair
    return (a, b) if a <= b else (b, a)
