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

from topicloom.designers import memory
from topicloom.designers.contract import BUDGET_RATIO, MATCHING, RATES, Designer, DesignProblem, asked_for
from topicloom.designers.greedy import prefers_bitsets
from topicloom.designers.registry import DESIGNERS
from topicloom.errors import InputError
from topicloom.model.constraints import Constraints
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
    require_honoured(designer, asked_for(constraints, prices, rates))
    if designer.budget is not None and BUDGET_RATIO.name in parameters:
        whole = _whole(parameters)
        parameters[designer.budget] = _budget(designer.budget, interest, whole, parameters[BUDGET_RATIO.name], watch)
    memory.require(designer.name, designer.memory(interest, parameters))
    warm_up(prepared, interest, constrained=constraints is not None, priced=prices is not None)
    problem = DesignProblem.of(
        interest, constraints=constraints, prices=prices, rates=rates, seed=prepared.seed, watch=watch
    )
    links, time = timed(lambda: designer.build(problem, **_own(designer, parameters)))
    if watch.stopped:
        raise Stopped(f"{designer.name} was asked to stop")
    provenance = Provenance(designer.name, MappingProxyType(parameters), prepared.seed_used, facts=links.facts)
    overlay = Overlay(interest, links.source, links.target, links.contribution, provenance)
    return DesignRun(overlay=overlay, **vars(time))


def _own(designer: Designer, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that `build` takes: without what a budget was a share of."""
    own = {parameter.name for parameter in designer.parameters}
    return {name: value for name, value in parameters.items() if name in own}


# What is said of designers that do not take it into account.
_UNHONOURED = {
    "constraints": "keeps to no constraints on links",
    "prices": "knows no prices",
    "rates": "knows no rates",
}


def require_honoured(designer: Designer, asked: frozenset[str]) -> None:
    """Refuse a designer that does not honour all that is asked for."""
    for name, problem in _UNHONOURED.items():
        if name in asked - designer.honours:
            able = ", ".join(other.name for other in DESIGNERS.values() if name in other.honours)
            raise InputError(f"{designer.name} {problem}; those that do are {able}", *(RATES & {name}))


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
    constraints, prices = _TINY_CONSTRAINTS if constrained else None, _TINY_PRICES if priced else None
    designer.build(DesignProblem.of(tiny, constraints=constraints, prices=prices), **_own(designer, dict(parameters)))


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
