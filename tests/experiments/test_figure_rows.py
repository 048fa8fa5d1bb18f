"""Rows of a figure: what stands beside the results of a run; and which runs come first."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from topicloom.experiments.catalogue import find_figures
from topicloom.experiments.figure_grid import plan_figures, with_parameters
from topicloom.experiments.graph_samples import Graphs
from topicloom.spark.cells import Cell

CELL = Cell("design", {"k": 3, "nodes": 100, "popularity": "zipf", "seed": 7})


def test_parameters_and_the_repetition_stand_beside_every_row() -> None:
    rows = with_parameters(CELL, pa.table({"support": [0.5, 1.0]}))
    beside = {"k": 3, "nodes": 100, "popularity": "zipf", "seed": 7, "repetition": 7}
    assert rows.to_pylist() == [{"support": 0.5, **beside}, {"support": 1.0, **beside}]


def test_a_result_keeps_its_name_and_its_value() -> None:
    (row,) = with_parameters(CELL, pa.table({"nodes": [99], "k": [4], "parameter_k": [5]})).to_pylist()
    assert (row["nodes"], row["parameter_nodes"]) == (99, 100)
    assert (row["k"], row["parameter_k"]) == (4, 5)


def test_samples_that_only_distributions_need_come_last(tmp_path: Path) -> None:
    for name in ("ego_facebook", "facebook_pages", "twitter_followers", "slashdot_followers"):
        (tmp_path / f"{name}.txt").write_text("a b\n")
    figures = find_figures(["partial-2016-fig-3", "partial-2016-fig-4"], quick=True)
    pending = plan_figures(figures, tmp_path / "out", Graphs(tmp_path, tmp_path / "out")).pending
    runs = [cell.run for cell in pending]
    assert runs == sorted(runs, key=lambda run: run == "ccdf")
    assert len(set(runs)) == 2
