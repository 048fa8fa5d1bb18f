"""The claims of Partial 2016 on made-up results: all hold on some, and exactly the right ones fail on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from made_up import FIGURES, Results, failing, one_row, runs_of
from matplotlib.figure import Figure as Picture

from topicloom.experiments.drawing import draw

Parameters = Mapping[str, Any]


def curves(slope: float = -1.5, part: float = -1.6, bend: float = 0) -> Results:
    """CCDFs that are straight lines of these slopes, in whole graphs and in parts, or bent ones."""

    def rows(p: Parameters) -> list[dict[str, Any]]:
        exponent = slope if "nodes" not in p else part
        return [
            {"of": of, "size": size, "share": size**exponent * 10 ** (-bend * (size > 50))}
            for of in ("followees", "followers")
            for size in range(1, 101)
        ]

    return rows


def level(p: Parameters) -> list[dict[str, Any]]:
    """Every topic has about as many followers."""
    shares = [(of, 100 + step, 1 - step / 10) for of in ("followees", "followers") for step in range(10)]
    return [{"of": of, "size": size, "share": share} for of, size, share in shares]


def social(gap: float, **other: float) -> Results:
    """Designs in samples of social graphs: supports, and degrees as `gpa_degree`, `minmax_degree` and so on."""
    support = {"gpa": 1.0, "gpm": 0.95, "random-a": 0.3, "random-m": 0.3, "gm": 1.0, "minmax-oda": 1.0, **other}
    support.setdefault("spidercast-m", support["gpm"] - gap)
    highest = {"gpa": other.get("gpa_degree", 373), "minmax-oda": other.get("minmax_degree", 231)}
    return one_row(
        support=lambda p: support[p["designer"]],
        max_degree=lambda p: highest.get(p["designer"], 46),
        average_degree=lambda p: other.get("gpa_average", 2.74),
        edges=lambda p: other.get("minmax_edges", 6000) if p["designer"] == "minmax-oda" else 1300,
    )


TABLE = {
    "gpa": (1, 1, 1, 1),
    "gpm": (0.951, 0.974, 0.983, 0.998),
    "spidercast-m": (0.904, 0.915, 0.867, 0.986),
    "random-m": (0.367, 0.06, 0.425, 0.669),
}


def table(times: Mapping[tuple[str, int], float] | None = None) -> Results:
    """Table I as published; `times` multiplies what a designer has in one of the columns."""

    def support(p: Parameters) -> float:
        column = 2 * (p["graph"] in ("twitter-followers", "slashdot-followers")) + (p["nodes"] == 10_000)
        return TABLE[p["designer"]][column] * (times or {}).get((p["designer"], column), 1)

    return one_row(nodes=lambda p: p["nodes"], support=support)


def by_size(
    supports: Mapping[str, Mapping[str, tuple[float, float]]], size: str, ends: tuple[int, int], highest: float
) -> Results:
    """Supports by popularity and designer that go from one to another as `size` does; and minmax-oda's degree."""

    def support(p: Parameters) -> float:
        if p["designer"] == "minmax-oda":
            return 1.0
        first, last = supports[p["popularity"]][p["designer"]]
        return first + (last - first) * (p[size] - ends[0]) / (ends[1] - ends[0])

    return one_row(
        nodes=lambda p: p["nodes"], topics=lambda p: p["topics"], support=support, max_degree=lambda p: highest
    )


def changed(supports: Any, popularity: str, **designers: tuple[float, float]) -> Any:
    new = {name.replace("_", "-"): ends for name, ends in designers.items()}
    return {**supports, popularity: {**supports[popularity], **new}}


NODES = {
    "exponential": {"gpa": (0.85, 0.95), "gpm": (0.8, 0.835), "spidercast-m": (0.5, 0.6), "random-m": (0.38, 0.38)},
    "zipf": {"gpa": (0.85, 0.97), "gpm": (0.84, 0.92), "spidercast-m": (0.7, 0.8), "random-m": (0.65, 0.66)},
    "uniform": {"gpa": (0.4, 0.5), "gpm": (0.36, 0.383), "spidercast-m": (0.2, 0.3), "random-m": (0.07, 0.08)},
}


def nodes(supports: Any = NODES, highest: float = 20) -> Results:
    return by_size(supports, "nodes", (1000, 10_000), highest)


TOPICS = {
    "exponential": {"gpa": (0.9, 0.81), "gpm": (0.653, 0.244), "spidercast-m": (0.4, 0.2), "random-m": (0.3, 0.06)},
    "zipf": {"gpa": (0.9, 0.89), "gpm": (0.82, 0.8161), "spidercast-m": (0.7, 0.69), "random-m": (0.6, 0.5969)},
    "uniform": {"gpa": (0.5, 0.3), "gpm": (0.3, 0.15), "spidercast-m": (0.2, 0.14), "random-m": (0.1, 0.05)},
}


def topics(supports: Any = TOPICS, highest: float = 15) -> Results:
    return by_size(supports, "topics", (1000, 10_000), highest)


WANTED = {
    "exponential": {"gpa": (0.8, 0.85), "gpm": (0.6, 0.8), "spidercast-m": (0.4, 0.75), "random-m": (0.2, 0.7)},
    "zipf": {"gpa": (0.99, 0.85), "gpm": (0.9, 0.84), "spidercast-m": (0.8, 0.78), "random-m": (0.75, 0.74)},
    "uniform": {"gpa": (0.5, 0.55), "gpm": (0.3, 0.45), "spidercast-m": (0.2, 0.4), "random-m": (0.05, 0.3)},
}


def wanted(supports: Any = WANTED, highest: float = 20) -> Results:
    return by_size(supports, "min_topics", (10, 100), highest)


RATIOS = {
    "exponential": {"gpa": 0.99, "gpm": 0.9, "spidercast-m": 0.85, "random-m": 0.5},
    "zipf": {"gpa": 0.99, "gpm": 0.9, "spidercast-m": 0.85, "random-m": 0.6},
    "uniform": {"gpa": 0.7, "gpm": 0.6, "spidercast-m": 0.55, "random-m": 0.2},
}


def ratios(popularity: str = "zipf", **designers: float) -> Results:
    new = {name.replace("_", "-"): support for name, support in designers.items()}
    supports: Any = {**RATIOS, popularity: {**RATIOS[popularity], **new}}
    return one_row(support=lambda p: supports[p["popularity"]][p["designer"]])


CASES: list[tuple[str, Results, set[int]]] = [
    ("partial-2016-fig-3", curves(), set()),
    ("partial-2016-fig-3", curves(part=-2.0), {1}),
    ("partial-2016-fig-3", curves(part=-1.0), {1}),
    ("partial-2016-fig-3", level, {2, 3}),
    ("partial-2016-fig-3", curves(slope=-0.5, part=-0.5, bend=3), {3}),
    *(
        (f"partial-2016-fig-{number}", results, fails)
        for number, gap in ((4, 0.034), (5, 0.048))
        for results, fails in (
            (social(gap), set()),
            (social(gap, gpa=0.85), {1, 10}),
            (social(gap, gpa=0.7), {1, 5, 10}),
            (social(gap, **{"spidercast-m": 0.96}), {2, 8}),
            (social(gap, **{"spidercast-m": 0.79}), {7, 8}),
            (social(2 * gap), {8}),
            (social(gap, **{"random-a": 0.98}), {3, 9}),
            (social(gap, **{"random-m": 0.98}), {4, 9}),
            (social(gap, minmax_edges=1200), {11}),
        )
    ),
    ("partial-2016-fig-4", social(0.034, gpm=0.7), {6, 7, 14, 18}),
    ("partial-2016-fig-4", social(0.034, gpa_degree=300), {16, 20}),
    ("partial-2016-fig-4", social(0.034, gpa_degree=46), {12, 16, 20}),
    ("partial-2016-fig-4", social(0.034, gpa_average=2), {15, 19}),
    ("partial-2016-fig-4", social(0.034, minmax_degree=60), {13, 17}),
    ("partial-2016-fig-5", social(0.048, gpm=0.7), {6, 7}),
    ("partial-2016-fig-5", social(0.048, gpa_degree=46), {12}),
    ("partial-2016-table-1", table(), set()),
    ("partial-2016-table-1", table({("gpa", 0): 0.8}), {1, 2}),
    ("partial-2016-table-1", table({("gpa", 1): 0.5}), {3, 28}),
    ("partial-2016-table-1", table({("gpa", 2): 0.8}), {4, 5}),
    ("partial-2016-table-1", table({("gpa", 3): 0.8}), {6}),
    ("partial-2016-table-1", table({("gpm", 0): 1.12}), {7, 8, 25, 26}),
    ("partial-2016-table-1", table({("gpm", 1): 0.6}), {9, 25, 27, 29}),
    ("partial-2016-table-1", table({("gpm", 2): 0.8}), {10, 11}),
    ("partial-2016-table-1", table({("gpm", 3): 0.8}), {12}),
    ("partial-2016-table-1", table({("spidercast-m", 0): 0.8}), {13, 14}),
    ("partial-2016-table-1", table({("spidercast-m", 1): 0.5}), {15, 30}),
    ("partial-2016-table-1", table({("spidercast-m", 2): 0.8}), {16, 17}),
    ("partial-2016-table-1", table({("spidercast-m", 3): 0.8}), {18}),
    ("partial-2016-table-1", table({("random-m", 0): 0.8}), {19, 20, 26}),
    ("partial-2016-table-1", table({("random-m", 1): 0.8}), {21}),
    ("partial-2016-table-1", table({("random-m", 2): 0.8}), {22, 23}),
    ("partial-2016-table-1", table({("random-m", 3): 0.8}), {24}),
    ("partial-2016-fig-6", nodes(), set()),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", gpa=(0.01, 0.02))), {1}),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", gpm=(0.01, 0.02))), {2, 6, 13}),
    ("partial-2016-fig-6", nodes(changed(NODES, "zipf", spidercast_m=(0.6, 0.8))), {3}),
    ("partial-2016-fig-6", nodes(changed(NODES, "exponential", random_m=(0.2, 0.2))), {4}),
    ("partial-2016-fig-6", nodes(changed(NODES, "zipf", random_m=(0.5, 0.5))), {5}),
    ("partial-2016-fig-6", nodes(changed(NODES, "zipf", gpa=(1, 1))), {7}),
    ("partial-2016-fig-6", nodes(changed(NODES, "exponential", gpm=(0.84, 0.83))), {8}),
    ("partial-2016-fig-6", nodes(changed(NODES, "exponential", spidercast_m=(0.6, 0.5))), {9}),
    ("partial-2016-fig-6", nodes(changed(NODES, "zipf", random_m=(0.63, 0.69))), {10}),
    ("partial-2016-fig-6", nodes(changed(NODES, "exponential", gpm=(0.6, 0.74))), {4, 11, 16}),
    ("partial-2016-fig-6", nodes(changed(NODES, "zipf", gpm=(0.81, 0.82))), {5, 12}),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", gpm=(0.3, 0.5), random_m=(0.1, 0.1))), {13}),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", spidercast_m=(0.5, 0.65))), {14}),
    ("partial-2016-fig-6", nodes(changed(NODES, "exponential", gpa=(0.7, 0.95))), {15}),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", gpa=(0.4, 0.82))), {17}),
    ("partial-2016-fig-6", nodes(changed(NODES, "uniform", gpm=(0.81, 0.82))), {6, 13, 14, 18}),
    ("partial-2016-fig-6", nodes(highest=30), {19}),
    ("partial-2016-fig-7", topics(), {10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", gpa=(0.9, 0.91))), {1, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", gpm=(0.22, 0.23))), {2, 8, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", spidercast_m=(0.7, 0.71))), {3, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", random_m=(0.6, 0.61))), {4, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "exponential", gpm=(0.58, 0.31))), {5, 6, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", gpm=(0.83, 0.806))), {7, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", spidercast_m=(0.7, 0.61))), {8, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "exponential", gpa=(0.9, 0.7))), {9, 10}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "exponential", gpm=(0.9, 0.81))), {5, 6, 16}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", gpa=(0.85, 0.3))), {10, 11}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", gpm=(0.85, 0.15))), {10, 12, 18}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", gpa=(0.09, 0.04))), {10, 13}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", gpm=(0.09, 0.04))), {10, 14, 18}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "uniform", spidercast_m=(0.1, 0.05))), {10, 15}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "exponential", random_m=(0.2, 0.01))), {10, 16}),
    ("partial-2016-fig-7", topics(changed(TOPICS, "zipf", random_m=(0.5, 0.499))), {10, 17}),
    ("partial-2016-fig-7", topics(highest=30), {10, 19}),
    ("partial-2016-fig-8", wanted(), set()),
    ("partial-2016-fig-8", wanted(changed(WANTED, "exponential", gpa=(0.85, 0.8))), {1}),
    ("partial-2016-fig-8", wanted(changed(WANTED, "uniform", spidercast_m=(0.4, 0.4))), {2}),
    ("partial-2016-fig-8", wanted(changed(WANTED, "zipf", random_m=(0.75, 0.76))), {3}),
    ("partial-2016-fig-8", wanted(changed(WANTED, "uniform", gpa=(0.5, 0.9))), {4}),
    ("partial-2016-fig-8", wanted(highest=30), {5}),
    ("partial-2016-fig-9", ratios(), set()),
    ("partial-2016-fig-9", ratios(gpa=0.89), {1}),
    ("partial-2016-fig-9", ratios(spidercast_m=0.91), {2}),
    ("partial-2016-fig-9", ratios(random_m=0.86), {3}),
    ("partial-2016-fig-9", ratios(gpa=0.79, gpm=0.78, spidercast_m=0.77), {4}),
    ("partial-2016-fig-9", ratios(gpa=0.65, gpm=0.65), {2, 4, 5}),
    ("partial-2016-fig-9", ratios("uniform", gpa=0.45), {1, 6}),
    ("partial-2016-fig-9", ratios(gpm=0.59, spidercast_m=0.58, random_m=0.5), {4, 7}),
    ("partial-2016-fig-9", ratios("uniform", gpm=0.45, spidercast_m=0.43), {8, 10}),
    ("partial-2016-fig-9", ratios(spidercast_m=0.54, random_m=0.5), {9}),
    ("partial-2016-fig-9", ratios("uniform", random_m=0.3), {11}),
]


@pytest.mark.parametrize(("figure", "results", "fails"), CASES)
def test_exactly_these_claims_fail(figure: str, results: Results, fails: set[int]) -> None:
    assert failing(figure, results) == fails


def test_every_claim_can_fail_and_hold() -> None:
    for figure in (figure for figure in FIGURES.values() if figure.paper == "Partial 2016"):
        failed = [fails for name, _, fails in CASES if name == figure.id]
        assert set.intersection(*failed) == set()
        assert set.union(*failed) == set(range(1, len(figure.claims) + 1))


def drawn(figure: str, results: Results) -> Picture:
    return draw(FIGURES[figure], runs_of(FIGURES[figure], results))


def test_the_columns_of_the_table_are_samples() -> None:
    (axes,) = drawn("partial-2016-table-1", table()).axes
    cells = {place: cell.get_text().get_text() for place, cell in axes.tables[0].get_celld().items()}
    heads = [cells[0, column] for column in range(6)]
    assert heads == [
        "FB 1K, ego-Facebook",
        "FB 1K, pages",
        "FB 10K, pages",
        "TW 1K, Twitter",
        "TW 1K, Slashdot",
        "TW 10K, Slashdot",
    ]
    assert cells[2, -1] == "GPM"
    assert cells[2, heads.index("TW 10K, Slashdot")] == "0.998"


def test_curves_are_drawn_of_whole_graphs_and_of_samples() -> None:
    picture = drawn("partial-2016-fig-3", curves())
    titles = [axes.get_title(loc="left") for axes in picture.axes]
    assert titles == ["whole graph, followees", "whole graph, followers", "sample, followees", "sample, followers"]
    assert [len(axes.lines) for axes in picture.axes] == [4] * 4
    assert picture.axes[2].lines[0].get_ydata()[9] == pytest.approx(10**-1.6)


def test_ranges_of_topics_are_drawn_at_their_middle() -> None:
    picture = drawn("partial-2016-fig-8", wanted())
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["Expo", "Zipf", "Unif"]
    assert picture.axes[0].lines[0].get_xdata().tolist() == list(range(50, 141, 10))
    assert len(picture.axes[0].lines) == 4, "minmax-oda is not drawn"
