"""The support that a run of a designer gives, without merging its links again."""

from __future__ import annotations

from typing import Any

import pytest

from topicloom import DESIGNERS, Constraints, Interest, workloads
from topicloom.designers import DesignProblem, run
from topicloom.metrics import support_curve

INTEREST = workloads.synthetic(30, 12, min_topics=3, popularity="zipf", seed=2)
BUDGETS: dict[str | None, dict[str, Any]] = {"max_edges": {"max_edges": 20}, "max_degree": {"max_degree": 3}, None: {}}
NODES = INTEREST.node_names
TIGHT = Constraints(
    keep=((NODES[0], NODES[1]),), forbid=tuple((NODES[2], other) for other in NODES if other != NODES[2])
)


@pytest.mark.parametrize(
    ("name", "constraints"),
    [
        (name, constraints)
        for name, designer in DESIGNERS.items()
        for constraints in (None, TIGHT)
        if name != "exact" and (constraints is None or "constraints" in designer.honours)
    ],
)
def test_support_is_that_of_all_links(name: str, constraints: Constraints | None) -> None:
    designer = DESIGNERS[name]
    made = run(DesignProblem.of(INTEREST, constraints=constraints, seed=1), name, **BUDGETS[designer.budget])
    assert made.support == support_curve(INTEREST, made.overlay)[-1]


def test_nothing_to_merge_is_full_support() -> None:
    made = run(DesignProblem.of(Interest.from_pairs([("a", "x"), ("b", "y")])), "gm")
    assert made.support == 1
