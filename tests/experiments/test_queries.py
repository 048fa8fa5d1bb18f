"""SQL over runs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.experiments.queries import Runs

numbers = st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=3, max_size=20)


def test_rows_come_back_as_they_went() -> None:
    table = pa.table({"a": [1, None], 'odd "name"': ["x", "y"], "flag": [True, False], "share": [0.1, 0.25]})
    columns, rows = Runs(table).ask("SELECT * FROM runs")
    assert columns == table.column_names
    assert rows == [(1, "x", 1, 0.1), (None, "y", 0, 0.25)]


@given(numbers)
def test_correlation_and_median(pairs: list[tuple[int, int]]) -> None:
    x, y = map(list, zip(*pairs, strict=True))
    _, [(correlation, median)] = Runs(pa.table({"x": x, "y": y})).ask("SELECT correlation(x, y), median(x) FROM runs")
    assert median == np.median(x)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert correlation is None
    else:
        assert correlation == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_what_is_unknown_is_left_out() -> None:
    table = pa.table({"x": [1, 2, None, 4], "y": [2, 4, 9, None]})
    _, rows = Runs(table).ask("SELECT correlation(x, y), median(x), median(x - x + NULL) FROM runs")
    assert rows == [(pytest.approx(1), 2, None)]


def test_functions() -> None:
    _, rows = Runs(pa.table({"x": [4.0]})).ask("SELECT sqrt(x), ln(x) / ln(2), power(x, 2) FROM runs")
    assert rows == [(2, pytest.approx(2), 16)]
