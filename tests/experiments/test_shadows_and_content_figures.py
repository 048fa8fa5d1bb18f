"""The files of Shadows and Content on tiny workloads: all that they ask for is measured, and as pandas measures it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from topicloom.experiments.catalogue import all_figures
from topicloom.experiments.cells import Cell, with_parameters
from topicloom.experiments.claims import check
from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure, Value
from topicloom.experiments.queries import Runs
from topicloom.experiments.runs import run_cell

FIGURES = {
    name: figure for name, figure in all_figures(quick=True).items() if name.startswith(("shadows-", "content-"))
}
SMALLER: dict[str, Callable[[Any], Value]] = {
    "nodes": lambda _: 40,
    "topics": lambda _: 15,
    "min_topics": lambda _: 2,
    "max_topics": lambda _: 8,
    "rounds": lambda _: 20,
    "users": lambda users: users // 20,
    "users_per_broker": lambda _: 10,
    "channels": lambda _: 8,
}


@cache
def rows_of(name: str) -> pa.Table:
    """All rows of a figure, every workload made tiny."""
    figure = FIGURES[name]
    tables = []
    for cell in figure.cells:
        tiny = tuple((key, SMALLER[key](value) if key in SMALLER else value) for key, value in cell)
        tables.append(with_parameters(Cell(figure.run, tiny), run_cell(figure.run, dict(tiny), None)))
    return pa.concat_tables(tables, promote_options="permissive")


def test_all_of_both_papers_are_there() -> None:
    shadows, content = [f"shadows-fig-{number}" for number in range(2, 9)], ["fig-9", "fig-10", "table-1"]
    assert list(FIGURES) == [*shadows, *(f"content-{place}" for place in content)]


@pytest.mark.parametrize("figure", FIGURES.values(), ids=lambda figure: figure.id)
def test_every_claim_is_measured_in_every_repetition_and_the_picture_drawn(figure: Figure) -> None:
    runs = Runs(rows_of(figure.id))
    for claim in figure.claims:
        verdict = check(figure, claim, runs, quick=True)
        assert verdict.repetitions == figure.repetitions, claim.id
        if claim.published is None:
            assert verdict.low is not None
            assert verdict.high is not None
            assert 0 <= verdict.low <= verdict.high <= 1, claim.id
    columns, rows = runs.ask(figure.plot.query)
    used = {figure.plot.panels, figure.plot.x, *figure.plot.y, *figure.plot.lines}
    used |= {figure.plot.rows, figure.plot.columns, figure.plot.value} - {""}
    assert used - {""} <= set(columns)
    shown = {
        str(row[columns.index(column)]) for row in rows for column in (*figure.plot.lines, figure.plot.panels) if column
    }
    assert shown - {"join", "leave"} <= set(figure.plot.names)
    assert draw(figure, runs).axes


def uniform(runs: pd.DataFrame, **chosen: str) -> pd.DataFrame:
    runs = runs[runs.popularity == "uniform"]
    for column, value in chosen.items():
        runs = runs[runs[column] == value]
    return runs.sort_values("event")


def means(runs: pd.DataFrame, column: str, by: str) -> dict[Any, pd.Series]:
    """Means of a column for each repetition and popularity, by the value of another column."""
    groups = runs.groupby([by, "repetition", "popularity"])[column].mean()
    return {value: groups[value] for value in sorted(runs[by].unique())}


def by_repetition(cases: pd.Series) -> float:
    return float(cases.groupby("repetition").mean().mean())


def greedy_above(runs: pd.DataFrame, column: str) -> float:
    last = runs[runs.event == 20].set_index(["backups", "repetition", "popularity"])[column]
    return by_repetition((last["greedy"] > last["primal-dual"]).astype(float))


def lower_growth(runs: pd.DataFrame) -> float:
    first, last = (
        runs[runs.event == event].set_index(["coverage", "repetition", "popularity"]).max_degree for event in (1, 20)
    )
    rise = last - first
    return float(np.mean([by_repetition((rise[more] <= rise[more - 1]).astype(float)) for more in (2, 3, 4)]))


def smaller_drops(runs: pd.DataFrame) -> float:
    degree = means(runs, "max_degree", "coverage")
    drop = [degree[at] - degree[at + 1] for at in (1, 2, 3)]
    return float(np.mean([by_repetition((drop[at + 1] < drop[at]).astype(float)) for at in (0, 1)]))


def above_low_oda(runs: pd.DataFrame, method: str, column: str) -> float:
    mean = means(runs, column, "method")
    return by_repetition((mean[method] > mean["rebuild"]).astype(float))


def growth(runs: pd.DataFrame) -> float:
    by = uniform(runs, method="shadow").groupby("repetition").max_degree
    return float((100 * (by.last() - by.first()) / 20).mean())


def in_steps(runs: pd.DataFrame) -> float:
    some = runs[runs.method != "rebuild"].sort_values("event")
    degrees = some.groupby(["repetition", "popularity", "method"]).max_degree
    unchanged = degrees.apply(lambda degree: (degree.diff()[1:] == 0).mean())
    return by_repetition(((degrees.last() > degrees.first()) & (unchanged > 0.5)).astype(float))


def time_ratio(runs: pd.DataFrame, method: str, kind: str) -> float:
    tried, low = (
        uniform(runs, method=one, kind=kind).set_index(["repetition", "event"]).seconds for one in (method, "rebuild")
    )
    return 100 * by_repetition(tried / low)


def links_changed(runs: pd.DataFrame, **chosen: str) -> float:
    some = uniform(runs, **chosen)
    return float((some.links_added + some.links_removed).groupby(some.repetition).mean().mean())


def random_power(runs: pd.DataFrame) -> float:
    cost = runs[runs.algorithm == "random"].set_index(["users", "repetition", "prices"]).total
    least, most = runs.users.min(), runs.users.max()
    return by_repetition(np.log(cost[most] / cost[least]) / np.log(most / least))


def saves_more(runs: pd.DataFrame, one: str, other: str) -> float:
    saved = runs.set_index(["algorithm", "repetition", "prices", "users"]).cost_reduction_ratio
    return by_repetition((saved[one] > saved[other]).astype(float))


def closer(runs: pd.DataFrame) -> float:
    ratio = runs.groupby(["access_to_core", "repetition", "prices"]).cost_reduction_ratio
    spread = ratio.max() / ratio.min()
    return by_repetition((spread[8.0] < spread[0.25]).astype(float))


def against_mixing(runs: pd.DataFrame, algorithm: str) -> float:
    last = runs[runs.access_to_core == 8.0].set_index(["algorithm", "repetition", "prices"]).cost_reduction_ratio
    gap = np.log(last[algorithm] / last["steiner-mixing"]).abs()
    return by_repetition(np.exp(gap))


AGAIN: dict[str, Callable[[pd.DataFrame], float]] = {
    "shadows-fig-2.1": lambda runs: 100 * runs.backup_count.mean() / 40,
    "shadows-fig-2.3": lambda runs: 100 * (runs.primary_count < 5).mean(),
    "shadows-fig-4.4": lambda runs: greedy_above(runs, "max_degree"),
    "shadows-fig-4.5": lambda runs: greedy_above(runs, "average_degree"),
    "shadows-fig-5.6": lower_growth,
    "shadows-fig-5.7": smaller_drops,
    "shadows-fig-6.3": lambda runs: above_low_oda(runs, "shadow", "max_degree"),
    "shadows-fig-6.6": lambda runs: above_low_oda(runs, "naive", "average_degree"),
    "shadows-fig-6.15": growth,
    "shadows-fig-6.16": in_steps,
    "shadows-fig-7.1": lambda runs: time_ratio(runs, "shadow", "join"),
    "shadows-fig-7.4": lambda runs: time_ratio(runs, "naive", "leave"),
    "shadows-fig-8.6": lambda runs: links_changed(runs, method="rebuild"),
    "shadows-fig-8.8": lambda runs: links_changed(runs, method="shadow", kind="leave"),
    "content-fig-9.2": lambda runs: saves_more(runs, "clustering", "packing"),
    "content-fig-9.3": lambda runs: saves_more(runs, "steiner-mixing", "clustering"),
    "content-fig-9.5": random_power,
    "content-fig-10.2": closer,
    "content-fig-10.3": lambda runs: against_mixing(runs, "packing"),
}


@pytest.mark.parametrize("claim", AGAIN)
def test_queries_measure_what_pandas_does(claim: str) -> None:
    name, number = claim.split(".")
    figure, rows = FIGURES[name], rows_of(name)
    found = check(figure, figure.claims[int(number) - 1], Runs(rows), quick=True).number
    assert found == pytest.approx(AGAIN[claim](rows.to_pandas()))
