"""Loops of the Lagrangian bound of spanning trees, see `metrics.tree_bound`.

A price belongs to a pair of nodes and a topic that both want: an entry. Entries lie pair after pair, and a second
index lists them by topic. Prices are integers; floats only say where they move.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inlined, kernel, tight_kernel

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# Pairs whose squared direction is summed at once: a fixed number, so that sums do not depend on threads.
BLOCK = 4096
# Share of the latest round in the mean usage of pairs.
LATEST = np.float32(0.01)
_NO_EDGE = np.int64(1) << 62
_LOW_HALF = np.int64(0xFFFFFFFF)


class Rows(NamedTuple):
    """Topics by node and nodes by topic, as in an interest."""

    node_start: Int64s
    node_topics: Int32s
    topic_start: Int64s
    topic_nodes: Int32s


class Capacity(NamedTuple):
    """Capacity of a pair: `price[group[u], group[v]]`."""

    group: Int32s
    price: Int64s


class Pairs(NamedTuple):
    """Stored pairs by rising ids; the entries of pair p are `start[p]` to `start[p + 1]`."""

    source: Int32s
    target: Int32s
    capacity: Int32s
    start: Int64s
    topic: Int32s


class Topics(NamedTuple):
    """Entries by topic, with the places of both ends in the topic's row.

    `size` is the number of nodes of a topic. `floor` is its price on every pair that is not stored.
    """

    start: Int64s
    entry: Int32s
    first: Int32s
    second: Int32s
    size: Int64s
    floor: Int64s


class Scratch(NamedTuple):
    """Arrays for the trees of one thread: three for links, two for nodes."""

    first: Int32s
    second: Int32s
    key: Int64s
    component: Int32s
    cheapest: Int64s


@kernel()
def places_in_topics(rows):
    """Return the place of each subscription, in the order of nodes, in the row of its topic."""
    place = np.empty(rows.node_topics.shape[0], np.int32)
    seen = np.zeros(rows.topic_start.shape[0] - 1, np.int32)
    for i in range(place.shape[0]):
        topic = rows.node_topics[i]
        place[i] = seen[topic]
        seen[topic] += 1
    return place


@kernel()
def entries_by_weight(rows, capacity, weight, bins, widest):
    """Count entries of pairs by the weight of their common topics, in units of the pair's capacity.

    Bin k holds weights from `k * widest / bins`; the last one holds all higher weights.
    """
    nodes = rows.node_start.shape[0] - 1
    counts = np.zeros(bins, np.int64)
    total = np.zeros(nodes, np.float64)
    common = np.zeros(nodes, np.int32)
    met = np.empty(nodes, np.int32)
    following = rows.topic_start[:-1].copy()
    for u in range(nodes):
        found = 0
        for i in range(rows.node_start[u], rows.node_start[u + 1]):
            topic = rows.node_topics[i]
            following[topic] += 1
            for at in range(following[topic], rows.topic_start[topic + 1]):
                v = rows.topic_nodes[at]
                if common[v] == 0:
                    met[found] = v
                    found += 1
                common[v] += 1
                total[v] += weight[topic]
        for k in range(found):
            v = met[k]
            share = total[v] / capacity.price[capacity.group[u], capacity.group[v]]
            counts[min(bins - 1, int(share * bins / widest))] += common[v]
            common[v] = 0
            total[v] = 0.0
    return counts


@kernel()
def stored_pairs(rows, capacity, floor):
    """Count the pairs whose floors exceed their capacity, and their entries by topic."""
    nodes = rows.node_start.shape[0] - 1
    by_topic = np.zeros(floor.shape[0], np.int64)
    pairs = 0
    total = np.zeros(nodes, np.int64)
    met = np.empty(nodes, np.int32)
    following = rows.topic_start[:-1].copy()
    for u in range(nodes):
        for k in range(_add_floors(rows, floor, following, u, total, met)):
            v = met[k]
            if total[v] > capacity.price[capacity.group[u], capacity.group[v]]:
                pairs += 1
                i, j = rows.node_start[u], rows.node_start[v]
                while i < rows.node_start[u + 1] and j < rows.node_start[v + 1]:
                    topic, other = rows.node_topics[i], rows.node_topics[j]
                    if topic == other:
                        by_topic[topic] += 1
                    i += topic <= other
                    j += other <= topic
            total[v] = 0
    return pairs, by_topic


@kernel()
def fill_pairs(rows, capacity, floor, place, pairs, topics):
    """Store the pairs whose floors exceed their capacity."""
    nodes = rows.node_start.shape[0] - 1
    total = np.zeros(nodes, np.int64)
    met = np.empty(nodes, np.int32)
    following = rows.topic_start[:-1].copy()
    filled = topics.start[:-1].copy()
    pair, entry = 0, 0
    for u in range(nodes):
        found = _add_floors(rows, floor, following, u, total, met)
        met[:found].sort()
        for k in range(found):
            v = met[k]
            most = capacity.price[capacity.group[u], capacity.group[v]]
            if total[v] > most:
                pairs.source[pair], pairs.target[pair] = u, v
                pairs.capacity[pair], pairs.start[pair] = most, entry
                i, j = rows.node_start[u], rows.node_start[v]
                while i < rows.node_start[u + 1] and j < rows.node_start[v + 1]:
                    topic, other = rows.node_topics[i], rows.node_topics[j]
                    if topic == other:
                        at = filled[topic]
                        filled[topic] += 1
                        topics.entry[at] = entry
                        topics.first[at], topics.second[at] = place[i], place[j]
                        pairs.topic[entry] = topic
                        entry += 1
                    i += topic <= other
                    j += other <= topic
                pair += 1
            total[v] = 0
    pairs.start[pair] = entry


@inlined()
def _add_floors(rows, floor, following, u, total, met):
    """Add up the floors of the topics that u has in common with later nodes; return the number of these nodes."""
    found = 0
    for i in range(rows.node_start[u], rows.node_start[u + 1]):
        topic = rows.node_topics[i]
        following[topic] += 1
        for at in range(following[topic], rows.topic_start[topic + 1]):
            v = rows.topic_nodes[at]
            if total[v] == 0:
                met[found] = v
                found += 1
            total[v] += floor[topic]
    return found


@tight_kernel()
def cheapest_trees(topics, price, scratch, used, cost, begin, end):
    """Find a cheapest spanning tree of each topic from `begin` to `end`, by Boruvka's algorithm.

    `used` becomes 1 at entries of tree links and 0 at others, `cost` the price of each tree. Nodes that no cheaper
    links connect are connected at the floor. Equal prices are ordered by entry.
    """
    for topic in range(begin, end):
        size, floor = topics.size[topic], topics.floor[topic]
        links = 0
        for at in range(topics.start[topic], topics.start[topic + 1]):
            entry = topics.entry[at]
            used[entry] = 0
            if price[entry] < floor:
                scratch.first[links], scratch.second[links] = topics.first[at], topics.second[at]
                scratch.key[links] = np.int64(price[entry]) << 32 | entry
                links += 1
        for node in range(size):
            scratch.component[node] = node
        parts = max(1, size)
        total = np.int64(0)
        while links > 0 and parts > 1:
            links, parts, more = _merge_components(scratch, used, size, links, parts)
            total += more
        cost[topic] = total + (parts - 1) * floor


@inlined()
def _merge_components(scratch, used, size, links, parts):
    """Take the cheapest link of each component; return the links left between components, components and cost."""
    first, second, key, component, cheapest = scratch
    for node in range(size):
        cheapest[node] = _NO_EDGE
    for i in range(links):
        cheapest[first[i]] = min(cheapest[first[i]], key[i])
        cheapest[second[i]] = min(cheapest[second[i]], key[i])
    total = np.int64(0)
    left = 0
    for i in range(links):
        if key[i] == cheapest[first[i]] or key[i] == cheapest[second[i]]:
            one, other = _root(component, first[i]), _root(component, second[i])
            if one != other:
                component[one] = other
                parts -= 1
                total += key[i] >> 32
                used[key[i] & _LOW_HALF] = 1
        else:
            first[left], second[left], key[left] = first[i], second[i], key[i]
            left += 1
    for node in range(size):
        component[node] = _root(component, node)
    links, left = left, 0
    for i in range(links):
        one, other = component[first[i]], component[second[i]]
        if one != other:
            first[left], second[left], key[left] = one, other, key[i]
            left += 1
    return left, parts, total


@inlined()
def _root(component, node):
    while component[node] != node:
        component[node] = component[component[node]]
        node = component[node]
    return node


@tight_kernel()
def deflect(pairs, used, share, direction, usage, norm, begin, end):
    """Turn the direction by a share towards the subgradient, for blocks of pairs from `begin` to `end`.

    The subgradient of a pair is which of its trees use it, less their mean: prices of a pair keep their sum.
    `norm` becomes the sum of squares of each block, `usage` the mean of `used` over the latest rounds.
    """
    for block in range(begin, end):
        squares = 0.0
        for pair in range(block * BLOCK, min((block + 1) * BLOCK, pairs.source.shape[0])):
            low, high = pairs.start[pair], pairs.start[pair + 1]
            uses = 0
            for entry in range(low, high):
                uses += used[entry]
            mean = uses / (high - low)
            for entry in range(low, high):
                value = (1.0 - share) * direction[entry] + share * (used[entry] - mean)
                direction[entry] = value
                squares += value * value
                usage[entry] += LATEST * (used[entry] - usage[entry])
        norm[block] = squares


@tight_kernel()
def move(pairs, direction, length, point, price, begin, end):
    """Move prices along the direction, for blocks of pairs from `begin` to `end`.

    `point` is projected on prices from 0 that sum up to the capacity of the pair; `price` is rounded down from it, and
    its sum is checked in integers: it is never above the capacity.
    """
    for pair in range(begin * BLOCK, min(end * BLOCK, pairs.source.shape[0])):
        low, high = pairs.start[pair], pairs.start[pair + 1]
        still = True
        for entry in range(low, high):
            still &= direction[entry] == 0.0
        if still:
            continue
        most = pairs.capacity[pair]
        for entry in range(low, high):
            point[entry] += length * direction[entry]
        shift = _simplex_shift(point, low, high, float(most))
        spare = np.int64(most)
        for entry in range(low, high):
            point[entry] = max(0.0, point[entry] - shift)
            price[entry] = np.int32(min(point[entry], float(most)))
            spare -= price[entry]
        for entry in range(low, high):  # sums of floats may be off by a few units
            if spare < 0:
                fewer = min(np.int64(price[entry]), -spare)
                price[entry] -= np.int32(fewer)
                spare += fewer


@inlined()
def _simplex_shift(point, low, high, total):
    """Return what to take off so that the positive parts sum up to the total (Michelot 1986)."""
    shift = -np.inf
    while True:
        count, above = 0, 0.0
        for entry in range(low, high):
            if point[entry] > shift:
                count += 1
                above += point[entry]
        if count == 0:  # rounding: all are equal to the shift
            return shift
        higher = (above - total) / count
        if higher <= shift:
            return shift
        shift = higher


@kernel()
def tree_bottlenecks(topics, used, price, topic):
    """Return the dearest price on the tree path between any two nodes of a topic, by their places.

    Nodes that no stored tree link connects are connected at the floor.
    """
    size = topics.size[topic]
    dearest = np.full((size, size), topics.floor[topic], np.int64)
    entries = topics.entry[topics.start[topic] : topics.start[topic + 1]]
    links = np.flatnonzero(used[entries]) + topics.start[topic]
    component = np.arange(size)
    for at in links[np.argsort(price[topics.entry[links]])]:
        one, other = component[topics.first[at]], component[topics.second[at]]
        there = np.flatnonzero(component == other)
        for u in np.flatnonzero(component == one):
            for v in there:
                dearest[u, v] = dearest[v, u] = price[topics.entry[at]]
            component[u] = other
    return dearest


@kernel()
def replacements(topics, used, price, topic, cheapest):
    """Set `cheapest` of each tree link's entry to the lowest price that connects its two sides without it."""
    size, floor = topics.size[topic], topics.floor[topic]
    low, high = topics.start[topic], topics.start[topic + 1]
    for removed in range(low, high):
        entry = topics.entry[removed]
        if not used[entry]:
            continue
        component = np.arange(size).astype(np.int32)
        for at in range(low, high):
            if at != removed and used[topics.entry[at]]:
                component[_root(component, topics.first[at])] = _root(component, topics.second[at])
        for node in range(size):
            component[node] = _root(component, node)
        # Cheaper stored links join no other two components: the tree would use them.
        one, other = component[topics.first[removed]], component[topics.second[removed]]
        best = floor
        for at in range(low, high):
            here, there = component[topics.first[at]], component[topics.second[at]]
            if at != removed and ((here == one and there == other) or (here == other and there == one)):
                best = min(best, np.int64(price[topics.entry[at]]))
        cheapest[entry] = best


@kernel()
def guided_links(pairs, topics, usage, guide):
    """Choose pairs by contribution times `guide` plus usage, highest first, until none contributes; return them.

    A pair's usage is the highest among its topics. Contributions only fall, so a heap of old values is enough.
    """
    row = np.cumsum(topics.size) - topics.size
    place = np.empty((2, pairs.topic.shape[0]), np.int64)  # both ends of each entry
    for topic in range(topics.size.shape[0]):
        for at in range(topics.start[topic], topics.start[topic + 1]):
            place[0, topics.entry[at]] = row[topic] + topics.first[at]
            place[1, topics.entry[at]] = row[topic] + topics.second[at]
    component = np.arange(topics.size.sum())
    heap = [(0.0, 0) for _ in range(0)]
    for pair in range(pairs.source.shape[0]):
        low, high = pairs.start[pair], pairs.start[pair + 1]
        heap.append((-(high - low) * (guide + usage[low:high].max()), pair))
    heapq.heapify(heap)
    chosen = [0 for _ in range(0)]
    while len(heap) > 0:
        pair = heap[0][1]
        low, high = pairs.start[pair], pairs.start[pair + 1]
        contribution = 0
        for entry in range(low, high):
            contribution += _root(component, place[0, entry]) != _root(component, place[1, entry])
        value = -contribution * (guide + usage[low:high].max())
        if contribution == 0:
            heapq.heappop(heap)
        elif value > heap[0][0]:
            heapq.heapreplace(heap, (value, pair))
        else:
            heapq.heappop(heap)
            chosen.append(pair)
            for entry in range(low, high):
                component[_root(component, place[0, entry])] = _root(component, place[1, entry])
    return np.array(chosen, np.int64)
