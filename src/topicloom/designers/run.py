"""Running a designer: a budget found, memory foreseen, kernels compiled, time taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from os import PathLike
from types import MappingProxyType

from topicloom.designers import memory
from topicloom.designers.contract import (
    BEGIN,
    BUDGET_RATIO,
    CONSTRAINTS,
    MATCHING,
    PRICES,
    Designer,
    DesignProblem,
    asked_for,
)
from topicloom.designers.greedy import prefers_bitsets
from topicloom.designers.registry import DESIGNERS
from topicloom.errors import InputError
from topicloom.metrics.support import possible_merges
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

_BEGINNING = "an overlay to begin with"

# What budget ratios are shares of, by the matchings.
_WHOLE: Mapping[Value | None, Prepared[Designer]] = {
    matching: DESIGNERS.prepare("minmax-oda", 0, {MATCHING.name: matching}) for matching in MATCHING.choices
}
# The budgets of these overlays, by fingerprint and matchings, as several designers may get a share of one.
_COMPLETE: dict[tuple[str, Value], dict[str, int]] = {}


@dataclass(frozen=True, kw_only=True)
class DesignRun(Run):
    """An overlay, the share of possible merges that its links do, and the seconds that its designer took."""

    overlay: Overlay
    support: float


def design(
    interest: Interest | str | PathLike[str],
    algorithm: str,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    rates: Rates | None = None,
    begin: Overlay | str | PathLike[str] | None = None,
    **parameters: Value | None,
) -> Overlay:
    """Build an overlay.

    Args:
        interest: the subscriptions, or the file or folder that holds them.
        algorithm: a name of `DESIGNERS`.
        seed: the start of random numbers, for random designers.
        watch: shows progress to another thread, and lets it stop the design, which raises `Stopped` here.
        constraints: which links may be built. They are never broken, so topics may be left in several components.
        prices: what links cost: they are chosen by contribution for their price.
        rates: how many messages topics have.
        begin: an overlay to begin with, or its file, for designers that improve one.
        parameters: those of the designer. A budget may be given as `budget_ratio` instead of `max_edges` or
            `max_degree`: a share of what `minmax-oda` needs.
    """
    known = Interest.given(interest)
    prepared = DESIGNERS.prepare(algorithm, seed, parameters)
    require_honoured(prepared.algorithm, asked_for(constraints, prices, rates, begin))
    problem = DesignProblem.of(
        known, constraints=constraints, prices=prices, rates=rates, begin=begin, seed=seed, watch=watch
    )
    return run(problem, prepared).overlay


def run(problem: DesignProblem, algorithm: str | Prepared[Designer], /, **parameters: Value | None) -> DesignRun:
    """Solve a problem, and measure how long the algorithm itself takes.

    `algorithm` is a name of `DESIGNERS`, or what `DESIGNERS.prepare` made of a name and parameters, for callers that
    check these before they read subscriptions. The seed is that of the problem.
    """
    if isinstance(algorithm, str):
        algorithm = DESIGNERS.prepare(algorithm, problem.seed, parameters)
    designer, checked = algorithm.algorithm, dict(algorithm.parameters)
    require_honoured(designer, problem.asks)
    if designer.budget is not None and BUDGET_RATIO.name in checked:
        checked[designer.budget] = _budget(designer.budget, problem, checked)
    memory.require(designer.name, designer.memory(problem.interest, checked))
    warm_up(problem, algorithm)
    links, time = timed(lambda: designer.build(problem, **_own(designer, checked)))
    if problem.watch.stopped and not designer.anytime:
        raise Stopped(f"{designer.name} was asked to stop")
    seed = problem.seed if designer.random else None
    provenance = Provenance(designer.name, MappingProxyType(checked), seed, facts=links.facts)
    overlay = Overlay(problem.interest, links.source, links.target, links.contribution, provenance)
    possible = possible_merges(problem.interest)
    support = links.merges / possible if possible else 1.0
    return DesignRun(overlay=overlay, support=support, **vars(time))


def _own(designer: Designer, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that `build` takes: without what a budget was a share of."""
    own = {parameter.name for parameter in designer.parameters}
    return {name: value for name, value in parameters.items() if name in own}


def require_honoured(designer: Designer, asked: frozenset[str]) -> None:
    """Refuse a designer that does not honour all that is asked for."""
    for name in sorted(asked - designer.honours):
        able = ", ".join(other.name for other in DESIGNERS.values() if name in other.honours)
        given = _BEGINNING if name in BEGIN else name
        raise InputError(f"{designer.name} does not take {given}; these do: {able}")


def warm_up(problem: DesignProblem, prepared: Prepared[Designer]) -> None:
    """Compile what a design like this one needs, by designing a tiny one; once in a process."""
    designer, parameters = prepared.algorithm, dict(prepared.parameters)
    if BUDGET_RATIO.name in parameters:
        warm_up(DesignProblem(interest=problem.interest), _whole(parameters))
    if designer.budget is not None:
        # May not be known yet, and does not matter to the compiler.
        parameters[designer.budget] = 1
    own = tuple(_own(designer, parameters).items())
    _compile(designer, own, prefers_bitsets(problem.interest), problem.asks)


@lru_cache(maxsize=256)
def _compile(
    designer: Designer, parameters: tuple[tuple[str, Value], ...], bitsets: bool, asked: frozenset[str]
) -> None:
    tiny = Interest.from_pairs(_TINY_SHARED if bitsets else _TINY_SPARSE)
    constraints = _TINY_CONSTRAINTS if asked >= CONSTRAINTS else None
    prices = _TINY_PRICES if asked >= PRICES else None
    given = dict(parameters) | dict(designer.compile_with)
    designer.build(DesignProblem.of(tiny, constraints=constraints, prices=prices), **given)


def _whole(parameters: Mapping[str, Value]) -> Prepared[Designer]:
    """What a budget ratio is a share of."""
    return _WHOLE[parameters.get(MATCHING.name, MATCHING.default)]


def _budget(budget: str, problem: DesignProblem, parameters: Mapping[str, Value]) -> int:
    """The budget that a ratio stands for: a share of the links, or of the highest degree, of the minmax-oda overlay."""
    whole = _whole(parameters)
    key = problem.interest.fingerprint, whole.parameters[MATCHING.name]
    if key not in _COMPLETE:
        overlay = run(DesignProblem(interest=problem.interest, watch=problem.watch), whole).overlay
        problem.watch.ticks[0] = 0
        _COMPLETE[key] = {"max_edges": len(overlay), "max_degree": int(overlay.degrees.max(initial=0))}
    return max(1, int(Fraction(str(parameters[BUDGET_RATIO.name])) * _COMPLETE[key][budget]))
