"""Backups where topics are large: what nodes owe is kept by bits, 64 nodes at a time.

A topic is a row of bits, one for each node, and what nodes owe is a number written down the planes: bit u of plane p
is bit p of what node u owes, less one. So those that owe nothing are all ones, and come last. Whose turn it is are
those that are left after keeping, from the highest plane down, those without the bit wherever any lacks it, and a
price is subtracted from all members of a topic as a borrow runs up the planes. Nodes, draws and ties are those of
`backups`, which goes through the members of a topic twice for each backup: 240 of them in the workload of Shadows.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.greedy.lanes import bit_of_each, keep_without, lowest_bit, subtract_from_planes
from topicloom.kernels.jit import inner_kernel
from topicloom.kernels.living.backups import add_backup, drop, forget_backups, random_below

_ONE, _ALL = np.uint64(1), np.uint64(2**64 - 1)
# A node is a bit of a word: its number is the word's, then this many bits.
_PLACE, _PLACES = np.uint64(6), np.uint64(63)


@inner_kernel()
def build_by_bits(population, scratch, v, coverage, carried):
    """Backups of v, as `build_by_primal_dual` chooses them."""
    forget_backups(population, v)
    topics, wanting = population.topics, population.wanting
    uncovered, owed, free = scratch.uncovered, scratch.owed, scratch.candidates[0]
    depth = write_weights(population, scratch)
    for w in range(free.shape[0]):
        free[w] = _ALL
    take_out(free, v)
    for cover in range(coverage):
        if cover == 0 or not carried:
            for plane in range(depth):
                for w in range(free.shape[0]):
                    owed[1, plane, w] = owed[0, plane, w]
        count = np.int64(topics.length[v])
        for k in range(count):
            uncovered[k] = topics.items[topics.start[v] + k]
        while count > 0:
            at = random_below(scratch.random, count)
            row = wanting[np.uint64(uncovered[at])]
            best, price = cheapest(population.rank, row, scratch.candidates, owed[1], depth)
            if best < 0:
                count = drop(uncovered, count, at)
                continue
            add_backup(population.backups, population.primaries, v, best)
            take_out(free, best)
            count = without_topics_of(best, wanting, uncovered, count)
            # After the last one of a cover nobody looks at what the others owe, unless that is carried.
            if count > 0 or carried:
                subtract_from_planes(owed[1], depth, row, price)


@inner_kernel()
def write_weights(population, scratch):
    """Write the weights of all nodes, less one, down the first planes; give how many planes that takes."""
    neighbours, primaries = population.neighbours.length, population.primaries.length
    weight, owed = scratch.weight, scratch.owed
    highest = np.int32(0)
    for u in range(population.rank.shape[0]):
        weight[u] = neighbours[u] + primaries[u] - np.int32(1)
        highest |= max(weight[u], np.int32(0))
    # The highest plane is for those that owe nothing.
    depth = 1
    while highest >> (depth - 1):
        depth += 1
    for plane in range(depth):
        for w in range(owed.shape[2]):
            owed[0, plane, w] = bit_of_each(weight, 64 * w, plane)
    return depth


@inner_kernel()
def take_out(row, u):
    """Take a node out of a row."""
    row[np.uint64(u) >> _PLACE] &= ~(_ONE << (np.uint64(u) & _PLACES))


@inner_kernel()
def without_topics_of(u, wanting, uncovered, count):
    """Take the topics of a node out of the uncovered ones, whose order stays; give how many are left."""
    word, place = np.uint64(u) >> _PLACE, np.uint64(u) & _PLACES
    left = np.uint64(0)
    for k in range(count):
        topic = uncovered[k]
        uncovered[left] = topic
        left += _ONE - ((wanting[np.uint64(topic), word] >> place) & _ONE)
    return np.int64(left)


@inner_kernel()
def cheapest(rank, row, candidates, owed, depth):
    """The node of a row that is free and owes least, of equals that of lowest rank, and what it owes; -1 if none is."""
    words = row.shape[0]
    now, other = 1, 2
    for w in range(words):
        candidates[now, w] = row[w] & candidates[0, w]
    price = np.int64(1)
    for plane in range(depth - 1, -1, -1):
        if keep_without(candidates, now * words, owed, plane * words, other * words, words):
            now, other = other, now
        else:
            price += 1 << plane
    best = np.int64(-1)
    for w in range(words):
        word = candidates[now, w]
        while word:
            u = 64 * w + lowest_bit(word)
            if best < 0 or rank[np.uint64(u)] < rank[np.uint64(best)]:
                best = u
            word &= word - _ONE
    return best, price
