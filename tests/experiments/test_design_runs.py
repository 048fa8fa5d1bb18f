"""Designs as a figure runs them, under readings that are not the designer's."""

from __future__ import annotations

from typing import Any

import pytest

from topicloom.experiments.runs import run_cell, run_design
from topicloom.spark.cells import Cell
from topicloom.workloads import synthetic

SHAPE: dict[str, Any] = {"nodes": 60, "topics": 12, "min_topics": 4, "seed": 3}


def test_rings_are_counted_apart_where_that_is_asked_for() -> None:
    """Every node has two links in each of its rings, however many it shares."""
    interest = synthetic(**SHAPE)
    given = {"designer": "ring-per-topic", "seed": 3}
    (shared,) = run_design(given, interest).to_pylist()
    (apart,) = run_design({**given, "count": "each ring"}, interest).to_pylist()
    assert apart["average_degree"] == pytest.approx(8)
    assert shared["average_degree"] < 8
    assert {**apart, "average_degree": 0, "seconds": 0} == {**shared, "average_degree": 0, "seconds": 0}


def test_the_exponential_popularity_may_be_read_as_another() -> None:
    def edges(**more: Any) -> int:
        return int(run_cell(Cell("design", {**SHAPE, "designer": "gm", **more}), None)["links"][0].as_py())

    steep = edges(popularity="steep-exponential")
    assert edges(popularity="exponential", exponential_as="steep-exponential") == steep
    assert edges(popularity="uniform", exponential_as="steep-exponential") == edges(popularity="uniform")
    assert edges(popularity="exponential") != steep


def test_a_budget_ratio_is_a_share_of_the_same_matchings() -> None:
    interest = synthetic(**SHAPE)
    given = {"designer": "gpa", "budget_ratio": 0.5, "seed": 3}
    whole = {
        matching: run_design({"designer": "minmax-oda", "matching": matching, "seed": 3}, interest)["links"][0].as_py()
        for matching in ("useful", "maximal")
    }
    assert whole["useful"] < whole["maximal"]
    for matching, edges in whole.items():
        (row,) = run_design({**given, "matching": matching}, interest).to_pylist()
        assert row["parameter_max_edges"] == edges // 2
