"""The claims of Partial 2016 about drawn workloads on made-up results: exactly the right ones fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from made_up import FIGURES, Parameters, Results, but, failing, one_row, runs_of

from topicloom.experiments.drawing import draw

pytestmark = pytest.mark.slow

FIG_6, FIG_7, FIG_8, FIG_9 = (f"partial-2016-fig-{number}" for number in (6, 7, 8, 9))
# The first and the last support of each designer under each popularity.
Ends = Mapping[str, Mapping[str, tuple[float, float]]]

NODES: Ends = {
    "exponential": {"gpa": (0.85, 0.95), "gpm": (0.8, 0.835), "spidercast-m": (0.5, 0.6), "random-m": (0.38, 0.38)},
    "zipf": {"gpa": (0.85, 0.97), "gpm": (0.84, 0.92), "spidercast-m": (0.7, 0.8), "random-m": (0.65, 0.66)},
    "uniform": {"gpa": (0.4, 0.5), "gpm": (0.36, 0.383), "spidercast-m": (0.2, 0.3), "random-m": (0.07, 0.08)},
}
# GPM cannot have both its numbers of the text and the support of 80% that the text gives it under Expo: claim 10 fails.
TOPICS: Ends = {
    "exponential": {"gpa": (0.9, 0.81), "gpm": (0.653, 0.244), "spidercast-m": (0.4, 0.2), "random-m": (0.3, 0.06)},
    "zipf": {"gpa": (0.9, 0.89), "gpm": (0.82, 0.8161), "spidercast-m": (0.7, 0.69), "random-m": (0.6, 0.5969)},
    "uniform": {"gpa": (0.5, 0.3), "gpm": (0.3, 0.15), "spidercast-m": (0.2, 0.14), "random-m": (0.1, 0.05)},
}
WANTED: Ends = {
    "exponential": {"gpa": (0.8, 0.85), "gpm": (0.6, 0.8), "spidercast-m": (0.4, 0.75), "random-m": (0.2, 0.7)},
    "zipf": {"gpa": (0.99, 0.85), "gpm": (0.9, 0.84), "spidercast-m": (0.8, 0.78), "random-m": (0.75, 0.74)},
    "uniform": {"gpa": (0.5, 0.55), "gpm": (0.3, 0.45), "spidercast-m": (0.2, 0.4), "random-m": (0.05, 0.3)},
}
# At a budget ratio of 0.2 and above.
RATIOS = {
    "exponential": {"gpa": 0.99, "gpm": 0.9, "spidercast-m": 0.85, "random-m": 0.5},
    "zipf": {"gpa": 0.99, "gpm": 0.9, "spidercast-m": 0.85, "random-m": 0.6},
    "uniform": {"gpa": 0.7, "gpm": 0.6, "spidercast-m": 0.55, "random-m": 0.2},
}


def changed(supports: Mapping[str, Any], popularity: str, designers: Mapping[str, Any]) -> dict[str, Any]:
    assert designers.keys() <= {"gpa", "gpm", "spidercast_m", "random_m"}
    new = {name.replace("_", "-"): support for name, support in designers.items()}
    return {**supports, popularity: {**supports[popularity], **new}}


def by_size(supports: Ends, size: str, first: int, last: int, highest: int) -> Results:
    """Supports that go from one to another as `size` does; `highest` is the maximum degree of MinMax-ODA."""

    def support(p: Parameters) -> float:
        if p["designer"] == "minmax-oda":
            return 1.0
        low, high = supports[p["popularity"]][p["designer"]]
        return low + (high - low) * (p[size] - first) / (last - first)

    return one_row(
        nodes=lambda p: p["nodes"],
        topics=lambda p: p["topics"] - 7,  # some that nobody wants
        support=support,
        max_degree=lambda p: highest if p["designer"] == "minmax-oda" else 4,
    )


def nodes(popularity: str = "zipf", highest: int = 20, **designers: tuple[float, float]) -> Results:
    return by_size(changed(NODES, popularity, designers), "nodes", 1000, 10_000, highest)


def topics(popularity: str = "zipf", highest: int = 15, **designers: tuple[float, float]) -> Results:
    return by_size(changed(TOPICS, popularity, designers), "topics", 1000, 10_000, highest)


def wanted(popularity: str = "zipf", highest: int = 20, **designers: tuple[float, float]) -> Results:
    return by_size(changed(WANTED, popularity, designers), "min_topics", 10, 100, highest)


def ratios(popularity: str = "zipf", **designers: float) -> Results:
    """Supports; below 0.2 only parts of them, others under each popularity and in each repetition."""
    supports = changed(RATIOS, popularity, designers)
    reached = {"exponential": 0.9, "zipf": 0.6, "uniform": 0.3}

    def support(p: Parameters) -> float:
        part = 1 if p["budget_ratio"] >= 0.2 else reached[p["popularity"]] / p["seed"]
        return supports[p["popularity"]][p["designer"]] * part

    return one_row(support=support)


def but_one(make: Any, popularity: str, designer: str, support: float, **where: int) -> Results:
    """What `make` makes, but one designer has this support under one popularity where parameters are so."""
    ends = support if make is ratios else (support, support)
    other = make(popularity, **{designer: ends})
    return but(make(), other, popularity=popularity, designer=designer.replace("_", "-"), **where)


PARETO = topics("exponential", gpm=(0.9, 0.81))

CASES: dict[str, list[tuple[Results, set[int]]]] = {
    FIG_6: [
        (nodes(), set()),
        (but_one(nodes, "uniform", "gpa", 0.07, nodes=1000), {1}),
        (but_one(nodes, "uniform", "gpa", 0.075, nodes=1000), set()),
        (but_one(nodes, "uniform", "gpm", 0.07, nodes=1000), {2, 6}),
        (but_one(nodes, "uniform", "gpm", 0.075, nodes=1000), {6}),
        (but_one(nodes, "uniform", "spidercast_m", 0.05, nodes=5000), {3}),
        (nodes("zipf", spidercast_m=(0.65, 0.8)), {3}),
        (nodes("exponential", random_m=(0.45, 0.45)), {4}),
        (nodes("exponential", random_m=(0.3, 0.3)), {4}),
        (nodes("zipf", random_m=(0.69, 0.695)), {5}),
        (nodes("zipf", random_m=(0.5, 0.5)), {5}),
        (nodes("uniform", random_m=(0.12, 0.12)), {6}),
        (nodes("uniform", random_m=(0.01, 0.01)), {6}),
        (nodes("zipf", gpa=(1.0, 1.0)), {7, 20}),
        (but_one(nodes, "zipf", "gpa", 0.85, nodes=10_000), {7, 20}),
        (but_one(nodes, "exponential", "gpm", 0.8, nodes=10_000), {8, 20}),
        (but_one(nodes, "uniform", "spidercast_m", 0.2, nodes=10_000), {9, 20}),
        (but_one(nodes, "zipf", "random_m", 0.71, nodes=10_000), {10}),
        (but_one(nodes, "uniform", "random_m", 0.15, nodes=5000), set()),
        (but_one(nodes, "zipf", "random_m", 0.6, nodes=10_000), set()),
        (but_one(nodes, "exponential", "gpm", 0.95, nodes=10_000), {11}),
        (but_one(nodes, "exponential", "gpm", 0.74, nodes=10_000), {8, 11, 16, 20}),
        (but_one(nodes, "zipf", "gpm", 0.82, nodes=10_000), {5, 8, 12, 20}),
        (but_one(nodes, "uniform", "gpm", 0.43, nodes=10_000), {13}),
        (but_one(nodes, "uniform", "gpm", 0.34, nodes=10_000), {8, 13, 20}),
        (but_one(nodes, "uniform", "spidercast_m", 0.6, nodes=5000), {14}),
        (but_one(nodes, "uniform", "spidercast_m", 0.5, nodes=1000), {9, 14, 20}),
        (but_one(nodes, "exponential", "random_m", 0.05, nodes=2500), {4, 14}),
        (but_one(nodes, "zipf", "gpa", 0.8, nodes=2500), set()),
        (but_one(nodes, "zipf", "gpa", 0.79, nodes=2500), {15}),
        (but_one(nodes, "exponential", "gpm", 0.79, nodes=2500), {16}),
        (but_one(nodes, "uniform", "gpa", 0.79, nodes=2500), set()),
        (but_one(nodes, "uniform", "gpa", 0.8, nodes=2500), {17}),
        (but_one(nodes, "uniform", "gpm", 0.79, nodes=2500), {6}),
        (but_one(nodes, "uniform", "gpm", 0.8, nodes=2500), {6, 18}),
        (but(nodes(highest=15), nodes(highest=27), popularity="zipf"), set()),
        (nodes(highest=30), {19}),
        (nodes(highest=15), {19}),
        (nodes("uniform", random_m=(0.07, 0.11)), {20}),
        (but(nodes(), nodes("uniform", random_m=(0.07, 0.11))), {20}),
    ],
    FIG_7: [
        (topics(), {10}),
        (PARETO, {5, 6, 16}),
        (but(PARETO, topics(gpm=(0.8, 0.8)), designer="gpm", popularity="zipf", topics=5000), {5, 6, 16}),
        (but(PARETO, topics(gpm=(0.79, 0.79)), designer="gpm", popularity="zipf", topics=5000), {5, 6, 10, 16}),
        (but_one(topics, "uniform", "gpa", 0.3, topics=1000), {1, 8, 10}),
        (but_one(topics, "uniform", "gpm", 0.15, topics=1000), {2, 8, 10, 18}),
        (but_one(topics, "uniform", "spidercast_m", 0.14, topics=1000), {3, 8, 10}),
        (but_one(topics, "uniform", "random_m", 0.05, topics=1000), {4, 8, 10, 18}),
        (but_one(topics, "zipf", "gpa", 0.91, topics=10_000), {1, 10}),
        (but_one(topics, "exponential", "gpm", 0.73, topics=1000), {5, 10}),
        (but_one(topics, "exponential", "gpm", 0.58, topics=1000), {5, 10}),
        (but_one(topics, "exponential", "gpm", 0.28, topics=10_000), {6, 10}),
        (but_one(topics, "exponential", "gpm", 0.21, topics=10_000), {6, 10}),
        (topics("zipf", gpm=(0.82, 0.8156)), {7, 10}),
        (topics("zipf", gpm=(0.82, 0.8166)), {7, 10}),
        (topics("zipf", gpm=(0.82, 0.8239)), {2, 7, 10}),
        (topics("zipf", gpa=(0.9, 0.845)), {10}),
        (topics("zipf", spidercast_m=(0.7, 0.61)), {8, 10}),
        (but(topics(gpa=(0.9, 0.9)), topics("uniform", gpa=(0.4, 0.4)), popularity="uniform"), {1, 8, 10}),
        (but_one(topics, "zipf", "gpa", 0.8, topics=5000), {10}),
        (but_one(topics, "exponential", "gpa", 0.79, topics=5000), {9, 10}),
        (but_one(topics, "zipf", "gpa", 0.79, topics=5000), {9, 10}),
        (but_one(topics, "uniform", "gpa", 0.79, topics=2500), {10}),
        (but_one(topics, "uniform", "gpa", 0.8, topics=2500), {10, 11}),
        (but_one(topics, "uniform", "gpm", 0.79, topics=2500), {10, 18}),
        (but_one(topics, "uniform", "gpm", 0.8, topics=2500), {10, 12, 18}),
        (but_one(topics, "uniform", "gpa", 0.12, topics=5000), {10}),
        (but_one(topics, "uniform", "gpa", 0.06, topics=10_000), {10}),
        (but_one(topics, "uniform", "gpa", 0.05, topics=10_000), {10, 13}),
        (but_one(topics, "uniform", "gpm", 0.05, topics=10_000), {10, 14}),
        (but_one(topics, "uniform", "spidercast_m", 0.01, topics=5000), {10, 15}),
        (topics("uniform", spidercast_m=(0.1, 0.05)), {10, 15}),
        (topics("exponential", random_m=(0.35, 0.12)), {10, 16}),
        (topics("exponential", random_m=(0.2, 0.01)), {10, 16}),
        (but_one(topics, "zipf", "gpm", 0.87, topics=5000), {10}),
        (but_one(topics, "zipf", "gpm", 0.79, topics=5000), {10}),
        (topics("zipf", random_m=(0.68, 0.6769)), {10, 17}),
        (topics("zipf", random_m=(0.5, 0.499)), {10, 17}),
        (topics("uniform", random_m=(0.15, 0.1)), {10, 18}),
        (topics("uniform", random_m=(0.05, 0.01)), {10, 18}),
        (topics(highest=30), {10, 19}),
        (topics(highest=10), {10, 19}),
        (but(topics(highest=11), topics(highest=22), popularity="zipf"), {10}),
    ],
    FIG_8: [
        (wanted(), set()),
        (but(wanted(), wanted(gpa=(0.1, 0.1), gpm=(1.0, 1.0)), min_topics=50), set()),
        (but_one(wanted, "exponential", "gpa", 0.8, min_topics=100), {1}),
        (but_one(wanted, "exponential", "gpm", 0.6, min_topics=100), {1}),
        (but_one(wanted, "exponential", "random_m", 0.1, min_topics=100), {1, 4}),
        (but_one(wanted, "uniform", "spidercast_m", 0.2, min_topics=100), {2}),
        (but_one(wanted, "uniform", "gpm", 0.2, min_topics=100), {2}),
        (but_one(wanted, "zipf", "spidercast_m", 0.8, min_topics=100), {3}),
        (but_one(wanted, "zipf", "random_m", 0.76, min_topics=100), {3}),
        (wanted("uniform", gpa=(0.5, 0.76)), {4}),
        (wanted("uniform", **dict.fromkeys(("gpa", "gpm", "spidercast_m", "random_m"), (0.2, 0.3))), {4}),
        (but_one(wanted, "zipf", "gpa", 0.985, min_topics=100), {4}),
        (wanted(highest=30), {5}),
        (wanted(highest=15), {5}),
        (but(wanted(highest=15), wanted(highest=27), popularity="zipf"), set()),
    ],
    FIG_9: [
        (ratios(), set()),
        (but_one(ratios, "zipf", "gpa", 0.9, budget_ratio=0.5), {1}),
        (but_one(ratios, "zipf", "gpa", 0.89, budget_ratio=0.5), {1}),
        (but_one(ratios, "zipf", "gpm", 1.0, budget_ratio=0.5), {1}),
        (
            but(
                ratios(), ratios(gpa=1.0, gpm=1.0, spidercast_m=1.0, random_m=1.0), popularity="zipf", budget_ratio=0.5
            ),
            set(),
        ),
        (but_one(ratios, "uniform", "spidercast_m", 0.6, budget_ratio=0.05), {2}),
        (but_one(ratios, "exponential", "spidercast_m", 0.91, budget_ratio=1.0), {2}),
        (but_one(ratios, "exponential", "random_m", 0.85, budget_ratio=1.0), {3}),
        (ratios(gpa=0.8, gpm=0.8, spidercast_m=0.8), {1, 2}),
        (ratios(gpa=0.79, gpm=0.78, spidercast_m=0.77), {4}),
        (but(ratios(), ratios(gpa=0.79, gpm=0.78, spidercast_m=0.77), budget_ratio=0.3), set()),
        (but_one(ratios, "zipf", "gpa", 0.7, budget_ratio=0.2), {1, 5}),
        (but_one(ratios, "exponential", "gpa", 0.7, budget_ratio=0.2), {1, 5}),
        (but_one(ratios, "exponential", "gpa", 0.7, budget_ratio=0.3), {1}),
        (ratios("uniform", gpa=0.45), {1, 6}),
        (ratios("uniform", gpa=0.39), {1, 6, 11}),
        (but_one(ratios, "zipf", "gpm", 0.6, budget_ratio=0.2), {2, 7}),
        (but_one(ratios, "exponential", "gpm", 0.6, budget_ratio=0.2), {2, 7}),
        (but_one(ratios, "exponential", "gpm", 0.6, budget_ratio=0.3), {2}),
        (ratios("uniform", gpm=0.45), {2, 8}),
        (ratios("uniform", gpm=0.39), {2, 8, 11}),
        (but_one(ratios, "exponential", "spidercast_m", 0.55, budget_ratio=0.2), {9}),
        (but_one(ratios, "zipf", "spidercast_m", 0.55, budget_ratio=0.2), {3, 9}),
        (but_one(ratios, "exponential", "spidercast_m", 0.55, budget_ratio=0.3), set()),
        (ratios("uniform", spidercast_m=0.45), {10}),
        (but_one(ratios, "uniform", "spidercast_m", 0.45, budget_ratio=0.3), set()),
        (but_one(ratios, "uniform", "random_m", 0.275, budget_ratio=0.2), set()),
        (but_one(ratios, "uniform", "random_m", 0.28, budget_ratio=0.2), {11}),
        (but_one(ratios, "uniform", "random_m", 0.28, budget_ratio=0.3), set()),
    ],
}


@pytest.mark.parametrize(
    ("figure", "results", "fails"), [(figure, *case) for figure, cases in CASES.items() for case in cases]
)
def test_exactly_these_claims_fail(figure: str, results: Results, fails: set[int]) -> None:
    assert failing(figure, results) == fails


def test_no_figure_is_forgotten() -> None:
    figures = [figure for figure in FIGURES.values() if figure.paper == "Partial 2016" and not figure.needs_graphs]
    assert [figure.id for figure in figures] == list(CASES)


@pytest.mark.parametrize("figure", CASES)
def test_every_claim_can_fail_and_hold(figure: str) -> None:
    failed = [fails for _, fails in CASES[figure]]
    assert set.intersection(*failed) == set()
    assert set.union(*failed) == set(range(1, len(FIGURES[figure].claims) + 1))


def test_ranges_of_topics_are_drawn_at_their_middle() -> None:
    picture = draw(FIGURES[FIG_8], runs_of(FIGURES[FIG_8], wanted()))
    assert [axes.get_title(loc="left") for axes in picture.axes] == [
        f"{popularity}, {reading}"
        for reading in ("fitted sizes", "power law")
        for popularity in ("Expo", "Zipf", "Unif")
    ]
    assert picture.axes[0].lines[0].get_xdata().tolist() == list(range(50, 141, 10))
    assert len(picture.axes[0].lines) == 4, "minmax-oda is not drawn"
