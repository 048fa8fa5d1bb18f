"""Names beside points cover no other name."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topicloom.views.figures import fitting_labels

COORDINATE = st.floats(0, 300)


@given(st.lists(st.tuples(COORDINATE, COORDINATE, st.integers(1, 20)), min_size=1, max_size=25))
def test_no_name_covers_another(drawn: list[tuple[float, float, int]]) -> None:
    points = np.array([each[:2] for each in drawn])
    sizes = [(6.0 * letters, 12.0) for _, _, letters in drawn]
    placed = fitting_labels(points, np.full(len(points), 4.0), sizes, range(len(points)))
    assert 0 in placed
    boxes = {at: (points[at] + offset, np.array(sizes[at])) for at, offset in placed.items()}
    for one, two in combinations(boxes, 2):
        apart = np.abs(boxes[one][0] - boxes[two][0]) - (boxes[one][1] + boxes[two][1]) / 2
        assert (apart > -1e-9).any()


def test_a_name_avoids_points() -> None:
    points = np.array([[100.0, 100.0], [100.0, 112.0]])
    placed = fitting_labels(points, np.array([4.0, 4.0]), [(20.0, 10.0)] * 2, [0])
    assert placed == {0: (0.0, -10.0)}
