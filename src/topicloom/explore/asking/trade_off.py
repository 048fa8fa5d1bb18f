"""All designers on the same subscriptions: what each gives up for what, and what nobody can be below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from topicloom.algorithms import Value
from topicloom.designers import DESIGNERS, Designer, run_prepared
from topicloom.designers.base import BUDGET_RATIO
from topicloom.errors import InputError
from topicloom.explore.asking.background_work import Job
from topicloom.metrics import Bounds, Measures, bound, measure
from topicloom.model import Constraints, Interest, Overlay, Prices

# Beyond so many nodes only designers are asked that take seconds then.
_MANY_NODES = 20_000
_QUICK = ("gm", "backbone", "cd-oda-2", "ring-per-topic")
_EXACT_NODES = 12
# Which shares of what minmax-oda needs are tried as budgets.
_SHARES = (0.25, 0.5, 0.75)
# Beyond so many subscriptions diameters would take longer than designing.
_DIAMETERS = 500_000


@dataclass(frozen=True, eq=False)
class Tried:
    """What a designer made of the subscriptions."""

    name: str
    algorithm: str
    overlay: Overlay
    measures: Measures
    seconds: float


@dataclass(frozen=True, eq=False)
class TradeOff:
    """What all designers made; who could not, and why; and what no topic-connected overlay is below."""

    tried: tuple[Tried, ...]
    left_out: tuple[tuple[str, str], ...]
    bounds: Bounds


def trade_off(
    interest: Interest, job: Job, *, constraints: Constraints | None = None, prices: Prices | None = None
) -> TradeOff:
    """Let all designers work; the job tells which is at it."""
    tried: list[Tried] = []
    left_out: list[tuple[str, str]] = []
    candidates = list(_candidates(interest, constraints, prices))
    for at, (designer, parameters, name) in enumerate(candidates, start=1):
        job.doing = f"{name}, {at} of {len(candidates)}"
        job.watch.ticks[0] = 0
        try:
            prepared = DESIGNERS.prepare(designer.name, 0, parameters)
            run = run_prepared(prepared, interest, job.watch, constraints, prices)
        except InputError as error:
            left_out.append((name, str(error)))
            continue
        quick = interest.subscription_count <= _DIAMETERS
        measures = measure(interest, run.overlay, diameters=quick)
        tried.append(Tried(name, designer.name, run.overlay, measures, run.seconds))
    job.doing = "proving bounds"
    return TradeOff(tuple(tried), tuple(left_out), bound(interest))


def _candidates(
    interest: Interest, constraints: Constraints | None, prices: Prices | None
) -> Iterator[tuple[Designer, Mapping[str, Value], str]]:
    for designer in DESIGNERS.values():
        if interest.node_count > _MANY_NODES and designer.name not in _QUICK:
            continue
        if designer.name == "exact" and interest.node_count > _EXACT_NODES:
            continue
        if (constraints is not None and not designer.takes_constraints) or (
            prices is not None and not designer.takes_prices
        ):
            continue
        if designer.budget is None:
            yield designer, {}, designer.name
        else:
            for share in _SHARES:
                yield designer, {BUDGET_RATIO.name: share}, f"{designer.name} at {share:.0%}"
