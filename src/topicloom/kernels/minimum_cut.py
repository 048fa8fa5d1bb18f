"""The lightest cut through a graph (Stoer and Wagner 1997)."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel


@kernel()
def minimum_cut(weight):
    """The least weight between two parts of the nodes, and which nodes are in one of them; `weight` is used up.

    Phase by phase, nodes are added in the order of their weight with those added before; the last one's cut is the
    lightest that parts it from the one before it, and these two are merged.
    """
    nodes = weight.shape[0]
    part_of = np.arange(nodes)
    alive = np.ones(nodes, np.bool_)
    least = np.inf
    side = np.zeros(nodes, np.bool_)
    for phase in range(nodes - 1):
        added = ~alive
        pull = np.zeros(nodes)
        before = last = -1
        for _ in range(nodes - phase):
            chosen = -1
            for node in range(nodes):
                if not added[node] and (chosen < 0 or pull[node] > pull[chosen]):
                    chosen = node
            added[chosen] = True
            before, last = last, chosen
            pull += np.where(added, 0.0, weight[chosen])
        if pull[last] < least:
            least = pull[last]
            side = part_of == last
        weight[before] += weight[last]
        weight[:, before] += weight[last]
        weight[before, before] = 0.0
        alive[last] = False
        part_of[part_of == last] = before
    return least, side
