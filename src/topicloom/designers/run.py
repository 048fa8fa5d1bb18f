"""Running a designer: parameters checked, memory foreseen, kernels compiled, time taken."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from topicloom.designers import memory
from topicloom.designers.base import Designer, Number, Parameter, Watch
from topicloom.designers.merging import prefers_bitsets
from topicloom.designers.registry import find_designer
from topicloom.model.errors import InputError
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay, Provenance

# One tiny interest for each representation that greedy designers choose from.
_TINY_SHARED = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y")]
_TINY_SPARSE = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "z")]


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
    designers alone. `watch` lets another thread see how far it is, or stop it.
    """
    return run(interest, algorithm, seed=seed, watch=watch, **parameters).overlay


def run(interest: Interest, algorithm: str, *, seed: int = 0, watch: Watch | None = None, **parameters: Number) -> Run:
    """Build an overlay as `design` does, and say how long the algorithm itself took."""
    designer = find_designer(algorithm)
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}")
    checked = _checked(designer, parameters)
    if "budget_ratio" in checked:
        checked[_budget_name(designer)] = _budget(designer, interest, checked["budget_ratio"])
    memory.require(designer.name, designer.memory(interest, checked))
    warm_up(designer, interest, checked)
    began = time.perf_counter()
    links = designer.build(interest, checked, np.random.default_rng(seed), watch or Watch())
    seconds = time.perf_counter() - began
    provenance = Provenance(designer.name, MappingProxyType(checked), seed if designer.random else None)
    return Run(Overlay(interest, links.source, links.target, links.contribution, provenance), seconds)


def warm_up(designer: Designer, interest: Interest, parameters: Mapping[str, Number]) -> None:
    """Compile what a designer needs for an interest like this one, by running it on a tiny one."""
    tiny = Interest.from_pairs(_TINY_SHARED if prefers_bitsets(interest) else _TINY_SPARSE)
    designer.build(tiny, parameters, np.random.default_rng(0), Watch())


def _checked(designer: Designer, given: Mapping[str, Number]) -> dict[str, Number]:
    """Parameters with defaults filled in; names and values that the designer does not take are errors."""
    known = {parameter.name: parameter for parameter in designer.parameters}
    if designer.budget is not None:
        known["budget_ratio"] = Parameter("budget_ratio", float, "share of what minmax-oda needs", minimum=0)
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise InputError(f"{designer.name} does not take the parameter '{name}'; it takes {takes}")
    checked = {
        name: _value(designer, parameter, given.get(name, parameter.default))
        for name, parameter in known.items()
        if given.get(name, parameter.default) is not None
    }
    budget = designer.budget
    if budget is not None and (budget in checked) == ("budget_ratio" in checked):
        both = "not both" if budget in checked else "none is given"
        raise InputError(f"{designer.name} needs {budget} or budget_ratio; {both}")
    return checked


def _value(designer: Designer, parameter: Parameter, value: Number | None) -> Number:
    whole = parameter.kind is int
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{parameter.name} of {designer.name} must be {kind}, not {value!r}")
    too_low = value <= 0 if parameter.minimum == 0 else value < parameter.minimum
    if too_low or value != value:
        least = "above 0" if parameter.minimum == 0 else f"{parameter.minimum} or more"
        raise InputError(f"{parameter.name} of {designer.name} must be {least}, not {value}")
    return parameter.kind(value)


def _budget_name(designer: Designer) -> str:
    assert designer.budget is not None
    return designer.budget


def _budget(designer: Designer, interest: Interest, ratio: Number) -> int:
    """What a budget ratio comes to: a share of the links, or of the highest degree, of the minmax-oda overlay."""
    complete = run(interest, "minmax-oda").overlay
    whole = len(complete) if designer.budget == "max_edges" else int(complete.degrees.max(initial=0))
    return max(1, int(Fraction(str(ratio)) * whole))
