"""Which links of a list may be built, one after the other, where nodes have limits and some may not be linked."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel


@kernel()
def fitting(source, target, room, group, permitted, first):
    """The places of the links that may be built; the first so many are there already, and the second of two is not."""
    left = room.astype(np.int64)
    built = np.empty(source.shape[0], np.int64)
    count = 0
    there = set()
    for link in range(source.shape[0]):
        u, v = min(source[link], target[link]), max(source[link], target[link])
        key = np.int64(u) * room.shape[0] + v
        may = left[u] > 0 and left[v] > 0 and permitted[group[u], group[v]]
        if key not in there and (link < first or may):
            there.add(key)
            left[u] -= 1
            left[v] -= 1
            built[count] = link
            count += 1
    return built[:count]
