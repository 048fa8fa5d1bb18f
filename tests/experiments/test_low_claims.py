"""The claims of Low 2010 on made-up results: all hold on some, and exactly the right ones fail on others."""

from __future__ import annotations

import pytest
from made_up import FIGURES, Parameters, Results, but, failing, one_row


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


def stars(
    gm: float = 1,
    old: float = 2.2,
    one: float = 1.778,
    two: float = 1.76,
    power: float = -0.5,
    path: int = 9,
    star: int = 2,
    connected: bool = True,
) -> Results:
    """Degrees as multiples of GM's, which change with this power of the topics of each node.

    `path` is the largest diameter of GM, `star` that of the others, `connected` whether all topics are.
    """
    times = {"gm": gm, "cd-oda": old, "cd-oda-1": one, "cd-oda-2": two}

    def degree(p: Parameters) -> float:
        return 100 * times[p["designer"]] * p["min_topics"] ** power * 2 ** p["seed"]

    return one_row(
        links=lambda p: round(50 * degree(p)),
        average_degree=degree,
        max_topic_diameter=lambda p: path if p["designer"] == "gm" else star,
        topic_connected=lambda p: connected,
    )


DOWN, UP = highest(first=19, last=11), average(first=11.0, last=19.0)
STARS = stars()
ONE_RUN = {"designer": "low-oda", "nodes": 400}
ONE_STAR = {"designer": "cd-oda-1", "min_topics": 35}

CASES: dict[str, list[tuple[Results, set[int]]]] = {
    "low-2010-fig-1": [
        (highest(), set()),
        (highest(low=15), {3}),
        (highest(low=16), {3}),
        (highest(low=20), {1, 3}),
        (highest(low=21), {1, 2, 3}),
        (highest(low=9), {2}),
        (but(highest(), highest(low=16), **ONE_RUN), {3}),
        (but(highest(), highest(low=20), **ONE_RUN), {1, 3}),
        (but(highest(), highest(low=9), **ONE_RUN), {2}),
    ],
    "low-2010-fig-2": [
        (average(), set()),
        (average(low=15.0), {3}),
        (average(low=16.0), {3}),
        (average(low=20.0), {1, 3}),
        (average(low=21.0), {1, 2, 3}),
        (average(low=9.0), {2}),
        (but(average(), average(low=16.0), **ONE_RUN), {3}),
        (but(average(), average(low=20.0), **ONE_RUN), {1, 3}),
        (but(average(), average(low=9.0), **ONE_RUN), {2}),
    ],
    "low-2010-fig-3": [
        (DOWN, set()),
        (highest(first=24, last=12), set()),
        (highest(first=26, last=11), {1}),
        (highest(first=14, last=11), {1}),
        (highest(first=19, last=13), {2}),
        (highest(first=19, last=7), {2}),
        (highest(minmax=18, first=19, last=19), {3}),
        (highest(minmax=18, first=19, last=20), {3}),
        (but(DOWN, highest(last=19), k=8), {2, 3}),
    ],
    "low-2010-fig-4": [
        (UP, set()),
        (average(first=12.0, last=24.0), set()),
        (average(first=13.0, last=19.0), {1}),
        (average(first=7.0, last=19.0), {1}),
        (average(first=11.0, last=26.0), {2}),
        (average(first=11.0, last=14.0), {2}),
        (average(minmax=12.0, first=11.0, last=11.0), {3}),
        (average(minmax=12.0, first=11.0, last=10.0), {3}),
        (but(UP, average(last=11.0), k=8), {2, 3}),
    ],
    "low-2010-fig-5": [
        (STARS, set()),
        (stars(star=3), {1}),
        (but(STARS, stars(star=3), **ONE_STAR), {1}),
        (but(STARS, stars(star=1), **ONE_STAR), {1}),
        (but(STARS, stars(connected=False), **ONE_STAR), {1}),
        (stars(path=2), {2}),
        (but(STARS, stars(path=2), designer="gm", min_topics=50), {2}),
        (stars(old=2.31), {3, 5, 6}),
        (but(STARS, stars(old=2.31), min_topics=35), {3}),
        (but(STARS, stars(old=2.31), min_topics=35), {3}),
        (stars(two=1.81), {4, 5, 7}),
        (but(STARS, stars(one=1.83, two=1.81), min_topics=35), {4}),
        (stars(one=1.71, two=1.693), {5, 6}),
        (but(STARS, stars(one=1.71, two=1.693), min_topics=35), set()),
        (stars(one=1.85), {6, 7}),
        (stars(one=0.5), {6, 7}),
        (stars(one=1.76 / 0.988), {7}),
        (stars(one=1.76 / 0.992), {7}),
        (stars(one=1.76 * 0.99), {7}),
        (stars(power=0), {8}),
        (stars(power=0.5), {8}),
        (but(STARS, stars(gm=2.24), designer="gm", min_topics=50), {8}),
        (but(STARS, stars(old=2.24 * 2.2), designer="cd-oda", min_topics=50), {3, 5, 6, 8}),
        (but(STARS, stars(one=2.24 * 1.778), designer="cd-oda-1", min_topics=50), {6, 7, 8}),
        (but(STARS, stars(two=2.24 * 1.76), designer="cd-oda-2", min_topics=50), {4, 5, 7, 8}),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("figure", "results", "fails"), [(figure, *case) for figure, cases in CASES.items() for case in cases]
)
def test_exactly_these_claims_fail(figure: str, results: Results, fails: set[int]) -> None:
    assert failing(figure, results) == fails


def test_every_claim_can_fail_and_hold() -> None:
    figures = [figure for figure in FIGURES.values() if figure.paper == "Low 2010"]
    assert [figure.id for figure in figures] == list(CASES)
    for figure in figures:
        failed = [fails for _, fails in CASES[figure.id]]
        assert set.intersection(*failed) == set()
        assert set.union(*failed) == set(range(1, len(figure.claims) + 1))
