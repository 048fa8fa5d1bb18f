"""What a paper says, held against our runs.

The rules are the same for all claims, so that none can be bent until it holds:

- `equal`: our mean is within 10% of the published number
- `about`, where the paper says about or roughly, or a number is read off a picture: within 25%
- `order`, an order of magnitude: within a factor of the square root of ten
- `at most`, `at least`: our mean against the bound
- `always`: true of every case in every repetition. `mostly`: of more than half of the cases
"""

from __future__ import annotations

import math
from dataclasses import replace

from topicloom.experiments.figure import Claim, Figure
from topicloom.experiments.queries import Runs
from topicloom.experiments.verdict import Verdict
from topicloom.present.numbers import measured

_TOLERANCE = {"equal": 0.1, "about": 0.25}
_ORDER = math.sqrt(10)
_QUICK = "A quick run has smaller sizes or fewer repetitions than a full one."


def check(figure: Figure, claim: Claim, runs: Runs, *, quick: bool) -> Verdict:
    """Hold a claim against the runs; where `quick` made them smaller, the sentence says so."""
    columns, rows = runs.ask(claim.query)
    at = columns.index("value")
    values = [float(row[at]) for row in rows if row[at] is not None]
    number = math.fsum(values) / len(values) if values else None
    holds = None if number is None else _holds(claim, number, min(values))
    verdict = Verdict(
        id=claim.id,
        figure=figure.id,
        paper=figure.paper,
        place=claim.place,
        says=claim.says,
        rule=claim.rule,
        published=claim.published,
        unit=claim.unit,
        number=number,
        low=min(values, default=None),
        high=max(values, default=None),
        repetitions=len(values),
        holds=holds,
        sentence="",
    )
    if holds is not False:
        return verdict
    if quick:
        return replace(
            verdict, sentence=f"{_QUICK} Of the published full run: {claim.differs}" if claim.differs else _QUICK
        )
    return replace(verdict, sentence=claim.differs or "It is not known why.")


def ours(verdict: Verdict) -> str:
    """Our number with its spread, in words; a share of the cases where the claim is about cases."""
    number = measured(verdict.number, verdict.low, verdict.high, verdict.unit, cases=verdict.published is None)
    return number.text


def _holds(claim: Claim, number: float, lowest: float) -> bool:
    if claim.published is None:
        return lowest >= 1 if claim.rule == "always" else number > 0.5
    if claim.rule == "at most":
        return number <= claim.published
    if claim.rule == "at least":
        return number >= claim.published
    if claim.rule == "order":
        return claim.published / _ORDER <= number <= claim.published * _ORDER
    return abs(number - claim.published) <= _TOLERANCE[claim.rule] * abs(claim.published)
