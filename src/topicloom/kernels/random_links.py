"""Random pairs of nodes that never give a node more than a number of links."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel

# After so many draws in a row that were no allowed pair, few are left: they are listed and drawn from.
_PATIENCE = 64


@kernel()
def random_pairs(nodes, max_degree, rng, ticks):
    """Pairs, each drawn uniformly from those allowed at its time, until none is allowed."""
    room = nodes * max_degree // 2
    source = np.empty(room, np.int32)
    target = np.empty(room, np.int32)
    links = 0
    table = _pair_table(room)
    degree = np.zeros(nodes, np.int32)
    below = np.arange(nodes).astype(np.int32)  # the nodes below max_degree come first
    count = nodes
    misses = 0
    while count >= 2 and misses < _PATIENCE and ticks[1] == 0:
        i = int(rng.random() * count)
        j = int(rng.random() * (count - 1))
        if j >= i:
            j += 1
        u, v = min(below[i], below[j]), max(below[i], below[j])
        slot = _slot(table, u * nodes + v)
        if table[slot] >= 0:
            misses += 1
            continue
        misses = 0
        table[slot] = u * nodes + v
        source[links] = u
        target[links] = v
        links += 1
        ticks[0] = links
        degree[u] += 1
        degree[v] += 1
        # The higher position first, so that the swap does not move the other node.
        for position in (max(i, j), min(i, j)):
            if degree[below[position]] == max_degree:
                count -= 1
                below[position] = below[count]

    pairs = _unlinked_pairs(below[:count], table, nodes)
    left = pairs.shape[0]
    while left > 0 and ticks[1] == 0:
        k = int(rng.random() * left)
        u, v = pairs[k] // nodes, pairs[k] % nodes
        left -= 1
        pairs[k] = pairs[left]
        if degree[u] < max_degree and degree[v] < max_degree:
            source[links] = u
            target[links] = v
            links += 1
            ticks[0] = links
            degree[u] += 1
            degree[v] += 1
    return source[:links].copy(), target[:links].copy()


@kernel()
def _unlinked_pairs(nodes_below, table, nodes):
    """Every pair of the given nodes that the table does not hold."""
    found = 0
    for listing in (False, True):
        pairs = np.empty(found if listing else 0, np.int64)
        found = 0
        for i in range(nodes_below.shape[0]):
            for j in range(i):
                u, v = nodes_below[i], nodes_below[j]
                pair = min(u, v) * nodes + max(u, v)
                if table[_slot(table, pair)] < 0:
                    if listing:
                        pairs[found] = pair
                    found += 1
    return pairs


@kernel()
def _pair_table(room):
    """An empty hash table for so many pairs, at most half full."""
    size = 2
    while size < 2 * room:
        size *= 2
    return np.full(size, -1, np.int64)


@kernel()
def _slot(table, pair):
    """Where the table holds the pair, or the empty slot where it would."""
    mask = table.shape[0] - 1
    slot = (np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    place = np.int64(slot) & mask
    while table[place] >= 0 and table[place] != pair:
        place = (place + 1) & mask
    return place
