"""Claims of papers and verdicts on them.

What became of a paper's claim: what `topicloom reproduce` writes and a page shows.

What a paper says, held against our runs.

The rules are the same for all claims, so that none can be bent until it holds:

- `equal`: our mean is within 10% of the published number
- `about`, where the paper says about or roughly, or a number is read off a picture: within 25%
- `order`, an order of magnitude: within a factor of the square root of ten
- `at most`, `at least`: our mean against the bound
- `always`: true of every case. `mostly`: of more than half of the cases

All are judged on the means over the repetitions, whose values one by one give the span that is shown beside. Where a
claim is about rows that cannot be averaged, such as the events of one run, the rows of each repetition are judged; then
a number is the mean of theirs and `always` means in each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from topicloom.experiments.figure import Claim, Figure
from topicloom.experiments.queries import Answer, Runs
from topicloom.io.settings import Count
from topicloom.views.numbers import Number, measured


@dataclass(frozen=True)
class ReadingVerdict:
    """A claim under one reading: our number, the lowest and highest of the repetitions, and whether it holds.

    `holds` is None, and so are the numbers, where no run gave a number.
    """

    reading: str
    number: float | None
    low: float | None
    high: float | None
    repetitions: Count
    holds: bool | None


@dataclass(frozen=True)
class Verdict:
    """A claim, and what became of it under the first reading of its figure; `others` are those under the others.

    `reading` is "" where there is only one. `sentence` says why the claim does not hold.
    """

    id: str
    figure: str
    paper: str
    place: str
    says: str
    rule: str
    published: float | None
    unit: str
    number: float | None
    low: float | None
    high: float | None
    repetitions: Count
    holds: bool | None
    sentence: str
    reading: str = ""
    others: tuple[ReadingVerdict, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)


_TOLERANCE = {"equal": 0.1, "about": 0.25}
_ORDER = math.sqrt(10)
_QUICK = "A quick run has smaller sizes or fewer repetitions than a full one."


def check(figure: Figure, claim: Claim, readings: Mapping[str, Runs], *, quick: bool) -> Verdict:
    """Hold a claim against the runs of each reading; where `quick` made them smaller, the sentence says so."""
    first, *others = (_judge(claim, name, runs) for name, runs in readings.items())
    return Verdict(
        id=claim.id,
        figure=figure.id,
        paper=figure.paper,
        place=claim.place,
        says=claim.says,
        rule=claim.rule,
        published=claim.published,
        unit=claim.unit,
        number=first.number,
        low=first.low,
        high=first.high,
        repetitions=first.repetitions,
        holds=first.holds,
        sentence=_sentence(claim, quick=quick) if first.holds is False else "",
        reading=first.reading,
        others=tuple(others),
    )


def _judge(claim: Claim, reading: str, runs: Runs) -> ReadingVerdict:
    values = _values(runs.ask_means(claim.query))
    # Runs that failed may leave means, but no repetition that is whole.
    each = _values(runs.ask(claim.query)) or values
    number = math.fsum(values) / len(values) if values else None
    holds = None if number is None else _holds(claim, number, min(values))
    return ReadingVerdict(reading, number, min(each, default=None), max(each, default=None), len(each), holds)


def _values(answer: Answer) -> list[float]:
    columns, rows = answer
    at = columns.index("value")
    return [float(row[at]) for row in rows if row[at] is not None]


def _sentence(claim: Claim, *, quick: bool) -> str:
    if quick:
        return f"{_QUICK} Of the published full run: {claim.differs}" if claim.differs else _QUICK
    return claim.differs or "It is not known why."


def ours(verdict: Verdict) -> Number:
    """Our number with its spread, in words; a share of the cases where the claim is about cases."""
    return _measured(verdict, verdict)


def others(verdict: Verdict) -> list[tuple[str, Number, bool | None]]:
    """The names of the other readings, our numbers under them, and whether the claim holds there."""
    return [(other.reading, _measured(verdict, other), other.holds) for other in verdict.others]


def _measured(claim: Verdict, found: Verdict | ReadingVerdict) -> Number:
    return measured(found.number, found.low, found.high, claim.unit, cases=claim.published is None)


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
