"""Rows of a figure: what stands beside the results of a run."""

from __future__ import annotations

import pyarrow as pa

from topicloom.experiments.figure_grid import with_parameters
from topicloom.pipeline.grids.cell import Cell

CELL = Cell("design", {"k": 3, "nodes": 100, "popularity": "zipf", "seed": 7})


def test_parameters_and_the_repetition_stand_beside_every_row() -> None:
    rows = with_parameters(CELL, pa.table({"support": [0.5, 1.0]}))
    beside = {"k": 3, "nodes": 100, "popularity": "zipf", "seed": 7, "repetition": 7}
    assert rows.to_pylist() == [{"support": 0.5, **beside}, {"support": 1.0, **beside}]


def test_a_result_keeps_its_name_and_its_value() -> None:
    (row,) = with_parameters(CELL, pa.table({"nodes": [99], "k": [4], "parameter_k": [5]})).to_pylist()
    assert (row["nodes"], row["parameter_nodes"]) == (99, 100)
    assert (row["k"], row["parameter_k"]) == (4, 5)
