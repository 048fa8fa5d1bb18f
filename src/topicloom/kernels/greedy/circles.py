"""Components as labelled circles: joining two costs the size of the smaller, asking costs one look.

Every subscription carries the label of its component, which is one of the component's subscriptions, and
points to the next one around. Joining relabels the smaller circle and swaps two pointers, so that all joins of
a design together relabel each subscription at most log2(subscribers) times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import step


class Circles(NamedTuple):
    """Components of all topics; arrays by subscription, `size` right at labels only."""

    label: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    size: npt.NDArray[np.int32]


def new_circles(subscriptions: int) -> Circles:
    """Every subscription alone."""
    label = np.arange(subscriptions, dtype=np.int32)
    return Circles(label, label.copy(), np.ones(subscriptions, np.int32))


@step()
def join(circles, kept, other):
    """Join the component labelled `other` into the one labelled `kept`."""
    subscription = other
    while True:
        circles.label[subscription] = kept
        subscription = circles.following[subscription]
        if subscription == other:
            break
    after = circles.following[kept]
    circles.following[kept] = circles.following[other]
    circles.following[other] = after
    circles.size[kept] += circles.size[other]
