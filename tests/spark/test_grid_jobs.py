"""What cells of a grid need is made while others run, once, and where it cannot be made only they fail."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from topicloom.errors import InputError
from topicloom.spark.grid import Cell, GridStopped, GridWatch, NeedError, kept, plan_grid, run_grid

PATIENCE_SECONDS = 60
# The last two need the same.
CELLS = [Cell("test", {"number": number}, fingerprint="f" if number > 1 else None) for number in range(4)]


def ran(
    spark: SparkSession, folder: Path, make: Callable[[], Any], watch: GridWatch | None = None
) -> tuple[dict[Cell, str], list[Any]]:
    """Errors, and for each cell what its task was sent, or that it has no rows."""

    def work(cell: Cell, sent: Any) -> pa.Table:
        return pa.table({"sent": [str(sent)]})

    def needed(cell: Cell) -> tuple[str, Callable[[], Any]] | None:
        return None if cell.fingerprint is None else ("key", make)

    errors = run_grid(spark, plan_grid(CELLS, folder), work, watch or GridWatch(), needed)
    rows = [kept(folder, cell) for cell in CELLS]
    return errors, [None if found is None else found["sent"][0].as_py() for found in rows]


def waits_for(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return true()


def test_others_run_while_something_is_made_once(spark: SparkSession, tmp_path: Path) -> None:
    watch, made = GridWatch(), []

    def make() -> str:
        made.append(waits_for(lambda: watch.done == 2))
        return f"counted {spark.range(3).count()}"

    assert ran(spark, tmp_path, make, watch) == ({}, ["None", "None", "counted 3", "counted 3"])
    assert made == [True]


def test_what_cannot_be_made_fails_those_that_need_it(spark: SparkSession, tmp_path: Path) -> None:
    def fails(error: Exception) -> Callable[[], None]:
        def make() -> None:
            raise error

        return make

    errors, rows = ran(spark, tmp_path, fails(NeedError("no such graph")))
    assert errors == dict.fromkeys(CELLS[2:], "no such graph")
    assert rows == ["None", "None", None, None]
    with pytest.raises(InputError, match=r"^has changed$"):
        ran(spark, tmp_path, fails(InputError("has changed")))


def test_making_can_be_stopped(spark: SparkSession, tmp_path: Path) -> None:
    watch = GridWatch()

    def make() -> None:
        waits_for(lambda: watch.done == 2)
        watch.stop()
        time.sleep(0.2)

    with pytest.raises(GridStopped):
        ran(spark, tmp_path, make, watch)
    assert [kept(tmp_path, cell) is not None for cell in CELLS] == [True, True, False, False]


def test_workers_do_not_collect_again_what_stays(spark: SparkSession, tmp_path: Path) -> None:
    grid = plan_grid([Cell("test", {"number": number}) for number in range(5)], tmp_path)
    errors = run_grid(spark, grid, lambda cell, sent: pa.table({"spared": [gc.get_freeze_count()]}), GridWatch())
    rows = [kept(tmp_path, cell) for cell in grid.cells]
    assert not errors
    assert max(found["spared"][0].as_py() for found in rows if found is not None) > 1000
