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
from topicloom.experiments.claims import check
from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure, Value
from topicloom.experiments.figure_grid import with_parameters
from topicloom.experiments.queries import Runs
from topicloom.experiments.runs import run_cell
from topicloom.spark.cells import Cell

FIGURES = {
    name: figure for name, figure in all_figures(quick=True).items() if name.startswith(("shadows-", "content-"))
}
MEASURED = {
    *("subscription_size", "backup_count", "primary_count", "shadow", "nodes_now", "max_degree", "average_degree"),
    *("links_added", "links_removed", "repair_ratio", "seconds", "total", "published"),
}
LAST = 20
SMALLER: dict[str, Callable[[Any], Value]] = {
    "nodes": lambda _: 40,
    "topics": lambda _: 15,
    "min_topics": lambda _: 2,
    "max_topics": lambda _: 8,
    "rounds": lambda _: LAST,
    "users": lambda users: users // 20,
    "users_per_broker": lambda _: 10,
    "channels": lambda _: 8,
}


@cache
def rows_of(name: str) -> pa.Table:
    """All rows of the first reading of a figure, every workload made tiny."""
    figure = FIGURES[name]
    tables = []
    for parameters in figure.readings[0].cells:
        tiny = {key: SMALLER[key](value) if key in SMALLER else value for key, value in parameters}
        cell = Cell(figure.run, tiny)
        tables.append(with_parameters(cell, run_cell(cell, None)))
    return pa.concat_tables(tables, promote_options="permissive")


def test_all_of_both_papers_are_there() -> None:
    shadows, content = [f"shadows-fig-{number}" for number in range(2, 9)], ["fig-9", "fig-10", "table-1"]
    assert list(FIGURES) == [*shadows, *(f"content-{place}" for place in content)]


@pytest.mark.parametrize("figure", FIGURES.values(), ids=lambda figure: figure.id)
def test_every_claim_is_measured_in_every_repetition_and_the_picture_drawn(figure: Figure) -> None:
    runs = Runs(rows_of(figure.id), figure.parameters, figure.curve)
    for claim in figure.claims:
        verdict = check(figure, claim, {"": runs}, quick=True)
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
    assert draw(figure, {figure.readings[0].name: runs}).axes


def with_random_results(name: str, seed: int) -> pa.Table:
    """The rows of a figure with random numbers for all that was measured, so that no two queries give the same."""
    rows = rows_of(name)
    rng = np.random.default_rng(seed)
    for place, column in enumerate(rows.schema):
        if column.name in MEASURED:
            count = pa.types.is_integer(column.type)
            drawn = rng.integers(1, 60, len(rows)) if count else rng.uniform(0.8, 1.2, len(rows))
            rows = rows.set_column(place, column.name, pa.array(drawn))
    return rows


def only(runs: pd.DataFrame, **chosen: Any) -> pd.DataFrame:
    """The rows with these values, in the order of events where there are any."""
    for column, value in chosen.items():
        runs = runs[runs[column] == value]
    return runs.sort_values("event") if "event" in runs else runs


def uniform(runs: pd.DataFrame, **chosen: Any) -> pd.DataFrame:
    return only(runs, popularity="uniform", **chosen)


def mean(runs: pd.DataFrame, values: pd.Series) -> float:
    """The mean of the means of the repetitions."""
    return float(values.groupby(runs.repetition).mean().mean())


def share(cases: pd.Series) -> float:
    """The share of the cases that are true; cases of all repetitions are equally many."""
    return float(cases.astype(float).groupby("repetition").mean().mean())


def means(runs: pd.DataFrame, column: str, by: str, *, also: str = "popularity") -> dict[Any, pd.Series]:
    """Means of a column for each repetition and another one, by the value of a third."""
    groups = runs.groupby([by, "repetition", also])[column].mean()
    return {value: groups[value] for value in sorted(runs[by].unique())}


def ratio(one: pd.DataFrame, other: pd.DataFrame, column: str) -> float:
    """The ratio of means, repetition by repetition."""
    return float((one.groupby("repetition")[column].mean() / other.groupby("repetition")[column].mean()).mean())


def difference(one: pd.DataFrame, other: pd.DataFrame, column: str) -> float:
    return float((one.groupby("repetition")[column].mean() - other.groupby("repetition")[column].mean()).mean())


def correlated(runs: pd.DataFrame, column: str) -> float:
    return float(np.mean([np.corrcoef(of.subscription_size, of[column])[0, 1] for _, of in runs.groupby("repetition")]))


def exponential(runs: pd.DataFrame) -> float:
    logs = runs.assign(logs=np.log1p(runs.primary_count))
    better = [
        np.corrcoef(of.subscription_size, of.logs)[0, 1] > np.corrcoef(of.subscription_size, of.primary_count)[0, 1]
        for _, of in logs.groupby("repetition")
    ]
    return float(np.mean(better))


def balanced(runs: pd.DataFrame) -> float:
    counts = runs.groupby(["backups", "repetition"]).primary_count
    peak = counts.max() / counts.mean()
    return share(peak["primal-dual"] < peak["greedy"])


def higher_in_the_end(runs: pd.DataFrame, column: str) -> float:
    by = ["backups", "popularity", "repetition"]
    first, last = (only(runs, event=event).set_index(by)[column] for event in (1, LAST))
    return share(last > first)


def greedy_above(runs: pd.DataFrame, column: str) -> float:
    last = only(runs, event=LAST).set_index(["backups", "repetition", "popularity"])[column]
    return share(last["greedy"] > last["primal-dual"])


def lower_growth(runs: pd.DataFrame) -> float:
    first, last = (
        only(runs, event=event).set_index(["coverage", "repetition", "popularity"]).max_degree for event in (1, LAST)
    )
    rise = last - first
    return float(np.mean([share(rise[more] <= rise[more - 1]) for more in (2, 3, 4)]))


def smaller_drops(runs: pd.DataFrame) -> float:
    degree = means(runs, "max_degree", "coverage")
    drop = [degree[at] - degree[at + 1] for at in (1, 2, 3)]
    return float(np.mean([share(drop[at + 1] < drop[at]) for at in (0, 1)]))


def steps_of_coverage(runs: pd.DataFrame, column: str, sign: int) -> float:
    by = means(runs, column, "coverage")
    return float(np.mean([share(sign * by[more] > sign * by[more - 1]) for more in (2, 3, 4)]))


def four_to_three(runs: pd.DataFrame) -> float:
    last = uniform(runs, event=LAST)
    return ratio(only(last, coverage=4), only(last, coverage=3), "max_degree")


def smaller_drops_of_growth(runs: pd.DataFrame) -> float:
    by = runs.sort_values("event").groupby(["coverage", "repetition", "popularity"]).max_degree
    rise = by.last() - by.first()
    drop = [rise[at] - rise[at + 1] for at in (1, 2, 3)]
    return float(np.mean([share(drop[at + 1] < drop[at]) for at in (0, 1)]))


def above_low_oda(runs: pd.DataFrame, method: str, column: str) -> float:
    by = means(runs, column, "method")
    return share(by[method] > by["rebuild"])


def ends(runs: pd.DataFrame, method: str, column: str) -> tuple[pd.Series, pd.Series]:
    """What a column is after the first event and after the last, with uniform popularity."""
    by = uniform(runs, method=method).groupby("repetition")[column]
    return by.first(), by.last()


def kept_average(runs: pd.DataFrame, method: str) -> float:
    first, last = ends(runs, method, "average_degree")
    return float((last / first).mean())


def growth(runs: pd.DataFrame, method: str) -> float:
    first, last = ends(runs, method, "max_degree")
    return float((100 * (last - first) / LAST).mean())


def in_steps(runs: pd.DataFrame) -> float:
    some = runs[runs.method != "rebuild"].sort_values("event")
    degrees = some.groupby(["repetition", "popularity", "method"]).max_degree
    unchanged = degrees.apply(lambda degree: (degree.diff()[1:] == 0).mean())
    return share((degrees.last() > degrees.first()) & (unchanged > 0.5))


def steady(runs: pd.DataFrame) -> float:
    low = only(runs, method="rebuild")
    change = low.groupby(["repetition", "popularity"]).average_degree.pct_change().dropna()
    return 100 * mean(low, (change.abs() <= 0.1 + 1e-12).astype(float))


def time_ratios(runs: pd.DataFrame, method: str, **chosen: Any) -> pd.Series:
    """Percent of the time of Low-ODA, event by event."""
    tried, low = (
        uniform(runs, method=one, **chosen).set_index(["repetition", "event"]).seconds for one in (method, "rebuild")
    )
    return 100 * tried / low


def shadow_faster(runs: pd.DataFrame) -> float:
    times = runs.groupby(["method", "repetition", "popularity", "kind"]).seconds.mean()
    return share(times["shadow"] < times["naive"])


def naive_to_shadow(runs: pd.DataFrame, kind: str) -> float:
    return ratio(uniform(runs, method="naive", kind=kind), uniform(runs, method="shadow", kind=kind), "seconds")


def low_oda_to(runs: pd.DataFrame, method: str, column: str) -> float:
    return ratio(uniform(runs, method="rebuild"), uniform(runs, method=method), column)


def shadow_shares(runs: pd.DataFrame) -> pd.api.typing.SeriesGroupBy:
    some = uniform(runs, method="shadow")
    return (100 * some.shadow / some.nodes_now).groupby(some.repetition)


def repair(runs: pd.DataFrame, **chosen: Any) -> float:
    some = uniform(runs, **chosen)
    return 100 * mean(some, some.repair_ratio)


def with_changed(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.assign(changed=runs.links_added + runs.links_removed)


def links_changed(runs: pd.DataFrame, **chosen: Any) -> float:
    some = with_changed(uniform(runs, **chosen))
    return mean(some, some.changed)


def fewer_repairs(runs: pd.DataFrame) -> float:
    ratios = runs.groupby(["method", "repetition", "popularity", "kind"]).repair_ratio.mean()
    return share(ratios["shadow"] < ratios["rebuild"])


def random_power(runs: pd.DataFrame) -> float:
    random = only(runs, algorithm="random").set_index(["users", "repetition", "prices"])
    cost = random.total / random.published
    least, most = runs.users.min(), runs.users.max()
    return share(np.log(cost[most] / cost[least]) / np.log(most / least))


def saves_more(runs: pd.DataFrame, one: str, other: str) -> float:
    saved = runs.set_index(["algorithm", "repetition", "prices", "users"]).cost_reduction_ratio
    return share(saved[one] > saved[other])


def mixing_change(runs: pd.DataFrame) -> float:
    ratios = only(runs, algorithm="steiner-mixing").groupby(["repetition", "prices"]).cost_reduction_ratio
    return share(ratios.max() / ratios.min())


def closer(runs: pd.DataFrame) -> float:
    ratios = runs[runs.algorithm != "random"].groupby(["access_to_core", "repetition", "prices"]).cost_reduction_ratio
    spread = ratios.max() / ratios.min()
    return share(spread[128.0] < spread[0.25])


def against_mixing(runs: pd.DataFrame, algorithm: str) -> float:
    last = only(runs, access_to_core=128.0).set_index(["algorithm", "repetition", "prices"]).cost_reduction_ratio
    return share(np.exp(np.log(last[algorithm] / last["steiner-mixing"]).abs()))


def closer_to_mixing(runs: pd.DataFrame, algorithm: str) -> float:
    return closer(runs[runs.algorithm.isin([algorithm, "steiner-mixing"])])


def slower(runs: pd.DataFrame, one: str, other: str) -> float:
    return ratio(only(runs, algorithm=one), only(runs, algorithm=other), "seconds")


def slowest_to_fastest(runs: pd.DataFrame) -> float:
    times = runs[runs.algorithm != "random"].groupby(["repetition", "algorithm"]).seconds.mean().unstack()
    return float((times.max(axis=1) / times.min(axis=1)).mean())


def in_order(runs: pd.DataFrame) -> float:
    times = means(runs, "seconds", "algorithm", also="prices")
    order = [times[name] for name in ("random", "packing", "clustering", "steiner-mixing")]
    return share((order[0] < order[1]) & (order[1] < order[2]) & (order[2] < order[3]))


AGAIN: dict[str, list[Callable[[pd.DataFrame], float]]] = {
    "shadows-fig-2": [
        lambda runs: 100 * runs.backup_count.mean() / 40,
        lambda runs: correlated(runs, "backup_count"),
        lambda runs: 100 * (runs.primary_count < 5).mean(),
        exponential,
    ],
    "shadows-fig-3": [
        lambda runs: 100 * only(runs, backups="primal-dual").backup_count.mean() / 40,
        lambda runs: ratio(only(runs, backups="primal-dual"), only(runs, backups="greedy"), "backup_count"),
        lambda runs: correlated(only(runs, backups="primal-dual"), "backup_count"),
        lambda runs: only(runs, backups="primal-dual").groupby("repetition").primary_count.min().mean(),
        lambda runs: only(runs, backups="primal-dual").groupby("repetition").primary_count.max().mean(),
        lambda runs: correlated(only(runs, backups="primal-dual"), "primary_count"),
        balanced,
    ],
    "shadows-fig-4": [
        lambda runs: higher_in_the_end(runs, "max_degree"),
        lambda runs: higher_in_the_end(runs, "average_degree"),
        lambda runs: uniform(runs, event=LAST, backups="greedy").max_degree.mean(),
        lambda runs: greedy_above(runs, "max_degree"),
        lambda runs: greedy_above(runs, "average_degree"),
    ],
    "shadows-fig-5": [
        *(
            lambda runs, coverage=coverage: uniform(runs, event=LAST, coverage=coverage).max_degree.mean()
            for coverage in (1, 2, 3, 4)
        ),
        lambda runs: steps_of_coverage(runs, "max_degree", -1),
        lower_growth,
        smaller_drops,
        four_to_three,
        lambda runs: steps_of_coverage(runs, "shadow", 1),
        smaller_drops_of_growth,
    ],
    "shadows-fig-6": [
        lambda runs: ratio(uniform(runs, method="shadow"), uniform(runs, method="naive"), "max_degree"),
        lambda runs: ratio(uniform(runs, method="shadow"), uniform(runs, method="naive"), "average_degree"),
        lambda runs: above_low_oda(runs, "shadow", "max_degree"),
        lambda runs: above_low_oda(runs, "shadow", "average_degree"),
        lambda runs: above_low_oda(runs, "naive", "max_degree"),
        lambda runs: above_low_oda(runs, "naive", "average_degree"),
        lambda runs: difference(uniform(runs, method="shadow"), uniform(runs, method="rebuild"), "max_degree"),
        lambda runs: difference(uniform(runs, method="shadow"), uniform(runs, method="rebuild"), "average_degree"),
        lambda runs: kept_average(runs, "shadow"),
        lambda runs: kept_average(runs, "naive"),
        lambda runs: ends(runs, "shadow", "max_degree")[0].mean(),
        lambda runs: ends(runs, "shadow", "max_degree")[1].mean(),
        lambda runs: ends(runs, "naive", "max_degree")[0].mean(),
        lambda runs: ends(runs, "naive", "max_degree")[1].mean(),
        lambda runs: growth(runs, "shadow"),
        in_steps,
        steady,
        lambda runs: growth(runs, "naive"),
    ],
    "shadows-fig-7": [
        lambda runs: share(time_ratios(runs, "shadow", kind="join")),
        lambda runs: share(time_ratios(runs, "naive", kind="join")),
        lambda runs: share(time_ratios(runs, "shadow", kind="leave")),
        lambda runs: share(time_ratios(runs, "naive", kind="leave")),
        lambda runs: time_ratios(runs, "naive").groupby("repetition").max().mean(),
        shadow_faster,
        lambda runs: naive_to_shadow(runs, "join"),
        lambda runs: naive_to_shadow(runs, "leave"),
        lambda runs: low_oda_to(runs, "shadow", "seconds"),
        lambda runs: low_oda_to(runs, "naive", "seconds"),
        lambda runs: shadow_shares(runs).mean().mean(),
        lambda runs: shadow_shares(runs).max().mean(),
    ],
    "shadows-fig-8": [
        lambda runs: repair(runs, method="rebuild"),
        lambda runs: repair(runs, method="rebuild", kind="join"),
        lambda runs: repair(runs, method="rebuild", kind="leave"),
        lambda runs: repair(runs, method="shadow", kind="join"),
        lambda runs: repair(runs, method="shadow", kind="leave"),
        lambda runs: links_changed(runs, method="rebuild"),
        lambda runs: links_changed(runs, method="shadow", kind="join"),
        lambda runs: links_changed(runs, method="shadow", kind="leave"),
        fewer_repairs,
        lambda runs: low_oda_to(with_changed(runs), "shadow", "changed"),
        lambda runs: low_oda_to(with_changed(runs), "naive", "changed"),
    ],
    "content-fig-9": [
        lambda runs: (runs[runs.algorithm != "random"].cost_reduction_ratio >= 1).mean(),
        lambda runs: saves_more(runs, "clustering", "packing"),
        lambda runs: saves_more(runs, "steiner-mixing", "clustering"),
        lambda runs: saves_more(runs, "steiner-mixing", "packing"),
        random_power,
    ],
    "content-fig-10": [
        mixing_change,
        closer,
        lambda runs: against_mixing(runs, "packing"),
        lambda runs: against_mixing(runs, "clustering"),
        lambda runs: closer_to_mixing(runs, "packing"),
        lambda runs: closer_to_mixing(runs, "clustering"),
    ],
    "content-table-1": [
        lambda runs: slower(runs, "packing", "random"),
        lambda runs: slower(runs, "clustering", "packing"),
        lambda runs: slower(runs, "steiner-mixing", "clustering"),
        in_order,
        slowest_to_fastest,
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("name", FIGURES)
def test_queries_measure_what_pandas_does(name: str, seed: int) -> None:
    figure, rows = FIGURES[name], with_random_results(name, seed)
    runs = Runs(rows, figure.parameters, figure.curve)
    found = [mean_of(*runs.ask(claim.query)) for claim in figure.claims]
    assert found == pytest.approx([again(as_frame(rows)) for again in AGAIN[name]])


def mean_of(columns: list[str], rows: list[tuple[Any, ...]]) -> float:
    """What a query gives, on average over the repetitions."""
    return float(np.mean([row[columns.index("value")] for row in rows]))


def as_frame(rows: pa.Table) -> pd.DataFrame:
    """Rows for pandas: backups by what all readings call them, and costs beside that of random on the same network."""
    frame = rows.to_pandas()
    if "backups" in frame:
        frame["backups"] = frame.backups.replace({"primal-dual-carried": "primal-dual", "greedy-plain": "greedy"})
    if "total" in frame:
        network = ["users", "access_to_core", "prices", "repetition"]
        random = frame[frame.algorithm == "random"].set_index(network).total
        at = pd.MultiIndex.from_frame(frame[network])
        frame["cost_reduction_ratio"] = random.reindex(at).to_numpy() / frame.total.to_numpy()
    return frame
