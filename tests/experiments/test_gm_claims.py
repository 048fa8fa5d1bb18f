"""The claims of GM 2007 on made-up results: each holds where it should and fails where it must."""

from __future__ import annotations

import pytest
from made_up import FIGURES, Results, one_row, verdict_on

TIMES = {"zipf": 1.5, "uniform": 2.0, "exponential": 1.0}


def degrees(nodes: float = -0.1, topics: float = 0.5, **popularity: float) -> Results:
    """Degrees that grow with powers of nodes and topics; `zipf=3` makes those under Zipf 3 times as high."""
    times = {**TIMES, **popularity}
    return one_row(
        nodes=lambda p: p["nodes"],
        topics=lambda p: p["topics"],
        average_degree=lambda p: times[p["popularity"]] * p["nodes"] ** nodes * p["topics"] ** topics,
    )


def steps(nodes: float = 2, topics: float = -1, ratio: float = 0.1, degree: float = -1, **popularity: float) -> Results:
    times = {"zipf": 1.1, "uniform": 1, "exponential": 1.3, **popularity}

    def count(p: object) -> float:
        return ratio * times[p["popularity"]] * p["nodes"] ** nodes * p["topics"] ** topics  # type: ignore[index]

    return one_row(
        steps=count,
        steps_ratio=lambda p: count(p) / p["nodes"] ** 2 / p["topics"] * 100,
        average_degree=lambda p: times[p["popularity"]] ** degree,
    )


def rings(gm: float = 6, ring: float = 18, gm_20: float = 7, ring_20: float = 35) -> Results:
    """Degrees of both designers, with 10 topics a node and with 20."""
    degree = {("gm", 10): gm, ("ring-per-topic", 10): ring, ("gm", 20): gm_20, ("ring-per-topic", 20): ring_20}
    return one_row(
        nodes=lambda p: p["nodes"],
        topics=lambda p: p["topics"],
        average_degree=lambda p: float(degree[p["designer"], p["min_topics"]]),
    )


HOLDS_AND_FAILS: dict[str, list[tuple[Results, bool]]] = {
    "gm-2007-fig-2.1": [(degrees(), True), (degrees(nodes=0), False), (degrees(nodes=0.1), False)],
    "gm-2007-fig-2.2": [(degrees(), True), (degrees(uniform=0.9), False)],
    "gm-2007-fig-2.3": [(degrees(), True), (degrees(zipf=0.9), False), (degrees(uniform=0.9), True)],
    "gm-2007-fig-2.4": [(degrees(), True), (degrees(topics=-0.5), False)],
    "gm-2007-fig-3.1": [(steps(), True), (steps(ratio=1), False), (steps(ratio=0.01), False)],
    "gm-2007-fig-3.2": [(steps(), True), (steps(nodes=1.5), False), (steps(nodes=2.5), False)],
    "gm-2007-fig-3.3": [(steps(), True), (steps(topics=1), False)],
    "gm-2007-fig-3.4": [(steps(), True), (steps(uniform=2), False), (steps(zipf=2), False), (steps(degree=1), False)],
    "gm-2007-fig-4a.1": [(rings(), True), (rings(gm=10), False), (rings(gm=4), False)],
    "gm-2007-fig-4a.2": [(rings(), True), (rings(ring=10), False)],
    "gm-2007-fig-4b.1": [(rings(), True), (rings(gm_20=8), False)],
    "gm-2007-fig-4b.2": [(rings(), True), (rings(ring_20=20), False), (rings(ring_20=50), False)],
    "gm-2007-fig-4b.3": [(rings(ring_20=56), True), (rings(), False), (rings(ring=48), True), (rings(ring=54), False)],
}


@pytest.mark.parametrize(
    ("claim", "results", "holds"), [(claim, *case) for claim, cases in HOLDS_AND_FAILS.items() for case in cases]
)
def test_a_claim_holds_or_fails(claim: str, results: Results, holds: bool) -> None:
    assert verdict_on(claim, results).holds is holds


def test_no_claim_is_forgotten() -> None:
    claims = [claim.id for figure in FIGURES.values() if figure.paper == "GM 2007" for claim in figure.claims]
    assert sorted(HOLDS_AND_FAILS) == sorted(claims)
    for cases in HOLDS_AND_FAILS.values():
        assert {holds for _, holds in cases} == {True, False}
