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

from topicloom.kernels.jit import inlined, inner_kernel
from topicloom.kernels.simd import lowest_bit, popcount
from topicloom.kernels.subscriptions import wants
from topicloom.kernels.topic_links import BLOCK, COUNT, MARK, PARENT, hang, set_parent

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
_HIGHEST_MARK = 2**31 - 4
# Positions in `Parts.counts`.
TOPICS, PARTS, PART_NODES, NODES, MISSING, WORDS = range(6)
# Answers of `smaller_side` besides a number of nodes.
CONNECTED = 0
TOO_LARGE = -1
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Sides(NamedTuple):
    """Two searches in one topic."""

    queue: npt.NDArray[np.int32]  # subscriptions claimed by the one; from the middle on, by the other
    at: npt.NDArray[np.int64]  # the last mark; where the answer begins in `queue`


class Parts(NamedTuple):
    """Topics that have fallen into components, and the nodes in all of these but the main ones."""

    number: npt.NDArray[np.int32]  # by topic: its number, or -1
    topic: npt.NDArray[np.int32]  # by number: the topic, how many labels it has, and its last part or -1
    part: npt.NDArray[np.int32]  # part x (number of the topic, label, previous part of the topic, first of its nodes)
    part_node: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]  # by node: its row, or -1
    node: npt.NDArray[np.int32]  # by row
    filled: npt.NDArray[np.bool_]  # by row: whether it has the topics that the node wants
    bits: npt.NDArray[np.uint64]  # row after row
    counts: npt.NDArray[np.int64]  # topics, parts, nodes of parts, rows, missing merges, words of a bit for each topic


def new_sides(nodes: int) -> Sides:
    """Searches among that many nodes."""
    return Sides(np.zeros(2 * nodes + 2, np.int32), np.zeros(2, np.int64))


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
        np.zeros(MOST_NODES, np.bool_),
        np.zeros(MOST_NODES * ROW * -(-most // 64), np.uint64),
        np.zeros(6, np.int64),
    )


@inner_kernel()
def number_topics(parts, subscriptions, links, pairs):
    """Number the topics of the listed pairs of subscriptions; tell whether there is space for all of them."""
    for k in range(pairs):
        t = subscriptions.node_topics[links.common[2 * k]]
        if parts.number[t] < 0:
            count = parts.counts[TOPICS]
            if count == parts.topic.shape[0]:
                return False
            parts.number[t] = count
            parts.topic[count, 0] = t
            parts.topic[count, 1] = 0
            parts.topic[count, 2] = -1
            parts.counts[TOPICS] = count + 1
    return True


@inner_kernel()
def smaller_side(sides, links, one, other):
    """The size of the smaller component of two subscriptions that have been disconnected; it then is in the queue.

    If another link holds the topic together, the forest is mended with it.
    """
    queue, row, others = sides.queue, links.row, links.other
    if row[one, PARENT] == other:
        child = one
    elif row[other, PARENT] == one:
        child = other
    else:
        return CONNECTED
    set_parent(links, child, -1)
    half = queue.shape[0] >> 1
    mine, its = next_marks(sides, links)
    row[one, MARK], row[other, MARK] = mine, its
    queue[0], queue[half] = one, other
    head, tail, cost = 0, 1, row[one, COUNT] + 1
    its_head, its_tail, its_cost = half, half + 1, row[other, COUNT] + 1
    while True:
        first = cost <= its_cost
        if first:
            begin, at, end, own, foreign = 0, head, tail, mine, its
        else:
            begin, at, end, own, foreign = half, its_head, its_tail, its, mine
        if at == end:
            sides.at[1] = begin
            for k in range(begin, end):
                s = queue[k]
                for place in range(row[s, BLOCK], row[s, BLOCK] + row[s, COUNT]):
                    if row[others[place], MARK] != own:
                        mend(links, child, one if first else other, s, others[place])
                        return CONNECTED
            return end - begin
        if min(cost, its_cost) > MOST_CLAIMED:
            return TOO_LARGE
        s = queue[at]
        above = row[s, PARENT]
        met = -1
        more = 0
        # Without branches, which would often be foretold wrongly: what is no news is overwritten by the next.
        for place in range(row[s, BLOCK], row[s, BLOCK] + row[s, COUNT]):
            following = others[place]
            mark = row[following, MARK]
            met = following if mark == foreign else met
            fresh = (mark < mine) & ((row[following, PARENT] == s) | (above == following))
            row[following, MARK] = own if fresh else mark
            queue[end] = following
            end += 1 if fresh else 0
            more += row[following, COUNT] + 1 if fresh else 0
        if met >= 0:
            mend(links, child, one if first else other, s, met)
            return CONNECTED
        if first:
            head, tail, cost = at + 1, end, cost + more
        else:
            its_head, its_tail, its_cost = at + 1, end, its_cost + more


@inner_kernel()
def next_marks(sides, links):
    """Marks of two searches that no subscription has yet."""
    mine = sides.at[0] + 1
    if mine > _HIGHEST_MARK:
        for s in range(links.row.shape[0]):
            links.row[s, MARK] = 0
        mine = 1
    sides.at[0] = mine + 1
    return mine, mine + 1


@inner_kernel()
def mend(links, child, end, s, other):
    """Join two trees by the link of s, in the tree of `end`, and another; hang the tree of the child on the other."""
    if child == end:
        hang(links, s, other)
    else:
        hang(links, other, s)


@inner_kernel()
def split_topics(parts, sides, subscriptions, links, pairs):
    """Note what falls apart as pairs of subscriptions have been disconnected; tell whether there is space for it."""
    for pair in range(pairs):
        one, other = links.common[2 * pair], links.common[2 * pair + 1]
        number = parts.number[subscriptions.node_topics[one]]
        size = smaller_side(sides, links, one, other)
        if size == CONNECTED:
            continue
        part, first = parts.counts[PARTS], parts.counts[PART_NODES]
        if size == TOO_LARGE or part == MOST_PARTS or first + size > MOST_PART_NODES:
            return False
        for k in range(size):
            parts.part_node[first + k] = links.node[sides.queue[sides.at[1] + k]]
        parts.topic[number, 1] += 1
        parts.part[part, 0] = number
        parts.part[part, 1] = parts.topic[number, 1]
        parts.part[part, 2] = parts.topic[number, 2]
        parts.part[part, 3] = first
        parts.topic[number, 2] = part
        parts.part[part + 1, 3] = first + size
        parts.counts[PARTS] = part + 1
        parts.counts[PART_NODES] = first + size
        parts.counts[MISSING] += 1
    return True


@inner_kernel()
def label_nodes(parts):
    """Make a row of bits for every node in a part; tell whether there is space for them."""
    words = (parts.counts[TOPICS] + 63) >> 6
    parts.counts[WORDS] = words
    bits = parts.bits
    for part in range(parts.counts[PARTS]):
        number = parts.part[part, 0]
        label = parts.part[part, 1]
        word, bit = number >> 6, _ONE << np.uint64(number & 63)
        for k in range(parts.part[part, 3], parts.part[part + 1, 3]):
            x = parts.part_node[k]
            row = parts.place[x]
            if row < 0:
                row = parts.counts[NODES]
                if row == MOST_NODES:
                    return False
                parts.counts[NODES] = row + 1
                parts.place[x] = row
                parts.node[row] = x
                parts.filled[row] = False
                for j in range(row * words * ROW, (row + 1) * words * ROW):
                    bits[j] = _ZERO
            column = (row * words + word) * ROW
            bits[column + FIRST] |= bit
            for plane in range(PLANES):
                if (label >> plane) & 1:
                    bits[column + 1 + plane] |= bit
                else:
                    bits[column + 1 + plane] &= ~bit
    return True


@inner_kernel()
def fill(parts, subscriptions, row):
    """Fill in the topics that a node wants, unless they are there."""
    if parts.filled[row]:
        return
    parts.filled[row] = True
    begin = row * parts.counts[WORDS] * ROW
    x = parts.node[row]
    for place in range(subscriptions.node_start[x], subscriptions.node_start[x + 1]):
        number = parts.number[subscriptions.node_topics[place]]
        if number >= 0:
            parts.bits[begin + (number >> 6) * ROW] |= _ONE << np.uint64(number & 63)


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
    words = parts.counts[WORDS]
    total = np.int64(0)
    for word in range(words):
        total += np.int64(popcount(labelled(parts.bits, (row * words + word) * ROW)))
    return total


@inner_kernel()
def common_parts(parts, subscriptions, row, y):
    """In how many topics that y wants, too, a node is in a part."""
    words = parts.counts[WORDS]
    total = np.int64(0)
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
    fill(parts, subscriptions, row)
    fill(parts, subscriptions, other)
    words = parts.counts[WORDS]
    total = np.int64(0)
    for word in range(words):
        total += np.int64(popcount(differing(parts.bits, (row * words + word) * ROW, (other * words + word) * ROW)))
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
    bits, words = parts.bits, parts.counts[WORDS]
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
def merge(parts, subscriptions, links, pairs, a, b):
    """Merge the components of two nodes in the topics of the listed pairs of subscriptions."""
    row, other = parts.place[a], parts.place[b]
    words, bits = parts.counts[WORDS], parts.bits
    for pair in range(pairs):
        one_s, other_s = links.common[2 * pair], links.common[2 * pair + 1]
        number = parts.number[subscriptions.node_topics[one_s]]
        if number < 0:
            continue
        word, shift = number >> 6, np.uint64(number & 63)
        label = label_at(bits, (row * words + word) * ROW, shift) if row >= 0 else 0
        other_label = label_at(bits, (other * words + word) * ROW, shift) if other >= 0 else 0
        if label == other_label:
            continue
        if label == 0:
            hang(links, other_s, one_s)
            relabel(parts, number, other_label, label)
        else:
            hang(links, one_s, other_s)
            relabel(parts, number, label, other_label)
        parts.counts[MISSING] -= 1


@inner_kernel()
def forget(parts):
    """Make ready for the next round."""
    for number in range(parts.counts[TOPICS]):
        parts.number[parts.topic[number, 0]] = -1
    for row in range(parts.counts[NODES]):
        parts.place[parts.node[row]] = -1
    for k in range(WORDS + 1):
        parts.counts[k] = 0
