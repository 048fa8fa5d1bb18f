"""Running a designer: parameters checked, memory foreseen, kernels compiled, time taken."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np

from topicloom.designers import memory
from topicloom.designers.base import Designer, DesignStopped, Number, Parameter, Watch
from topicloom.designers.greedy.merging import prefers_bitsets
from topicloom.designers.registry import find_designer
from topicloom.errors import InputError
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay, Provenance

# One tiny interest for each representation that greedy designers choose from.
_TINY_SHARED = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y")]
_TINY_SPARSE = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")]

# What minmax-oda needs for interests that are still in use, as several designers may get a share of it.
_COMPLETE: WeakKeyDictionary[Interest, dict[str, int]] = WeakKeyDictionary()

_RATIO = Parameter("budget_ratio", float, "the budget as a share of what minmax-oda needs", minimum=0)


@dataclass(frozen=True)
class Run:
    """An overlay, and the seconds that its designer took: no compiling, no files."""

    overlay: Overlay
    seconds: float


def design(
    interest: Interest, algorithm: str, *, seed: int = 0, watch: Watch | None = None, **parameters: Number
) -> Overlay:
    """Build an overlay.

    `algorithm` is a name of `DESIGNERS`; `parameters` are those it takes. A budget may be given as `budget_ratio`
    instead of `max_edges` or `max_degree`: that share of what `minmax-oda` needs. `seed` matters to random
    designers alone. `watch` lets another thread see how far it is, or stop it, which raises `DesignStopped` here.
    """
    return run(interest, algorithm, seed=seed, watch=watch, **parameters).overlay


def run(interest: Interest, algorithm: str, *, seed: int = 0, watch: Watch | None = None, **parameters: Number) -> Run:
    """Build an overlay as `design` does, and say how long the algorithm itself took."""
    designer = find_designer(algorithm)
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")
    checked = checked_parameters(designer, parameters)
    watch = watch or Watch()
    if designer.budget is not None and "budget_ratio" in checked:
        checked[designer.budget] = _budget(designer.budget, interest, checked["budget_ratio"], watch)
    memory.require(designer.name, designer.memory(interest, checked))
    warm_up(designer, interest, checked)
    began = time.perf_counter()
    links = designer.build(interest, checked, np.random.default_rng(seed), watch)
    seconds = time.perf_counter() - began
    if watch.stopped:
        raise DesignStopped(f"{designer.name} was asked to stop")
    provenance = Provenance(designer.name, MappingProxyType(checked), int(seed) if designer.random else None)
    return Run(Overlay(interest, links.source, links.target, links.contribution, provenance), seconds)


def warm_up(designer: Designer, interest: Interest, parameters: Mapping[str, Number]) -> None:
    """Compile what a designer needs for an interest like this one, by running it on a tiny one."""
    tiny = Interest.from_pairs(_TINY_SHARED if prefers_bitsets(interest) else _TINY_SPARSE)
    designer.build(tiny, parameters, np.random.default_rng(0), Watch())


def checked_parameters(designer: Designer, given: Mapping[str, Number | None]) -> dict[str, Number]:
    """Parameters with defaults filled in; names and values that the designer does not take are errors."""
    known = {parameter.name: parameter for parameter in designer.parameters}
    if designer.budget is not None:
        known[_RATIO.name] = _RATIO
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise InputError(f"{designer.name} does not take {name}; it takes {takes}", name, *known)
    checked = {}
    for name, parameter in known.items():
        value = parameter.default if given.get(name) is None else given[name]
        if value is not None:
            checked[name] = _value(designer, parameter, value)
    budget = designer.budget
    if budget is not None and (budget in checked) == ("budget_ratio" in checked):
        both = "not both" if budget in checked else "none is given"
        raise InputError(f"{designer.name} needs {budget} or budget_ratio; {both}", budget, "budget_ratio")
    return checked


def _value(designer: Designer, parameter: Parameter, value: Number) -> Number:
    whole = parameter.kind is int
    number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not number or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{parameter.name} of {designer.name} must be {kind}, not {value!r}", parameter.name)
    if value < parameter.minimum or (value == parameter.minimum and parameter is _RATIO):
        least = "above 0" if parameter is _RATIO else f"{parameter.minimum} or more"
        raise InputError(f"{parameter.name} of {designer.name} must be {least}, not {value}", parameter.name)
    return parameter.kind(value)


def _budget(budget: str, interest: Interest, ratio: Number, watch: Watch) -> int:
    """What a budget ratio comes to: a share of the links, or of the highest degree, of the minmax-oda overlay."""
    if interest not in _COMPLETE:
        overlay = run(interest, "minmax-oda", watch=watch).overlay
        watch.ticks[0] = 0
        _COMPLETE[interest] = {"max_edges": len(overlay), "max_degree": int(overlay.degrees.max(initial=0))}
    return max(1, int(Fraction(str(ratio)) * _COMPLETE[interest][budget]))
