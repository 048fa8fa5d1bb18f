"""Backups of nodes: for each node others that together want all of its topics, several times over.

The relation is kept both ways and stays exact: u is a backup of v if v is a primary of u. The weight of a node is its
load: links and primaries.

There are two ways, with the same nodes, draws and ties. By members: each choice goes through the members of a topic
twice. By bits, for large topics: a topic is a row of bits, one for each node, and what nodes owe is a number down the
planes: bit u of plane p is bit p of what node u owes, less one. Nodes that owe nothing have all ones and come last. The
next nodes are those left after keeping, from the highest plane down, those without the bit if any lacks it. A price is
subtracted from all members of a topic as a borrow runs up the planes. Topics of Shadows have some 240 members.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import inner_kernel, tight_kernel
from topicloom.kernels.live_graph import append, clear, new_mark, remove
from topicloom.kernels.simd import bit_of_each, keep_without, lowest_bit, subtract_from_planes

# A key is a weight, less one, above a rank. A weight of 0 makes it wrap around: nodes that owe nothing come last.
_RANK_BITS = np.uint64(32)
_OWING = np.uint64(1) << np.uint64(63)
_CHOSEN = np.uint64(0xFFFFFFFFFFFFFFFF)


@tight_kernel()
def random_below(random, count):
    """A whole number below a count: SplitMix64.

    Its state is one number, which a snapshot keeps. A numpy Generator takes 11 times as long for a draw, and 13 µs to
    be handed to a kernel, where a join takes 100 µs in all.
    """
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(z % np.uint64(count))


@inner_kernel()
def forget_backups(population, v):
    """A node has no backups any more."""
    backups = population.backups
    for k in range(backups.length[v]):
        remove(population.primaries, np.int64(backups.items[backups.start[v] + k]), v)
    clear(backups, v)


@inner_kernel()
def add_backup(backups, primaries, v, u):
    """Let u stand in for v."""
    append(backups, v, u)
    append(primaries, u, v)


@inner_kernel()
def still_uncovered(topics, w, topic_mark, covering, uncovered, count):
    """Mark the topics of w and take them out of the uncovered ones, whose order stays; give how many are left."""
    for k in range(topics.start[w], topics.start[w] + topics.length[w]):
        topic_mark[topics.items[k]] = covering
    left = 0
    for k in range(count):
        if topic_mark[uncovered[k]] != covering:
            uncovered[left] = uncovered[k]
            left += 1
    return left


@inner_kernel()
def drop(uncovered, count, at):
    """Take out the uncovered topic at a place, keeping the order; give how many are left."""
    for k in range(at, count - 1):
        uncovered[k] = uncovered[k + 1]
    return count - 1


@inner_kernel()
def build_by_primal_dual(population, scratch, v, coverage, carried):
    """Backups of v: Shadows, algorithm 12.

    A random uncovered topic raises its price until the cheapest node that wants it is paid for; that one is chosen,
    and the others owe so much less. Nodes that owe nothing any more come last. A topic that nobody else wants, or
    whose nodes are all chosen, is left out. Each cover begins with whole weights, or, where they are carried, with
    what nodes owe after the cover before.
    """
    forget_backups(population, v)
    topics, members = population.topics, population.members
    items, key, uncovered = members.items, scratch.key, scratch.uncovered
    for cover in range(coverage):
        if cover == 0 or not carried:
            set_keys(population, scratch, v)
        count = np.int64(topics.length[v])
        for k in range(count):
            uncovered[k] = topics.items[topics.start[v] + k]
        while count > 0:
            at = random_below(scratch.random, count)
            begin = members.start[uncovered[at]]
            end = begin + members.length[uncovered[at]]
            best = v
            lowest = _CHOSEN
            # Unsigned places need no look at whether they count from the end, which took a third of the time.
            for k in range(begin, end):
                owed = key[np.uint32(items[k])]
                if owed < lowest:
                    lowest = owed
                    best = np.int64(items[k])
            if lowest == _CHOSEN:
                count = drop(uncovered, count, at)
                continue
            add_backup(population.backups, population.primaries, v, best)
            covering = new_mark(scratch.latest)
            count = still_uncovered(topics, best, scratch.topic_mark, covering, uncovered, count)
            # After the last one of a cover nobody looks at what the others owe, unless that is carried.
            if lowest < _OWING and (count > 0 or carried):
                price = ((lowest >> _RANK_BITS) + np.uint64(1)) << _RANK_BITS
                for k in range(begin, end):
                    u = np.uint32(items[k])
                    # The mask is all ones for those that owe: there is nothing to guess for the processor.
                    key[u] -= price & ((key[u] >> np.uint64(63)) - np.uint64(1))
            key[best] = _CHOSEN


@inner_kernel()
def set_keys(population, scratch, v):
    """What each node may be chosen by, lowest first: its weight, then its rank. Backups of v, and v, come never."""
    neighbours, primaries, rank, key = (
        population.neighbours.length,
        population.primaries.length,
        population.rank,
        scratch.key,
    )
    for u in range(rank.shape[0]):
        weight = np.uint64(neighbours[u] + primaries[u])
        key[u] = ((weight - np.uint64(1)) << _RANK_BITS) + np.uint64(rank[u])
    backups = population.backups
    for k in range(backups.start[v], backups.start[v] + backups.length[v]):
        key[backups.items[k]] = _CHOSEN
    key[v] = _CHOSEN


@inner_kernel()
def build_greedily(population, scratch, v, coverage, plain):
    """Backups of v: Shadows, algorithm 11. Always the node of lowest weight for each uncovered topic that it wants.

    Where it is plain all weights are equal, so that it is the node that wants most uncovered topics: Chvatal 1979.
    """
    forget_backups(population, v)
    topics, members = population.topics, population.members
    chosen_now = new_mark(scratch.latest)
    scratch.chosen[v] = chosen_now
    uncovered, before = scratch.uncovered, scratch.before
    for _ in range(coverage):
        # `gain` is how many uncovered topics a candidate wants, `queue` lists the candidates.
        this_round = new_mark(scratch.latest)
        gain = scratch.gain
        candidates = 0
        count = np.int64(topics.length[v])
        for k in range(count):
            topic = topics.items[topics.start[v] + k]
            uncovered[k] = topic
            for m in range(members.start[topic], members.start[topic] + members.length[topic]):
                u = members.items[m]
                if scratch.chosen[u] == chosen_now:
                    continue
                if scratch.mark[u] != this_round:
                    scratch.mark[u] = this_round
                    gain[u] = 0
                    scratch.queue[candidates] = u
                    candidates += 1
                gain[u] += 1
        while count > 0:
            best = np.int64(-1)
            for k in range(candidates):
                u = np.int64(scratch.queue[k])
                if gain[u] > 0 and (best < 0 or is_lighter(population, gain, u, best, plain)):
                    best = u
            if best < 0:
                break
            scratch.chosen[best] = chosen_now
            add_backup(population.backups, population.primaries, v, best)
            for k in range(count):
                before[k] = uncovered[k]
            covering = new_mark(scratch.latest)
            left = still_uncovered(topics, best, scratch.topic_mark, covering, uncovered, count)
            for k in range(count):
                if scratch.topic_mark[before[k]] == covering:
                    topic = before[k]
                    for m in range(members.start[topic], members.start[topic] + members.length[topic]):
                        gain[members.items[m]] -= 1
            count = left


@inner_kernel()
def is_lighter(population, gain, u, than, plain):
    """Whether u has less weight for each topic it gains than another node; in a tie, the lower rank."""
    if plain:
        return gain[u] > gain[than] or (gain[u] == gain[than] and population.rank[u] < population.rank[than])
    mine = (population.neighbours.length[u] + population.primaries.length[u]) * gain[than]
    other = (population.neighbours.length[than] + population.primaries.length[than]) * gain[u]
    return mine < other or (mine == other and population.rank[u] < population.rank[than])


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
