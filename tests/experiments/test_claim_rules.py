"""The rules that claims are held to, and how a verdict reads."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from topicloom.experiments.claims import ReadingVerdict, Verdict, check, others, ours
from topicloom.experiments.figure import Claim, Curve, Figure, Plot
from topicloom.experiments.queries import Runs
from topicloom.views.numbers import claimed

FIGURE = Figure("p-fig-1", "P", "figure 1", "t", "a", "design", (), Plot("lines"), ())


def judged(
    rule: str, published: float | None, *values: float | None, quick: bool = False, differs: str = "For a reason."
) -> Verdict:
    claim = Claim("p-fig-1.1", "section 1", "s", rule, "SELECT value FROM runs", published, "", differs)
    runs = Runs(pa.table({"value": pa.array(values, pa.float64())}))
    return check(FIGURE, claim, {"": runs}, quick=quick)


@pytest.mark.parametrize(
    ("rule", "published", "values", "holds"),
    [
        ("equal", 10, [9.0], True),
        ("equal", 10, [11.0], True),
        ("equal", 10, [8.99], False),
        ("equal", 10, [11.01], False),
        ("equal", 10, [5.0, 15.0], True),
        ("equal", -10, [-9.5], True),
        ("equal", 0, [0.001], False),
        ("about", 10, [7.5], True),
        ("about", 10, [12.51], False),
        ("about", 10, [7.49], False),
        ("order", 10, [3.2], True),
        ("order", 10, [31.0], True),
        ("order", 10, [3.1], False),
        ("order", 10, [32.0], False),
        ("at most", 10, [10.0], True),
        ("at most", 10, [9.0, 11.1], False),
        ("at least", 10, [10.0], True),
        ("at least", 10, [9.99], False),
        ("always", None, [1.0, 1.0], True),
        ("always", None, [1.0, 0.99], False),
        ("mostly", None, [1.0, 0.1], True),
        ("mostly", None, [0.5, 0.5], False),
        ("equal", 10, [], None),
        ("always", None, [None], None),
        ("equal", 10, [None, 10.0], True),
    ],
)
def test_rules(rule: str, published: float | None, values: list[float | None], holds: bool | None) -> None:
    verdict = judged(rule, published, *values)
    assert verdict.holds is holds
    assert bool(verdict.sentence) is (holds is False)


def test_a_number_has_its_spread() -> None:
    verdict = judged("equal", 10, 8.0, 9.0, 13.0, None)
    assert (verdict.number, verdict.low, verdict.high, verdict.repetitions) == (10.0, 8.0, 13.0, 3)
    assert str(ours(verdict)) == "10 (8 to 13)"


RATIO = "SELECT repetition, max(1.0 * y / x) AS value FROM runs GROUP BY repetition"
UP = "SELECT repetition, avg(after.y > before.y) AS value FROM {0} after JOIN {0} before USING (repetition) "
UP += "WHERE after.x = before.x + 1 GROUP BY repetition"


def of_points(rule: str, query: str, points: pa.Table, published: float | None = None, **more: Any) -> Verdict:
    claim = Claim("p-fig-1.1", "section 1", "s", rule, query, published)
    return check(FIGURE, claim, {"": Runs(points, {"x", "seed"}, **more)}, quick=False)


def test_a_curve_is_judged_on_the_means_of_the_repetitions() -> None:
    points = pa.table({"x": [1, 1, 2, 2], "seed": [3, 4, 3, 4], "repetition": [3, 4, 3, 4], "y": [1, 5, 4, 4]})
    found = of_points("always", UP.format("runs"), points)
    assert (found.number, found.low, found.high, found.repetitions, found.holds) == (1, 0, 1, 2, True)
    found = of_points("at most", RATIO, points, 3)
    assert (found.number, found.low, found.high, found.holds) == (3, 2, 5, True)


def test_the_mean_of_equals_is_what_they_are() -> None:
    points = pa.table({"x": [1, 1, 1], "repetition": [3, 4, 5], "ratio": [0.2, 0.2, 0.2], "y": [None, None, 4]})
    found = of_points(
        "equal", "SELECT repetition, y AS value FROM runs WHERE ratio = 0.2 GROUP BY repetition", points, 4
    )
    assert (found.number, found.repetitions) == (4, 1)


def test_what_is_true_or_false_is_true_on_a_curve_where_it_always_is() -> None:
    points = pa.table({"x": [1, 1, 2, 2], "repetition": [3, 4, 3, 4], "whole": [True, False, True, True]})
    found = of_points("mostly", "SELECT avg(whole) AS value FROM runs GROUP BY repetition", points)
    assert (found.number, found.low, found.high) == (0.5, 0.5, 1)


def test_rows_that_are_no_curve_are_judged_repetition_by_repetition() -> None:
    rows = pa.table({"x": [1, 1, 1, 1], "repetition": [3, 3, 4, 4], "y": [1, 3, 5, 7]})
    found = of_points("equal", "SELECT repetition, max(y) AS value FROM runs GROUP BY repetition", rows, 5)
    assert (found.number, found.low, found.high, found.repetitions, found.holds) == (5, 3, 7, 2, True)


def test_a_figure_may_say_what_curve_its_rows_come_to() -> None:
    rows = pa.table(
        {"x": [1, 1, 2, 2] * 2, "repetition": [3] * 4 + [4] * 4, "y": [1, 1, 2, 4, 5, 5, 4, 4], "kind": ["a", "b"] * 4}
    )
    curve = Curve("SELECT repetition, x, avg(y) AS y FROM runs GROUP BY repetition, x", ("x",))
    found = of_points("always", UP.format("curve"), rows, curve=curve)
    assert (found.number, found.low, found.high, found.holds) == (1, 0, 1, True)
    found = of_points("equal", "SELECT repetition, max(y) AS value FROM runs GROUP BY repetition", rows, 4, curve=curve)
    assert (found.number, found.low, found.high) == (4.5, 4, 5)


def test_other_readings_stand_beside_the_first() -> None:
    claim = Claim("p-fig-1.1", "section 1", "s", "equal", "SELECT value FROM runs", 10, "", "For a reason.")
    runs = {name: Runs(pa.table({"value": pa.array(values)})) for name, values in (("a", [8.0]), ("b", [9.5, 10.5]))}
    verdict = check(FIGURE, claim, runs, quick=False)
    assert (verdict.reading, verdict.number, verdict.holds, verdict.sentence) == ("a", 8, False, "For a reason.")
    assert verdict.others == (ReadingVerdict("b", 10, 9.5, 10.5, 2, True),)
    assert [(name, str(number), holds) for name, number, holds in others(verdict)] == [("b", "10 (9.5 to 10.5)", True)]


def test_what_does_not_hold_says_why() -> None:
    assert judged("at most", 25, 30.0).sentence == "For a reason."
    assert judged("at most", 25, 30.0, differs="").sentence == "It is not known why."
    smaller = "A quick run has smaller sizes or fewer repetitions than a full one."
    assert judged("at most", 25, 30.0, quick=True).sentence == f"{smaller} Of the published full run: For a reason."
    assert judged("at most", 25, 30.0, quick=True, differs="").sentence == smaller


def test_words() -> None:
    assert claimed("always", None, "") == "always"
    assert claimed("equal", 0.068, "%") == "0.068%"
    assert claimed("about", 3, "times") == "about 3 times"
    assert claimed("equal", 12345.6, "links") == "12,346 links"
    assert claimed("order", 0.001) == "order of 0.001"
    assert str(ours(judged("always", None, 1.0, 0.5))) == "75% of cases (50% to 100%)"
    assert str(ours(judged("equal", 1))) == "–"


def test_a_claim_is_well_formed() -> None:
    with pytest.raises(ValueError, match="unknown rule 'nearly'"):
        judged("nearly", 1)
    for rule, published in (("always", 1), ("equal", None)):
        with pytest.raises(ValueError, match="published number"):
            judged(rule, published)
