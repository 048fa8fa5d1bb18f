"""The contract of designers: the problem that they are given, and the links that they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import InputError
from topicloom.kernels.components import merge_links
from topicloom.model.constraints import NO_LIMITS, Constraints, LinkLimits
from topicloom.model.fleet import Fleet
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import LinkPrices, Prices
from topicloom.model.rates import Rates, TopicTraffic
from topicloom.registry import SEED, Algorithm, Parameter, Value, Watch

__all__ = [
    "BEGIN",
    "BUDGET_RATIO",
    "CONSTRAINTS",
    "MATCHING",
    "MAXIMAL",
    "MAX_DEGREE",
    "MAX_EDGES",
    "PRICES",
    "RATES",
    "TIES",
    "DesignProblem",
    "Designer",
    "Links",
    "Parameter",
    "Watch",
    "asked_for",
]

# What a problem may ask for besides connected topics, and a designer may honour.
CONSTRAINTS = frozenset({"constraints"})
PRICES = frozenset({"prices"})
RATES = frozenset({"rates"})
BEGIN = frozenset({"begin"})

MAX_EDGES = Parameter("max_edges", int, "the most links")
MAX_DEGREE = Parameter("max_degree", int, "the most links of a node")
TIES = Parameter(
    "ties",
    str,
    "who wins among links that are equally good: the first by name, or by a hash of the names, which prices have",
    choices=("names", "hash"),
    optional=True,
)
BUDGET_RATIO = Parameter(
    "budget_ratio", float, "the budget as a share of what minmax-oda needs", minimum=0, exclusive=True, optional=True
)

MAXIMAL = "maximal"
MATCHING = Parameter(
    "matching",
    str,
    "what minmax-oda and gpm add before the highest degree rises: useful links alone, or maximal matchings",
    "useful",
    choices=("useful", MAXIMAL),
)
# For designers that add no matchings themselves, but may get a share of what minmax-oda needs.
_SHARE_OF = replace(MATCHING, default=None, optional=True)


def asked_for(
    constraints: Constraints | None = None,
    prices: object | None = None,
    rates: object | None = None,
    begin: object | None = None,
) -> frozenset[str]:
    """What is asked for, of `CONSTRAINTS | PRICES | RATES | BEGIN`: all that is not None, nor empty constraints."""
    limited = None if constraints is None or constraints.empty else constraints
    given = {"constraints": limited, "prices": prices, "rates": rates, "begin": begin}
    return frozenset(name for name, value in given.items() if value is not None)


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignProblem:
    """What a designer is asked to solve, on ids.

    `DesignProblem.of` makes one of names. The constructor takes what is on ids already.

    Args:
        interest: the nodes and the topics that they want.
        limits: the links that may be built, and those that exist. prices: what links cost.
        traffic: the messages of topics, from rates.
        begin: an overlay of this interest to begin with.
        seed: the start of random numbers. watch: progress, and a request to stop.
    """

    interest: Interest
    limits: LinkLimits = NO_LIMITS
    prices: LinkPrices | None = None
    traffic: TopicTraffic | None = None
    begin: Overlay | None = None
    seed: int = 0
    watch: Watch = field(default_factory=Watch)

    @classmethod
    def of(
        cls,
        interest: Interest | Fleet | str | PathLike[str],
        *,
        constraints: Constraints | None = None,
        prices: Prices | None = None,
        rates: Rates | None = None,
        begin: Overlay | str | PathLike[str] | None = None,
        seed: int = 0,
        watch: Watch | None = None,
    ) -> DesignProblem:
        """The problem of an interest, of the file or folder that holds it, or of a fleet; names become ids here.

        A fleet gives the interest among the brokers that are there, and its constraints unless others are given.
        """
        if isinstance(interest, Fleet):
            constraints = interest.constraints if constraints is None else constraints
            interest = interest.interest
        known = Interest.given(interest)
        return cls(
            interest=known,
            limits=NO_LIMITS if constraints is None or constraints.empty else constraints.over(known),
            prices=None if prices is None else prices.over(known),
            traffic=None if rates is None else rates.over(known),
            begin=None if begin is None else Overlay.given(begin, known),
            seed=SEED.checked(seed),
            watch=watch or Watch(),
        )

    @property
    def asks(self) -> frozenset[str]:
        """What it asks for, of `CONSTRAINTS | PRICES | RATES | BEGIN`."""
        others = asked_for(None, self.prices, self.traffic, self.begin)
        return others if self.limits is NO_LIMITS else others | CONSTRAINTS

    def rng(self) -> np.random.Generator:
        """A new generator of random numbers from the seed."""
        return np.random.default_rng(self.seed)


class Links(NamedTuple):
    """Links in the order they were added, as node ids with source < target, and what each one merged.

    `facts` are further results of the designer: what it proved, for example. `merged` is how many components all links
    merge, if that is not the sum of what each one merged.
    """

    source: Ids
    target: Ids
    contribution: Ids
    facts: Mapping[str, Any] = MappingProxyType({})
    merged: int | None = None

    @property
    def merges(self) -> int:
        """How many components all links merge."""
        return int(self.contribution.sum(dtype=np.int64)) if self.merged is None else self.merged

    @classmethod
    def joined(cls, parts: Sequence[Links]) -> Links:
        """The links of all parts, one after the other."""
        source, target, contribution = zip(*(part[:3] for part in parts), strict=True)
        return cls(np.concatenate(source), np.concatenate(target), np.concatenate(contribution))

    @classmethod
    def measured(cls, interest: Interest, source: Ids, target: Ids) -> Links:
        """The links in the order given, each with the number of components that it merges."""
        source, target = (np.ascontiguousarray(ends, np.int32) for ends in (source, target))
        contribution, _ = merge_links(interest.node_start, interest.node_topics, source, target)
        return cls(source, target, contribution)


@dataclass(frozen=True, kw_only=True)
class Designer(Algorithm):
    """An algorithm that builds an overlay.

    Args:
        guarantee: what is known of its overlays.
        build: builds the links of a `DesignProblem`. Its parameters are keywords: checked, with defaults filled in,
            optional ones only if they are given.
        honours: what it takes into account, of `CONSTRAINTS | PRICES | RATES | BEGIN`. Problems that
            ask for more are refused.
        relays: whether it connects topics over nodes that do not want them.
        anytime: whether it returns its best links so far if it is stopped.
        compile_with: parameters that let a tiny design end at once, in place of those given.
        memory: an upper bound on the bytes that building takes, for an interest and parameters.
        total: what `watch.done` is at the end if all topics are connected, for an interest and parameters.
    """

    guarantee: str
    build: Callable[..., Links]
    honours: frozenset[str] = frozenset()
    relays: bool = False
    anytime: bool = False
    compile_with: tuple[tuple[str, Value], ...] = ()
    memory: Callable[[Interest, Mapping[str, Any]], int] = field(default=lambda interest, parameters: 0)
    total: Callable[[Interest, Mapping[str, Any]], int | None] | None = None

    @property
    def budget(self) -> str | None:
        """Which budget it needs, `max_edges` or `max_degree`, if any; `budget_ratio` may stand for it."""
        budgets = (MAX_EDGES.name, MAX_DEGREE.name)
        return next((p.name for p in self.parameters if p.name in budgets and p.required), None)

    @property
    def accepts(self) -> tuple[Parameter, ...]:
        """All that may be given: its parameters, and in place of a budget a ratio and what that is a share of."""
        if self.budget is None:
            return self.parameters
        own = tuple(replace(p, optional=True) if p.name == self.budget else p for p in self.parameters)
        return (*own, BUDGET_RATIO) if MATCHING in own else (*own, BUDGET_RATIO, _SHARE_OF)

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with defaults filled in; a budget must be given in one way."""
        checked = super().checked(given)
        budget, ratio = self.budget, BUDGET_RATIO.name
        if budget is not None and (budget in checked) == (ratio in checked):
            both = "not both" if budget in checked else "none is given"
            raise InputError(f"{self.name} needs {budget} or {ratio}; {both}", budget, ratio)
        if MATCHING not in self.parameters and MATCHING.name in checked and ratio not in checked:
            raise InputError(f"{MATCHING.name} says what {ratio} is a share of; give both", MATCHING.name, ratio)
        return checked


def measuring_bytes(interest: Interest, links: int) -> int:
    """Bytes that `Links.measured` takes, with the links themselves."""
    return 12 * interest.subscription_count + 12 * links
