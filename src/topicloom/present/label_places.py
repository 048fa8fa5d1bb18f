"""Names beside points, as many as fit without covering one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Box = tuple[float, float, float, float]


def fitting_labels(
    points: npt.NDArray[np.float64],
    radii: npt.NDArray[np.float64],
    sizes: Sequence[tuple[float, float]],
    order: Iterable[int],
) -> dict[int, tuple[float, float]]:
    """For each point whose name fits: where the name's middle goes, as an offset from the point.

    All lengths have one unit, such as pixels. Points have radii, names the widths and heights of `sizes`; those that
    come first in `order` are served first: above, below, right or left of their point. Names cover no other name; of
    the places that are free the one is taken that covers fewest points.
    """
    taken: list[Box] = []
    found: dict[int, tuple[float, float]] = {}
    for at in order:
        width, height = sizes[at]
        up, beside = radii[at] + height / 2 + 1, radii[at] + width / 2 + 2
        best: tuple[int, tuple[float, float], Box] | None = None
        for offset in ((0.0, up), (0.0, -up), (beside, 0.0), (-beside, 0.0)):
            x, y = points[at, 0] + offset[0], points[at, 1] + offset[1]
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if any(_meet(box, other) for other in taken):
                continue
            covered = _covered(box, points, radii)
            if best is None or covered < best[0]:
                best = (covered, (float(offset[0]), float(offset[1])), box)
        if best is not None:
            taken.append(best[2])
            found[at] = best[1]
    return found


def _meet(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _covered(box: Box, points: npt.NDArray[np.float64], radii: npt.NDArray[np.float64]) -> int:
    inside = (
        (points[:, 0] + radii > box[0])
        & (points[:, 0] - radii < box[2])
        & (points[:, 1] + radii > box[1])
        & (points[:, 1] - radii < box[3])
    )
    return int(np.count_nonzero(inside))
