"""The contract of designers, and the links that they return.

What a designer is: an algorithm with the function that builds links, and what is known of it beforehand.

Links of designers that do not choose by contribution, with the contribution of each worked out afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import InputError
from topicloom.kernels.components import merge_links
from topicloom.model.interest import Ids, Interest
from topicloom.registry import Algorithm, Parameter, Watch

__all__ = [
    "BUDGET_RATIO",
    "MATCHING",
    "MAXIMAL",
    "MAX_DEGREE",
    "MAX_EDGES",
    "TIES",
    "Designer",
    "Links",
    "Parameter",
    "Watch",
]

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


class Links(NamedTuple):
    """Links in the order they were added, as node ids with source < target, what each one merged, and what else
    the designer has to say: what it proved, for example."""

    source: Ids
    target: Ids
    contribution: Ids
    facts: Mapping[str, Any] = MappingProxyType({})

    @classmethod
    def joined(cls, parts: Sequence[Links]) -> Links:
        """The links of all parts, one after the other."""
        source, target, contribution, _ = zip(*parts, strict=True)
        return cls(np.concatenate(source), np.concatenate(target), np.concatenate(contribution))


@dataclass(frozen=True, kw_only=True)
class Designer(Algorithm):
    """An algorithm that builds an overlay from an interest."""

    guarantee: str
    build: Callable[..., Links]  # of an interest, checked parameters, a generator and a watch
    # Bytes that building would take at most, for an interest and checked parameters.
    memory: Callable[[Interest, Mapping[str, Any]], int] = field(default=lambda interest, parameters: 0)
    # What `Watch.done` comes to if all topics end up connected; None where nobody knows beforehand.
    total: Callable[[Interest, Mapping[str, Any]], int] | None = None
    # Whether topics are connected over nodes that do not want them.
    relays: bool = False
    # Whether `build` takes `LinkLimits` too, or None, and keeps to them.
    takes_constraints: bool = False
    # Whether `build` takes `LinkPrices` after them, too, or None.
    takes_prices: bool = False
    # Whether `build` takes `TopicTraffic` after these, too, or None.
    takes_rates: bool = False

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


def measured(interest: Interest, source: Ids, target: Ids) -> Links:
    """The links in the order given, each with the number of components that it merged."""
    contribution, _ = merge_links(interest.node_start, interest.node_topics, source, target)
    return Links(source, target, contribution)


def measuring_bytes(interest: Interest, links: int) -> int:
    """Bytes that `measured` takes, with the links themselves."""
    return 12 * interest.subscription_count + 12 * links
