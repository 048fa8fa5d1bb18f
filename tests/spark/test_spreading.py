"""Ranges of names, against bisection in plain Python; and the parts of a task that are no work of Spark's."""

from __future__ import annotations

from bisect import bisect_right

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from topicloom.spark.intern import ids_among, range_bounds, range_of

names = st.lists(st.text("aé東\U0001f40d/", max_size=3), min_size=1, max_size=30)


@given(names, st.sets(st.text("aé東\U0001f40d/", max_size=3), max_size=9))
def test_a_name_lies_behind_the_bounds_that_are_not_above_it(given_names: list[str], bounds: set[str]) -> None:
    ordered = sorted(bounds)
    found = range_of(pa.array(given_names, pa.large_string()), pa.array(ordered, pa.large_string()))
    assert found.tolist() == [bisect_right(ordered, name) for name in given_names]


@given(st.dictionaries(st.text("ab", max_size=4), st.integers(1, 9), min_size=1), st.integers(1, 8))
def test_ranges_have_about_as_many_rows(sample: dict[str, int], ranges: int) -> None:
    bounds = range_bounds(pa.table({"name": list(sample), "number": list(sample.values())}), ranges)
    assert len(bounds) < ranges
    assert bounds.to_pylist() == sorted(set(bounds.to_pylist()))
    rows = [0] * (len(bounds) + 1)
    for name, place in zip(sample, range_of(pa.array(list(sample), pa.large_string()), bounds), strict=True):
        rows[place] += sample[name]
    assert max(rows) <= sum(sample.values()) / ranges + 2 * max(sample.values())


def test_no_sample_is_one_range() -> None:
    assert len(range_bounds(pa.table({"name": pa.array([], pa.string()), "number": pa.array([], pa.int64())}), 4)) == 0


@given(names, st.sets(st.sampled_from(["", "a", "aa", "é", "東"])))
def test_ids_are_places_among_the_known(given_names: list[str], known: set[str]) -> None:
    ordered = sorted(known)
    found = ids_among(pa.array(ordered, pa.large_string()), pa.array([*given_names, None], pa.string()))
    assert found.tolist() == [ordered.index(name) if name in known else -1 for name in [*given_names, None]]
