"""The rules that claims are held to, and how a verdict reads."""

from __future__ import annotations

import pyarrow as pa
import pytest

from topicloom.experiments.claims import check, ours
from topicloom.experiments.figure import Claim, Figure, Plot
from topicloom.experiments.queries import Runs
from topicloom.experiments.verdict import Verdict
from topicloom.present.numbers import claimed

FIGURE = Figure("p-fig-1", "P", "figure 1", "t", "a", "design", ((("seed", 1),),), Plot("lines"), ())


def judged(
    rule: str, published: float | None, *values: float | None, quick: bool = False, differs: str = "For a reason."
) -> Verdict:
    claim = Claim("p-fig-1.1", "section 1", "s", rule, "SELECT value FROM runs", published, "", differs)
    runs = Runs(pa.table({"value": pa.array(values, pa.float64())}))
    return check(FIGURE, claim, runs, quick=quick)


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
    assert ours(verdict) == "10 (8 to 13)"


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
    assert ours(judged("always", None, 1.0, 0.5)) == "75% of cases (50% to 100%)"
    assert ours(judged("equal", 1)) == "–"


def test_a_claim_is_well_formed() -> None:
    with pytest.raises(ValueError, match="unknown rule 'nearly'"):
        judged("nearly", 1)
    for rule, published in (("always", 1), ("equal", None)):
        with pytest.raises(ValueError, match="published number"):
            judged(rule, published)
