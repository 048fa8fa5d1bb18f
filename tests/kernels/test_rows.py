"""Rows that grow and shrink, against lists of lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from topicloom.kernels.live_graph import GrowingRows, append, clear, new_rows, remove, reserved

BYTES_AN_ITEM = 40

# In one step a number of rows is asked for, and what is then done to some of them: +1 appends, -1 removes, 0 clears.
deeds = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([1, 1, 1, 1, -1, -1, 0])), max_size=60)
steps = st.lists(st.tuples(st.integers(0, 30), deeds), max_size=6)
starts = st.lists(st.lists(st.integers(0, 99), max_size=7), max_size=12)


def rows_of(lists: list[list[int]]) -> GrowingRows:
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return new_rows(len(lists), ends, np.array([item for row in lists for item in row], np.int32))


def contents(rows: GrowingRows, count: int) -> list[list[int]]:
    """Each row in rising order: the order within it means nothing."""
    return [sorted(rows.items[rows.start[r] : rows.start[r] + rows.length[r]].tolist()) for r in range(count)]


def assert_sound(rows: GrowingRows, lists: list[list[int]]) -> None:
    """The right items, rooms that do not overlap and are long enough, and right sums."""
    assert contents(rows, len(lists)) == [sorted(row) for row in lists]
    assert rows.length[len(lists) :].tolist() == [0] * (len(rows.length) - len(lists))
    assert rows.used[1] == sum(map(len, lists))
    assert rows.used[0] <= len(rows.items)
    assert np.all(rows.length <= rows.room)
    spans = sorted((int(start), int(start + room)) for start, room in zip(rows.start, rows.room, strict=True) if room)
    ends = [0, *(end for _, end in spans)]
    assert all(before <= start for before, (start, _) in zip(ends, spans, strict=False))
    assert ends[-1] <= rows.used[0]


@given(lists=starts, steps=steps)
@settings(max_examples=times(300))
def test_rows_are_lists(lists: list[list[int]], steps: list[tuple[int, list[tuple[int, int]]]]) -> None:
    rows = rows_of(lists)
    assert_sound(rows, lists)
    number = 100
    for count, deeds in steps:
        rows = reserved(rows, count, sum(deed > 0 for _, deed in deeds))
        assert len(rows.start) >= count
        lists = lists + [[] for _ in range(count - len(lists))]
        assert_sound(rows, lists)
        for place, deed in deeds:
            if not lists:
                break
            r = place % len(lists)
            if deed > 0:
                append(rows, r, number)
                lists[r].append(number)
                number += 1
            elif deed == 0:
                clear(rows, r)
                lists[r].clear()
            elif lists[r]:
                remove(rows, r, lists[r].pop(place % len(lists[r])))
            assert rows.used[0] <= len(rows.items), "wrote past the end"
        assert_sound(rows, lists)


def test_one_row_may_take_all_that_was_reserved() -> None:
    """The dearest case: every move doubles the room of the one row that grows."""
    for items in (0, 1, 3, 4, 5, 64, 1000):
        for appends in (1, 2, 5, 100, 5000):
            rows = reserved(rows_of([list(range(items)), [7]]), 2, appends)
            room = len(rows.items)
            for item in range(appends):
                append(rows, 0, item)
            assert len(rows.items) == room >= rows.used[0]
            assert_sound(rows, [[*range(items), *range(appends)], [7]])


def test_many_rows_may_take_all_that_was_reserved() -> None:
    for items in (0, 1, 4, 9):
        for count in (1, 10, 333):
            rows = reserved(rows_of([list(range(items)) for _ in range(count)]), count, count)
            for r in range(count):
                append(rows, r, r)
            assert_sound(rows, [[*range(items), r] for r in range(count)])


def test_a_long_row_may_move_however_little_is_reserved() -> None:
    """A row that is full moves to twice its room for a single append, whatever others have taken before."""
    rows = rows_of([list(range(600)), *([] for _ in range(40))])
    while rows.length[0] < rows.room[0]:
        rows = reserved(rows, 41, 1)
        append(rows, 0, 7)
    for step in range(800):
        rows = reserved(rows, 41, 1)
        other = GrowingRows(*(array.copy() for array in rows))
        append(other, 0, 7)
        assert other.used[0] <= len(other.items), step
        append(rows, 1 + step % 40, step)


def test_removing_takes_one_of_several_equal_items() -> None:
    rows = rows_of([[5, 6, 5], [5]])
    remove(rows, 0, 5)
    assert contents(rows, 2) == [[5, 6], [5]]
    assert rows.used[1] == 3


def test_nothing_moves_where_there_is_room() -> None:
    rows = reserved(rows_of([[1], [2]]), 2, 1000)
    assert reserved(rows, 2, 3) is rows


def test_what_was_reserved_once_does_not_pile_up() -> None:
    """Rows that move leave waste behind; after many steps memory is still in proportion to the items."""
    rows = rows_of([list(range(200)) for _ in range(50)])
    rng = np.random.default_rng(1)
    for step in range(3000):
        rows = reserved(rows, 50, 5)
        for r in rng.integers(0, 50, 5):
            append(rows, r, 1000 + step)
            remove(rows, r, rows.items[rows.start[r]])
    assert rows.used[1] == 50 * 200
    assert rows.items.nbytes <= BYTES_AN_ITEM * rows.used[1]
