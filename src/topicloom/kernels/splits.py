"""The components into which topics fall as links are removed.

Links are removed one after the other. For each topic of a link two searches begin at its ends; the one that has claimed
fewer links so far goes on. Either they meet, and the topic stays connected, or one of them comes to its end: it has
found the smaller component, which becomes a part of its own. All else of the topic is the main component, with label 0,
so the cost follows the smaller components, not the topics.

Topics that removed links have are numbered anew, from 0 on. Nodes in parts are kept with a row of bits: which of these
topics they want, and the labels of their components as bits in four planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.greedy.lanes import lowest_bit, popcount
from topicloom.kernels.jit import inlined, inner_kernel
from topicloom.kernels.subscriptions import wants

# Labels 1 to 15 of the parts of a topic: as many links may be removed in a round.
PLANES = 4
MOST_REMOVED = 15
# A row has the topics that a node wants, the planes, and the topics in which it was in a part at first.
ROW = PLANES + 2
FIRST = PLANES + 1
# Bounds of a round; it is given up if it would pass one.
MOST_TOPICS = 1024
MOST_PARTS = 4096
MOST_PART_NODES = 1 << 14
MOST_NODES = 512
MOST_CLAIMED = 4000
# Positions in `Parts.count`.
TOPICS, PARTS, PART_NODES, NODES, MISSING, WORDS = range(6)
# Answers of `smaller_side` besides a number of nodes.
CONNECTED = 0
TOO_LARGE = -1
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Sides(NamedTuple):
    """Two searches in one topic."""

    mark: npt.NDArray[np.int64]  # by node: which search has claimed it
    queue: npt.NDArray[np.int32]  # nodes claimed by the one; from the number of nodes on, by the other
    at: npt.NDArray[np.int64]  # the last mark; where the answer begins in `queue`


class Parts(NamedTuple):
    """Topics that have fallen into components, and the nodes in all of these but the main ones."""

    number: npt.NDArray[np.int32]  # by topic: its number, or -1
    topic: npt.NDArray[np.int32]  # by number: the topic, how many labels it has, and its last part or -1
    part: npt.NDArray[np.int32]  # part x (number of the topic, label, previous part of the topic, first of its nodes)
    part_node: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]  # by node: its row, or -1
    node: npt.NDArray[np.int32]  # by row
    bits: npt.NDArray[np.uint64]  # row after row
    count: npt.NDArray[np.int64]  # topics, parts, nodes of parts, rows, merges that are missing, words of a row's column


def new_sides(nodes: int) -> Sides:
    """Searches among that many nodes."""
    return Sides(np.zeros(nodes, np.int64), np.zeros(2 * nodes, np.int32), np.ones(2, np.int64))


def new_parts(nodes: int, topics: int) -> Parts:
    """No topic has fallen apart yet."""
    most = min(MOST_TOPICS, topics)
    return Parts(
        np.full(topics, -1, np.int32),
        np.zeros((most, 3), np.int32),
        np.zeros((MOST_PARTS + 1, 4), np.int32),
        np.zeros(MOST_PART_NODES, np.int32),
        np.full(nodes, -1, np.int32),
        np.zeros(MOST_NODES, np.int32),
        np.zeros(MOST_NODES * ROW * -(-most // 64), np.uint64),
        np.zeros(6, np.int64),
    )


@inner_kernel()
def number_topics(parts, subscriptions, u, v):
    """Number the topics that two nodes have in common; tell whether there is space for all of them."""
    node_start, node_topics = subscriptions.node_start, subscriptions.node_topics
    if node_start[u + 1] - node_start[u] > node_start[v + 1] - node_start[v]:
        u, v = v, u
    for place in range(node_start[u], node_start[u + 1]):
        t = node_topics[place]
        if parts.number[t] < 0 and wants(subscriptions, v, t):
            count = parts.count[TOPICS]
            if count == parts.topic.shape[0]:
                return False
            parts.number[t] = count
            parts.topic[count, 0] = t
            parts.topic[count, 1] = 0
            parts.topic[count, 2] = -1
            parts.count[TOPICS] = count + 1
    return True


@inner_kernel()
def smaller_side(sides, subscriptions, neighbours, u, v, t):
    """The number of nodes of the smaller component of two nodes in a topic, which then are in the queue."""
    mark, queue, degree, node = sides.mark, sides.queue, neighbours.degree, neighbours.node
    nodes = mark.shape[0]
    mine = sides.at[0] + 1
    its = mine + 1
    sides.at[0] = its
    mark[u], mark[v] = mine, its
    queue[0], queue[nodes] = u, v
    head, tail, cost = 0, 1, degree[u] + 1
    its_head, its_tail, its_cost = nodes, nodes + 1, degree[v] + 1
    while True:
        if cost <= its_cost:
            if head == tail:
                sides.at[1] = 0
                return tail
            if cost > MOST_CLAIMED:
                return TOO_LARGE
            x = queue[head]
            head += 1
            first = neighbours.start[x]
            for place in range(first, first + degree[x]):
                y = node[place]
                if mark[y] == mine:
                    continue
                if mark[y] == its:
                    return CONNECTED
                if wants(subscriptions, y, t):
                    mark[y] = mine
                    queue[tail] = y
                    tail += 1
                    cost += degree[y] + 1
        else:
            if its_head == its_tail:
                sides.at[1] = nodes
                return its_tail - nodes
            if its_cost > MOST_CLAIMED:
                return TOO_LARGE
            x = queue[its_head]
            its_head += 1
            first = neighbours.start[x]
            for place in range(first, first + degree[x]):
                y = node[place]
                if mark[y] == its:
                    continue
                if mark[y] == mine:
                    return CONNECTED
                if wants(subscriptions, y, t):
                    mark[y] = its
                    queue[its_tail] = y
                    its_tail += 1
                    its_cost += degree[y] + 1


@inner_kernel()
def split_topics(parts, sides, subscriptions, neighbours, u, v):
    """Note what falls apart as the link of two nodes has been removed; tell whether there is space for it."""
    node_start, node_topics = subscriptions.node_start, subscriptions.node_topics
    if node_start[u + 1] - node_start[u] > node_start[v + 1] - node_start[v]:
        u, v = v, u
    for place in range(node_start[u], node_start[u + 1]):
        t = node_topics[place]
        number = parts.number[t]
        if number < 0 or not wants(subscriptions, v, t):
            continue
        size = smaller_side(sides, subscriptions, neighbours, u, v, t)
        if size == CONNECTED:
            continue
        part, first = parts.count[PARTS], parts.count[PART_NODES]
        if size == TOO_LARGE or part == MOST_PARTS or first + size > MOST_PART_NODES:
            return False
        for k in range(size):
            parts.part_node[first + k] = sides.queue[sides.at[1] + k]
        parts.topic[number, 1] += 1
        parts.part[part, 0] = number
        parts.part[part, 1] = parts.topic[number, 1]
        parts.part[part, 2] = parts.topic[number, 2]
        parts.part[part, 3] = first
        parts.topic[number, 2] = part
        parts.part[part + 1, 3] = first + size
        parts.count[PARTS] = part + 1
        parts.count[PART_NODES] = first + size
        parts.count[MISSING] += 1
    return True


@inner_kernel()
def label_nodes(parts, subscriptions):
    """Make a row of bits for every node in a part; tell whether there is space for them."""
    words = (parts.count[TOPICS] + 63) >> 6
    parts.count[WORDS] = words
    bits = parts.bits
    for part in range(parts.count[PARTS]):
        number = parts.part[part, 0]
        label = parts.part[part, 1]
        word, bit = number >> 6, _ONE << np.uint64(number & 63)
        for k in range(parts.part[part, 3], parts.part[part + 1, 3]):
            x = parts.part_node[k]
            row = parts.place[x]
            if row < 0:
                row = parts.count[NODES]
                if row == MOST_NODES:
                    return False
                parts.count[NODES] = row + 1
                parts.place[x] = row
                parts.node[row] = x
                begin = row * words * ROW
                for j in range(begin, begin + words * ROW):
                    bits[j] = _ZERO
                for place in range(subscriptions.node_start[x], subscriptions.node_start[x + 1]):
                    its = parts.number[subscriptions.node_topics[place]]
                    if its >= 0:
                        bits[begin + (its >> 6) * ROW] |= _ONE << np.uint64(its & 63)
            column = (row * words + word) * ROW
            bits[column + FIRST] |= bit
            for plane in range(PLANES):
                if (label >> plane) & 1:
                    bits[column + 1 + plane] |= bit
                else:
                    bits[column + 1 + plane] &= ~bit
    return True


@inlined()
def labelled(bits, column):
    """The topics of a column in which the node is in a part."""
    return bits[column + 1] | bits[column + 2] | bits[column + 3] | bits[column + 4]


@inlined()
def differing(bits, one, other):
    """The topics that two nodes both want and have in different components, by a column of each."""
    differ = (bits[one + 1] ^ bits[other + 1]) | (bits[one + 2] ^ bits[other + 2])
    differ |= (bits[one + 3] ^ bits[other + 3]) | (bits[one + 4] ^ bits[other + 4])
    return bits[one] & bits[other] & differ


@inlined()
def in_parts(parts, row):
    """In how many topics a node is in a part."""
    words = parts.count[WORDS]
    total = 0
    for word in range(words):
        total += np.int64(popcount(labelled(parts.bits, (row * words + word) * ROW)))
    return total


@inner_kernel()
def common_parts(parts, subscriptions, row, y):
    """In how many topics that y wants, too, a node is in a part."""
    words = parts.count[WORDS]
    total = 0
    for word in range(words):
        rest = labelled(parts.bits, (row * words + word) * ROW)
        while rest != _ZERO:
            number = (word << 6) + lowest_bit(rest)
            rest &= rest - _ONE
            if wants(subscriptions, y, parts.topic[number, 0]):
                total += 1
    return total


@inner_kernel()
def merges(parts, subscriptions, a, b):
    """The contribution of a link: how many components it would merge."""
    row, other = parts.place[a], parts.place[b]
    if row < 0:
        row, other, b = other, row, a
    if row < 0:
        return 0
    if other < 0:
        return common_parts(parts, subscriptions, row, b)
    words = parts.count[WORDS]
    total = 0
    for word in range(words):
        total += np.int64(
            popcount(differing(parts.bits, (row * words + word) * ROW, (other * words + word) * ROW))
        )
    return total


@inlined()
def label_at(bits, column, shift):
    """The label of a node in a topic."""
    label = np.int64((bits[column + 1] >> shift) & _ONE)
    for plane in range(1, PLANES):
        label |= np.int64((bits[column + 1 + plane] >> shift) & _ONE) << plane
    return label


@inner_kernel()
def relabel(parts, number, before, after):
    """Give all nodes of a component in a topic another label."""
    bits, words = parts.bits, parts.count[WORDS]
    word, shift = number >> 6, np.uint64(number & 63)
    bit = _ONE << shift
    part = parts.topic[number, 2]
    while part >= 0:
        for k in range(parts.part[part, 3], parts.part[part + 1, 3]):
            column = (parts.place[parts.part_node[k]] * words + word) * ROW
            if label_at(bits, column, shift) == before:
                for plane in range(PLANES):
                    if (after >> plane) & 1:
                        bits[column + 1 + plane] |= bit
                    else:
                        bits[column + 1 + plane] &= ~bit
        part = parts.part[part, 2]


@inner_kernel()
def merge(parts, subscriptions, a, b):
    """Merge the components of two nodes in all topics that both want."""
    row, other = parts.place[a], parts.place[b]
    if row < 0:
        row, other, b = other, row, a
    words, bits = parts.count[WORDS], parts.bits
    for word in range(words):
        column = (row * words + word) * ROW
        its = (other * words + word) * ROW
        rest = labelled(bits, column) if other < 0 else differing(bits, column, its)
        while rest != _ZERO:
            shift = np.uint64(lowest_bit(rest))
            rest &= rest - _ONE
            number = (word << 6) + np.int64(shift)
            if other < 0 and not wants(subscriptions, b, parts.topic[number, 0]):
                continue
            label = label_at(bits, column, shift)
            other_label = label_at(bits, its, shift) if other >= 0 else 0
            if label == 0:
                relabel(parts, number, other_label, label)
            else:
                relabel(parts, number, label, other_label)
            parts.count[MISSING] -= 1


@inner_kernel()
def forget(parts):
    """Make ready for the next round."""
    for number in range(parts.count[TOPICS]):
        parts.number[parts.topic[number, 0]] = -1
    for row in range(parts.count[NODES]):
        parts.place[parts.node[row]] = -1
    for k in range(WORDS + 1):
        parts.count[k] = 0
