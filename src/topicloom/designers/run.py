"""Running a designer: a budget found, memory foreseen, kernels compiled, time taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from os import PathLike
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from topicloom.designers import memory
from topicloom.designers.contract import BUDGET_RATIO, MATCHING, Designer
from topicloom.designers.greedy import prefers_bitsets
from topicloom.designers.registry import DESIGNERS
from topicloom.errors import InputError
from topicloom.model.constraints import NO_LIMITS, Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance
from topicloom.model.rates import Rates
from topicloom.registry import Prepared, Run, Stopped, Value, Watch, timed

# One tiny interest for each representation that greedy designers choose from.
_TINY_SHARED = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y")]
_TINY_SPARSE = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")]
_TINY_PRICES = Prices({("x", "x"): 1}, dict.fromkeys("abcd", "x"))
_TINY_CONSTRAINTS = Constraints(forbid=(("a", "c"),), keep=(("a", "b"),))

# What budget ratios are shares of, by the matchings; kept for interests in use, as several designers may get a share.
_WHOLE: Mapping[Value | None, Prepared[Designer]] = {
    matching: DESIGNERS.prepare("minmax-oda", 0, {MATCHING.name: matching}) for matching in MATCHING.choices
}
_COMPLETE: WeakKeyDictionary[Interest, dict[Value, dict[str, int]]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class DesignRun(Run):
    """An overlay, and the seconds that its designer took."""

    overlay: Overlay


def design(
    interest: Interest | str | PathLike[str],
    algorithm: str,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    rates: Rates | None = None,
    **parameters: Value | None,
) -> Overlay:
    """Build an overlay.

    `interest` may be the file or folder that it is in. `algorithm` is a name of `DESIGNERS`; `parameters` are those it
    takes. A budget may be given as `budget_ratio` instead of `max_edges` or `max_degree`: that share of what
    `minmax-oda` needs. `seed` matters to random designers alone. `watch` lets another thread see how far it is, or stop
    it, which raises `Stopped` here. `constraints` say which links may be built; they are never broken, so topics may be
    left in pieces. With `prices` links are chosen by what they merge for their price, with `rates` by their messages.
    """
    return run(
        Interest.given(interest),
        algorithm,
        seed=seed,
        watch=watch,
        constraints=constraints,
        prices=prices,
        rates=rates,
        **parameters,
    ).overlay


def run(
    interest: Interest,
    algorithm: str,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    rates: Rates | None = None,
    **parameters: Value | None,
) -> DesignRun:
    """Build an overlay as `design` does, and say how long the algorithm itself took."""
    return run_prepared(DESIGNERS.prepare(algorithm, seed, parameters), interest, watch, constraints, prices, rates)


def run_prepared(
    prepared: Prepared[Designer],
    interest: Interest,
    watch: Watch | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    rates: Rates | None = None,
) -> DesignRun:
    """Build an overlay with a designer whose parameters are checked already: `DESIGNERS.prepare` gives one."""
    designer, parameters = prepared.algorithm, dict(prepared.parameters)
    watch = watch or Watch()
    if constraints is not None:
        require_constrainable(designer)
    if prices is not None:
        require_pricing(designer)
    if rates is not None:
        require_rating(designer)
    if designer.budget is not None and BUDGET_RATIO.name in parameters:
        whole = _whole(parameters)
        parameters[designer.budget] = _budget(designer.budget, interest, whole, parameters[BUDGET_RATIO.name], watch)
    memory.require(designer.name, designer.memory(interest, parameters))
    warm_up(prepared, interest, constrained=constraints is not None, priced=prices is not None)
    within = _within(interest, constraints, prices, rates)
    links, time = timed(lambda: designer.build(interest, parameters, prepared.generator(), watch, *within))
    if watch.stopped:
        raise Stopped(f"{designer.name} was asked to stop")
    provenance = Provenance(designer.name, MappingProxyType(parameters), prepared.seed_used, facts=links.facts)
    overlay = Overlay(interest, links.source, links.target, links.contribution, provenance)
    return DesignRun(overlay=overlay, **vars(time))


def _within(
    interest: Interest, constraints: Constraints | None, prices: Prices | None, rates: Rates | None = None
) -> tuple[Any, ...]:
    """What `build` is given besides; nothing where a designer need not know of it."""
    limits = NO_LIMITS if constraints is None else constraints.over(interest)
    given: list[Any] = [limits, *(None if one is None else one.over(interest) for one in (prices, rates))]
    while given and given[-1] in (None, NO_LIMITS):
        given.pop()
    return tuple(given)


def require_pricing(designer: Designer) -> None:
    """An error where a designer knows no prices."""
    if not designer.takes_prices:
        able = ", ".join(name for name, other in DESIGNERS.items() if other.takes_prices)
        raise InputError(f"{designer.name} knows no prices; those that do are {able}")


def require_rating(designer: Designer) -> None:
    """An error where a designer knows no rates of messages."""
    if not designer.takes_rates:
        able = ", ".join(name for name, other in DESIGNERS.items() if other.takes_rates)
        raise InputError(f"{designer.name} knows no rates; those that do are {able}", "rates")


def require_constrainable(designer: Designer) -> None:
    """An error where a designer keeps to no constraints."""
    if not designer.takes_constraints:
        able = ", ".join(name for name, other in DESIGNERS.items() if other.takes_constraints)
        raise InputError(f"{designer.name} keeps to no constraints on links; those that do are {able}")


def warm_up(
    prepared: Prepared[Designer], interest: Interest, *, constrained: bool = False, priced: bool = False
) -> None:
    """Compile what a design of an interest like this one needs, by designing a tiny one; once in a process."""
    designer, parameters = prepared.algorithm, dict(prepared.parameters)
    if parameters.pop(BUDGET_RATIO.name, None) is not None:
        warm_up(_whole(parameters), interest)
    if designer.budget is not None:
        # May not be known yet, and does not matter to the compiler.
        parameters[designer.budget] = 1
    _compile(designer, tuple(parameters.items()), prefers_bitsets(interest), constrained, priced)


@lru_cache(maxsize=256)
def _compile(
    designer: Designer, parameters: tuple[tuple[str, Value], ...], bitsets: bool, constrained: bool, priced: bool
) -> None:
    tiny = Interest.from_pairs(_TINY_SHARED if bitsets else _TINY_SPARSE)
    within = _within(tiny, _TINY_CONSTRAINTS if constrained else None, _TINY_PRICES if priced else None)
    designer.build(tiny, dict(parameters), np.random.default_rng(0), Watch(), *within)


def checked_parameters(designer: Designer, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with defaults filled in; names and values that the designer does not take are errors."""
    return designer.checked(given)


def _whole(parameters: Mapping[str, Value]) -> Prepared[Designer]:
    """What a budget ratio is a share of."""
    return _WHOLE[parameters.get(MATCHING.name, MATCHING.default)]


def _budget(budget: str, interest: Interest, whole: Prepared[Designer], ratio: Value, watch: Watch) -> int:
    """What a budget ratio comes to: a share of the links, or of the highest degree, of the minmax-oda overlay."""
    complete = _COMPLETE.setdefault(interest, {})
    matching = whole.parameters[MATCHING.name]
    if matching not in complete:
        overlay = run_prepared(whole, interest, watch).overlay
        watch.ticks[0] = 0
        complete[matching] = {"max_edges": len(overlay), "max_degree": int(overlay.degrees.max(initial=0))}
    return max(1, int(Fraction(str(ratio)) * complete[matching][budget]))
