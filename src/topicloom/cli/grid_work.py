"""Running a grid on Spark while a person watches: progress, the time left, and what is kept after Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from topicloom.cli.progress import Working
from topicloom.cli.spark_work import SparkSession, on_spark
from topicloom.cli.typer_options import Spark
from topicloom.views.numbers import time_left

if TYPE_CHECKING:
    from topicloom.spark.grid import Cell, Grid, GridWatch


T = TypeVar("T")


def run_and_write(
    working: Working,
    spark: Spark,
    command: str,
    grid: Grid,
    run: Callable[[SparkSession, GridWatch, Callable[[str], None]], dict[Cell, str]],
    write: tuple[str, Callable[[dict[Cell, str]], T]],
    things: str = "cells",
) -> T:
    """Run what is left of a grid, without Spark where nothing is, and write its results.

    `run` gets a session, a watch and a function that tells what it does before it runs cells, and gives the errors of
    cells that failed; `write` is how writing is called, and what does it with these errors. `things` are the cells.
    """
    from topicloom.spark.grid import GridWatch, plan_grid

    watch, doing, errors = GridWatch(), [things], dict["Cell", str]()
    try:
        if grid.pending:
            with on_spark(working, spark.options(), f"topicloom {command}", little_data=True) as work:
                errors = work.do(
                    lambda: doing[-1],
                    lambda session: run(session, watch, doing.append),
                    watch=watch,
                    total=len(grid.pending),
                    note=lambda: time_left(watch.seconds_left),
                )
        text, put_together = write
        return working.do(text, lambda: put_together(errors))
    except KeyboardInterrupt:
        # A person wants to know what is lost: nothing of what is done.
        of = len(grid.cells)
        kept = of - len(plan_grid(grid.cells, grid.folder).pending)
        raise KeyboardInterrupt(
            f"stopped; {kept:,} of {of:,} {things} are done and kept, the same command goes on from there"
        ) from None
