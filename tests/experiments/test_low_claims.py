"""The claims of Low 2010 on made-up results: all hold on some, and exactly the right ones fail on others."""

from __future__ import annotations

from typing import Any

import pytest
from made_up import FIGURES, Results, failing, one_row


def degrees(measure: str, gm: float, minmax: float, low: float) -> Results:
    degree = {"gm": gm, "minmax-oda": minmax, "low-oda": low}
    return one_row(**{"nodes": lambda p: p["nodes"], measure: lambda p: degree[p["designer"]]})


def steps(measure: str, gm: float, minmax: float, first: float, last: float) -> Results:
    """Low-ODA goes from `first` with k = 1 to `last` with k = 8."""

    def degree(p: Any) -> float:
        if p["designer"] == "low-oda":
            return first + (last - first) * (p["k"] - 1) / 7
        return gm if p["designer"] == "gm" else minmax

    return one_row(**{measure: degree})


def stars(
    plain: float = 2.2, one: float = 1.778, two: float = 1.76, gm: float = -1, star: int = 2, path: int = 5
) -> Results:
    """Links as multiples of those of GM, which fall with the topics; `star` and `path` are diameters."""
    times = {"gm": 1.0, "cd-oda": plain, "cd-oda-1": one, "cd-oda-2": two}

    def links(p: Any) -> float:
        return times[p["designer"]] * (1000 + gm * p["min_topics"])

    return one_row(
        edges=links,
        average_degree=lambda p: links(p) / 50,
        max_topic_diameter=lambda p: path if p["designer"] == "gm" else star,
    )


CASES: list[tuple[str, Results, set[int]]] = [
    ("low-2010-fig-1", degrees("max_degree", gm=20, minmax=8, low=10), set()),
    ("low-2010-fig-1", degrees("max_degree", gm=20, minmax=8, low=20), {1, 3}),
    ("low-2010-fig-1", degrees("max_degree", gm=20, minmax=8, low=21), {1, 2, 3}),
    ("low-2010-fig-1", degrees("max_degree", gm=20, minmax=8, low=7), {2}),
    ("low-2010-fig-1", degrees("max_degree", gm=20, minmax=8, low=15), {3}),
    ("low-2010-fig-2", degrees("average_degree", gm=5, minmax=8, low=6), set()),
    ("low-2010-fig-2", degrees("average_degree", gm=5, minmax=8, low=8.5), {1, 2, 3}),
    ("low-2010-fig-2", degrees("average_degree", gm=5, minmax=8, low=4), {2}),
    ("low-2010-fig-2", degrees("average_degree", gm=5, minmax=8, low=7), {3}),
    ("low-2010-fig-3", steps("max_degree", gm=20, minmax=8, first=18, last=9), set()),
    ("low-2010-fig-3", steps("max_degree", gm=20, minmax=8, first=9, last=9), {1, 3}),
    ("low-2010-fig-3", steps("max_degree", gm=20, minmax=8, first=18, last=12), {2}),
    ("low-2010-fig-3", steps("max_degree", gm=20, minmax=8, first=30, last=9), {1}),
    ("low-2010-fig-4", steps("average_degree", gm=4, minmax=8, first=4.5, last=7), set()),
    ("low-2010-fig-4", steps("average_degree", gm=4, minmax=8, first=7, last=7), {1, 3}),
    ("low-2010-fig-4", steps("average_degree", gm=4, minmax=8, first=4.5, last=5), {2}),
    ("low-2010-fig-5", stars(), set()),
    ("low-2010-fig-5", stars(star=3), {1}),
    ("low-2010-fig-5", stars(star=1), {1}),
    ("low-2010-fig-5", stars(path=2), {2}),
    ("low-2010-fig-5", stars(plain=2.4), {3, 5, 6}),
    ("low-2010-fig-5", stars(two=1.85), {4, 5, 7}),
    ("low-2010-fig-5", stars(one=1.6), {6, 7}),
    ("low-2010-fig-5", stars(gm=1), {8}),
]


@pytest.mark.parametrize(("figure", "results", "fails"), CASES)
def test_exactly_these_claims_fail(figure: str, results: Results, fails: set[int]) -> None:
    assert failing(figure, results) == fails


def test_every_claim_can_fail_and_hold() -> None:
    for figure in (figure for figure in FIGURES.values() if figure.paper == "Low 2010"):
        failed = [fails for name, _, fails in CASES if name == figure.id]
        assert set() in failed
        assert set.union(*failed) == set(range(1, len(figure.claims) + 1))
