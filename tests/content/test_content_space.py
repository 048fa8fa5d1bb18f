"""The content space: densities to rates, boxes to channels, against sums over many points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.content.network import users_of
from topicloom.content.space import Attribute, Space, box_cells, piece_rates, quadratic_rates

LINE = Space((Attribute("x", 0.0, 1.0, 10),))
PLANE = Space((Attribute("x", 0.0, 2.0, 4), Attribute("y", -1.0, 1.0, 3)))

coefficient = st.floats(-3, 3, allow_subnormal=False)


def table(rows, users: int, space: Space) -> np.ndarray:
    full = np.zeros((users, space.channel_count))
    full[users_of(rows), rows.columns] = rows.values
    return full


def test_names_of_channels() -> None:
    assert LINE.channel_names[:2] == ("c01", "c02")
    assert LINE.channel_names[-1] == "c10"
    assert PLANE.channel_names == tuple(f"c{i}.{j}" for i in (1, 2, 3, 4) for j in (1, 2, 3))
    assert sorted(LINE.channel_names) == list(LINE.channel_names)


@given(coefficient, coefficient, coefficient)
def test_integrals_of_the_positive_part_of_a_quadratic(a: float, b: float, c: float) -> None:
    rates = table(quadratic_rates(LINE, 1, np.array([0]), np.array([[[a, b, c]]])), 1, LINE)[0]
    x = (np.arange(100_000) + 0.5) / 100_000
    density = np.maximum(a * x * x + b * x + c, 0.0)
    assert rates == pytest.approx(density.reshape(10, -1).sum(axis=1) / 100_000, abs=1e-8)


def test_a_quadratic_between_its_roots() -> None:
    # x (1 - x) over [0, 1]: 1/6; and its mirror below zero gives nothing.
    rates = quadratic_rates(LINE, 2, np.array([0, 1]), np.array([[[-1.0, 1, 0]], [[1.0, -1, 0]]]))
    assert table(rates, 2, LINE).sum(axis=1) == pytest.approx([1 / 6, 0])


def test_quadratics_of_two_attributes_multiply() -> None:
    coefficients = np.array([[[0.0, 0.0, 2.0], [0.0, 1.0, 0.0]]])  # 2 along x, the positive part of y along y
    rates = table(quadratic_rates(PLANE, 1, np.array([0]), coefficients), 1, PLANE)[0].reshape(4, 3)
    assert rates == pytest.approx(np.tile([0, 1 / 18, 4 / 9], (4, 1)))


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 4, st.integers(0, 2)), min_size=1, max_size=5))
def test_boxes_touch_and_cover_cells(corners: list[tuple[int, ...]]) -> None:
    """Bounds on a fine grid, of which each cell has a whole number of points: counting them is exact."""
    boxes = np.array([[sorted((x0, x1 + (x0 == x1))), sorted((y0, y1 + (y0 == y1)))] for x0, x1, y0, y1, _ in corners])
    users = np.array([user for *_, user in corners])
    fine = Space((Attribute("x", 0.0, 21.0, 7), Attribute("y", 0.0, 21.0, 3)))
    found = table(box_cells(fine, 3, users, boxes[:, :, 0].astype(float), boxes[:, :, 1].astype(float)), 3, fine)
    for user in range(3):
        covered = np.zeros((21, 21))
        for (x0, x1), (y0, y1) in boxes[users == user]:
            covered[x0:x1, y0:y1] = 1
        expected = covered.reshape(7, 3, 3, 7).mean(axis=(1, 3)).ravel()
        assert found[user] == pytest.approx(expected)


def test_a_box_that_ends_where_a_cell_begins_does_not_touch_it() -> None:
    # 0.1 x 3 is a little more than 0.3, in which the third cell ends.
    rows = box_cells(LINE, 1, np.array([0]), np.array([[0.1 * 1]]), np.array([[0.1 * 3]]))
    assert rows.columns.tolist() == [1, 2]
    assert rows.values == pytest.approx([1, 1])


def test_a_box_that_begins_where_a_cell_ends_does_not_touch_it() -> None:
    # 1 - 0.9 is a little less than 0.1, in which the first cell ends.
    rows = box_cells(LINE, 1, np.array([0]), np.array([[1 - 0.9]]), np.array([[0.25]]))
    assert rows.columns.tolist() == [1, 2]
    assert rows.values == pytest.approx([1, 0.5])


def test_pieces_add_up() -> None:
    lows, highs = np.array([[0.0, -1.0], [0.25, 0.0]]), np.array([[2.0, 1.0], [0.75, 1.0]])
    rates = table(piece_rates(PLANE, 1, np.array([0, 0]), lows, highs, np.array([3.0, 8.0])), 1, PLANE)[0]
    assert rates.sum() == pytest.approx(3 * 4 + 8 * 0.5)
    assert rates.reshape(4, 3)[0] == pytest.approx([1, 1 + 8 * 0.25 / 3, 1 + 8 * 0.25 * 2 / 3])
