"""Made-up runs of a figure: its cells, with results that a test thinks of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa

from topicloom.experiments.catalogue import all_figures
from topicloom.experiments.claims import Verdict, check
from topicloom.experiments.figure import Figure
from topicloom.experiments.figure import Parameters as Pairs
from topicloom.experiments.figure_grid import beside
from topicloom.experiments.queries import Runs
from topicloom.spark.cells import Cell

Parameters = Mapping[str, Any]
# The rows that a run with these parameters would give.
Results = Callable[[Parameters], Sequence[Mapping[str, Any]]]

FIGURES = all_figures()


def one_row(**columns: Callable[[Parameters], Any]) -> Results:
    """Runs of one row, whose columns follow from the parameters."""
    return lambda parameters: [{name: value(parameters) for name, value in columns.items()}]


def runs_of(figure: Figure, results: Results) -> dict[str, Runs]:
    """All cells of a figure, by its readings, with these results."""
    return {
        reading.name: Runs(_rows(figure, reading.cells, results), figure.parameters, figure.curve)
        for reading in figure.readings
    }


def _first_runs(figure: Figure, results: Results) -> dict[str, Runs]:
    """The first reading, which alone decides whether a claim holds."""
    return runs_of(replace(figure, readings=figure.readings[:1]), results)


def _rows(figure: Figure, cells: tuple[Pairs, ...], results: Results) -> pa.Table:
    rows = [{**row, **beside(cell, row)} for cell in _cells(figure.run, cells) for row in results(cell.parameters)]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


@cache
def _cells(run: str, cells: tuple[Pairs, ...]) -> list[Cell]:
    return [Cell(run, dict(cell)) for cell in cells]


def verdict_on(claim: str, results: Results) -> Verdict:
    """What becomes of a claim, such as `gm-2007-fig-2.1`, if runs gave these results."""
    figure = FIGURES[claim.rsplit(".", 1)[0]]
    (one,) = (each for each in figure.claims if each.id == claim)
    return check(figure, one, _first_runs(figure, results), quick=False)


def failing(figure: str, results: Results) -> set[int]:
    """The numbers of a figure's claims that do not hold if runs gave these results."""
    whole = FIGURES[figure]
    runs = _first_runs(whole, results)
    verdicts = [check(whole, claim, runs, quick=False) for claim in whole.claims]
    assert all(verdict.repetitions == whole.repetitions for verdict in verdicts)
    return {number for number, verdict in enumerate(verdicts, start=1) if not verdict.holds}


def but(results: Results, others: Results, **where: Any) -> Results:
    """These results, but the others in the runs that have all of these parameters."""
    return lambda parameters: others(parameters) if where.items() <= dict(parameters).items() else results(parameters)
