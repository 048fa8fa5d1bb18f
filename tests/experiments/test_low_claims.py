"""The claims of Low 2010 on made-up results: each holds where it should and fails where it must."""

from __future__ import annotations

import pytest
from made_up import FIGURES, Parameters, Results, but, one_row, verdict_on


def degrees(column: str, gm: float, minmax: float, low: float, first: float = 0, last: float = 0) -> Results:
    """Degrees of three designers; `first` is that of Low-ODA with k = 1, `last` with k = 8, where they differ.

    They grow with nodes and repetition, so that only those of the same nodes and repetition compare. The other degree
    goes the other way.
    """
    at = {1: first or low, 8: last or low}

    def degree(p: Parameters) -> float:
        times = {"gm": gm, "minmax-oda": minmax, "low-oda": at.get(p.get("k"), low)}
        return times[p["designer"]] * p["nodes"] * 3 ** p["seed"]

    results = {"max_degree": lambda p: 1e9 / degree(p), "average_degree": lambda p: 1e9 / degree(p), column: degree}
    return one_row(nodes=lambda p: p["nodes"], **results)


def highest(gm: float = 20, minmax: float = 10, low: float = 14, **ends: float) -> Results:
    """Maximum degrees, of Low-ODA between those of GM and MinMax-ODA, but nearer to the latter."""
    return degrees("max_degree", gm, minmax, low, **ends)


def average(gm: float = 10.0, minmax: float = 20.0, low: float = 14.0, **ends: float) -> Results:
    """Average degrees, of Low-ODA between those of MinMax-ODA and GM, but nearer to the latter."""
    return degrees("average_degree", gm, minmax, low, **ends)


def stars(power: float = -0.5, gm: int = 9, star: int = 2, connected: bool = True, **multiples: float) -> Results:
    """Degrees that change with this power of the topics of each node; those of stars are multiples of GM's.

    `gm` and `star` are the largest diameters.
    """
    times = {"gm": 1, "old": 2.2, "one": 1.778, "two": 1.76, **multiples}
    name = {"gm": "gm", "cd-oda": "old", "cd-oda-1": "one", "cd-oda-2": "two"}

    def degree(p: Parameters) -> float:
        return 100 * times[name[p["designer"]]] * p["min_topics"] ** power * 2 ** p["seed"]

    return one_row(
        edges=lambda p: round(50 * degree(p)),
        average_degree=degree,
        max_topic_diameter=lambda p: gm if p["designer"] == "gm" else star,
        topic_connected=lambda p: connected,
    )


NEAR_MINMAX, NEAR_GM = highest(), average()
GOES_DOWN, GOES_UP = highest(first=19, last=11), average(first=11, last=19)
STARS = stars()
ONE_RUN = {"seed": 2, "nodes": 400, "designer": "low-oda"}
ONE_STAR = {"seed": 7, "min_topics": 35, "designer": "cd-oda-1"}

HOLDS_AND_FAILS: dict[str, list[tuple[Results, bool]]] = {
    "low-2010-fig-1.1": [
        (NEAR_MINMAX, True),
        (highest(minmax=30), True),
        (highest(low=20), False),
        (highest(low=21), False),
        (but(NEAR_MINMAX, highest(low=20), **ONE_RUN), False),
    ],
    "low-2010-fig-1.2": [
        (NEAR_MINMAX, True),
        (highest(low=19), True),
        (highest(low=21), False),
        (highest(low=9), False),
        (but(NEAR_MINMAX, highest(low=21), **ONE_RUN), False),
        (but(NEAR_MINMAX, highest(low=9), **ONE_RUN), False),
    ],
    "low-2010-fig-1.3": [
        (NEAR_MINMAX, True),
        (highest(low=16), False),
        (highest(low=15), False),
        (but(NEAR_MINMAX, highest(low=16), **ONE_RUN), False),
    ],
    "low-2010-fig-2.1": [
        (NEAR_GM, True),
        (average(gm=30), True),
        (average(low=20), False),
        (average(low=21), False),
        (but(NEAR_GM, average(low=20), **ONE_RUN), False),
    ],
    "low-2010-fig-2.2": [
        (NEAR_GM, True),
        (average(low=19), True),
        (average(low=21), False),
        (average(low=9), False),
        (but(NEAR_GM, average(low=21), **ONE_RUN), False),
        (but(NEAR_GM, average(low=9), **ONE_RUN), False),
    ],
    "low-2010-fig-2.3": [
        (NEAR_GM, True),
        (average(low=16), False),
        (average(low=15), False),
        (but(NEAR_GM, average(low=16), **ONE_RUN), False),
    ],
    "low-2010-fig-3.1": [
        (GOES_DOWN, True),
        (highest(first=24, last=30, minmax=1), True),
        (highest(first=26), False),
        (highest(first=14), False),
    ],
    "low-2010-fig-3.2": [
        (GOES_DOWN, True),
        (highest(last=12, first=30, gm=1), True),
        (highest(last=13), False),
        (highest(last=7), False),
    ],
    "low-2010-fig-3.3": [
        (GOES_DOWN, True),
        (highest(first=19, last=19), False),
        (highest(first=11, last=19), False),
        (but(GOES_DOWN, highest(last=19), seed=10, k=8), False),
    ],
    "low-2010-fig-4.1": [
        (GOES_UP, True),
        (average(first=12, last=5, minmax=1), True),
        (average(first=13), False),
        (average(first=7), False),
    ],
    "low-2010-fig-4.2": [
        (GOES_UP, True),
        (average(last=24, first=5, gm=1), True),
        (average(last=26), False),
        (average(last=14), False),
    ],
    "low-2010-fig-4.3": [
        (GOES_UP, True),
        (average(first=11, last=11), False),
        (average(first=19, last=11), False),
        (but(GOES_UP, average(last=11), seed=10, k=8), False),
    ],
    "low-2010-fig-5.1": [
        (STARS, True),
        (stars(gm=2), True),
        (stars(star=3), False),
        (but(STARS, stars(star=3), **ONE_STAR), False),
        (but(STARS, stars(star=1), **ONE_STAR), False),
        (but(STARS, stars(connected=False), **ONE_STAR), False),
    ],
    "low-2010-fig-5.2": [
        (STARS, True),
        (stars(star=1), True),
        (stars(gm=2), False),
        (but(STARS, stars(gm=2), seed=7, min_topics=50), False),
    ],
    "low-2010-fig-5.3": [
        (STARS, True),
        (stars(two=3), True),
        (stars(old=2.31), False),
        (but(STARS, stars(old=2.31), min_topics=35), False),
    ],
    "low-2010-fig-5.4": [
        (STARS, True),
        (stars(one=3), True),
        (stars(two=1.81), False),
        (but(STARS, stars(two=1.81), min_topics=35), False),
    ],
    "low-2010-fig-5.5": [
        (STARS, True),
        (stars(one=3), True),
        (but(STARS, stars(two=1.7), min_topics=10), True),
        (stars(two=2.2 * 0.83), False),
        (stars(two=2.2 * 0.77), False),
    ],
    "low-2010-fig-5.6": [
        (STARS, True),
        (stars(two=3), True),
        (but(STARS, stars(one=1.7), min_topics=10), True),
        (stars(one=2.2 * 0.83), False),
        (stars(one=2.2 * 0.77), False),
    ],
    "low-2010-fig-5.7": [
        (STARS, True),
        (stars(old=3), True),
        (stars(one=1.76 / 0.988), False),
        (stars(one=1.76 / 0.992), False),
        (stars(one=1.76 * 0.99), False),
    ],
    "low-2010-fig-5.8": [
        (STARS, True),
        (stars(power=0), False),
        (stars(power=0.5), False),
        *(
            (but(STARS, stars(power=0.5), designer=name, seed=7), False)
            for name in ("gm", "cd-oda", "cd-oda-1", "cd-oda-2")
        ),
    ],
}


@pytest.mark.parametrize(
    ("claim", "results", "holds"), [(claim, *case) for claim, cases in HOLDS_AND_FAILS.items() for case in cases]
)
def test_a_claim_holds_or_fails(claim: str, results: Results, holds: bool) -> None:
    verdict = verdict_on(claim, results)
    assert (verdict.holds, verdict.repetitions) == (holds, FIGURES[verdict.figure].repetitions)


def test_no_claim_is_forgotten() -> None:
    claims = [claim.id for figure in FIGURES.values() if figure.paper == "Low 2010" for claim in figure.claims]
    assert sorted(HOLDS_AND_FAILS) == sorted(claims)
    for cases in HOLDS_AND_FAILS.values():
        assert {holds for _, holds in cases} == {True, False}
