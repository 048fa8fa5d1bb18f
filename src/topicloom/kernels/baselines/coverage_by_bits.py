"""Coverage where topics are large: what all nodes would cover is counted by bits, 64 nodes and many words at a time.

Counting a node's topics over all their members, as `coverage` does, takes as many steps as these have members: under
Zipf's law 200,000 a node at 10,000 nodes. Here a topic is a row of bits, one for each node, and a gain is a number
written down the planes: bit v of plane p is bit p of the gain of node v. Adding a topic to all gains takes a few
operations on whole rows. Links and draws are the same.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.baselines.coverage import chain_link, new_link_chains
from topicloom.kernels.greedy.lanes import WORDS, lowest_bit, popcount
from topicloom.kernels.jit import inner_kernel, kernel

_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


def row_words(nodes: int) -> int:
    """Words of a row with a bit for each node, padded to whole vectors."""
    return -(-nodes // (64 * WORDS)) * WORDS


@kernel()
def member_bits(topic_start, topic_nodes, words):
    """For every topic a row of bits: which nodes want it; at the end an empty row."""
    topics = topic_start.shape[0] - 1
    bits = np.zeros((topics + 1, words), np.uint64)
    for topic in range(topics):
        for k in range(topic_start[topic], topic_start[topic + 1]):
            bits[topic, topic_nodes[k] >> 6] |= _ONE << np.uint64(topic_nodes[k] & 63)
    return bits


@inner_kernel()
def _clear(row, node):
    row[node >> 6] &= ~(_ONE << np.uint64(node & 63))


@inner_kernel()
def _change_by_two(plane, a, b, flip, carry):
    """Add two rows to a plane, or take them from it where `flip` is all ones; give whether anything is carried."""
    carried = _NONE
    for w in range(plane.shape[0]):
        differ = a[w] ^ b[w]
        out = (a[w] & b[w]) | (differ & (plane[w] ^ flip))
        plane[w] ^= differ
        carry[w] = out
        carried |= out
    return carried != 0


@inner_kernel()
def _change_by_carry(plane, flip, carry):
    """Add what is carried to the next plane, or take it; give whether anything is carried on."""
    carried = _NONE
    for w in range(plane.shape[0]):
        out = carry[w] & (plane[w] ^ flip)
        plane[w] ^= carry[w]
        carry[w] = out
        carried |= out
    return carried != 0


@kernel()
def _change_gains(planes, bits, topics, flip, carry):
    """Add one to the gain of every node for each topic that it wants, or take it; two topics at a time."""
    zeros = np.int64(bits.shape[0] - 1)
    for k in range(0, topics.shape[0], 2):
        other = np.int64(topics[k + 1]) if k + 1 < topics.shape[0] else zeros
        carried = _change_by_two(planes[0], bits[topics[k]], bits[other], flip, carry)
        plane = 1
        while carried:
            carried = _change_by_carry(planes[plane], flip, carry)
            plane += 1


@inner_kernel()
def _keep_common(kept, row, common):
    """Write which bits two rows share; give whether there are any."""
    found = _NONE
    for w in range(common.shape[0]):
        common[w] = kept[w] & row[w]
        found |= common[w]
    return found != 0


@inner_kernel()
def _copy(row, into):
    for w in range(into.shape[0]):
        into[w] = row[w]


@inner_kernel()
def _most(planes, allowed, best, trial):
    """The allowed node of highest gain, lowest id first; -1 where none has any."""
    _copy(allowed, best)
    found = False
    for plane in range(planes.shape[0] - 1, -1, -1):
        if _keep_common(best, planes[plane], trial):
            best, trial, found = trial, best, True
    return _bit_at(best, 0) if found else np.int64(-1)


@inner_kernel()
def _bit_at(row, place):
    """Where the bit stands that comes after so many others."""
    w = 0
    while place >= np.int64(popcount(row[w])):
        place -= np.int64(popcount(row[w]))
        w += 1
    rest = row[w]
    for _ in range(place):
        rest &= rest - _ONE
    return 64 * w + lowest_bit(rest)


@inner_kernel()
def _add_row(row, into):
    for w in range(into.shape[0]):
        into[w] |= row[w]


@inner_kernel()
def _count_and_take(row, left, taken):
    """Take the bits of a row out of those that are left; give how many these were."""
    count = np.int64(0)
    for w in range(left.shape[0]):
        taken[w] = left[w] & row[w]
        left[w] &= ~row[w]
        count += np.int64(popcount(taken[w]))
    return count


@inner_kernel()
def _any_of(bits, node_topics, covered, listed, enough, allowed, left):
    """Write the allowed nodes that want a listed topic still in need; give their number."""
    left[:] = 0
    for k in range(listed.shape[0]):
        if covered[listed[k]] < enough:
            _add_row(bits[node_topics[listed[k]]], left)
    count = np.int64(0)
    for w in range(left.shape[0]):
        left[w] &= allowed[w]
        count += np.int64(popcount(left[w]))
    return count


@inner_kernel()
def _in_order(bits, node_topics, listed, place, left, taken):
    """The node at a place among those left, as they come up in the listed topics."""
    k = 0
    count = _count_and_take(bits[node_topics[listed[0]]], left, taken)
    while place >= count:
        place -= count
        k += 1
        count = _count_and_take(bits[node_topics[listed[k]]], left, taken)
    return _bit_at(taken, place)


@kernel()
def cover_by_bits(node_start, node_topics, topic_start, bits, greedy, random, max_degree, room, rng, ticks):
    """The links of `cover_topics`, from the rows of `member_bits`."""
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    covered, degree, nodes, words = chains.covered, chains.degree, chains.degree.shape[0], bits.shape[1]
    planes = np.zeros((_planes(chains.of_u.shape[0]), words), np.uint64)
    open_nodes = np.full(words, _ALL)
    allowed, one, other = np.empty(words, np.uint64), np.empty(words, np.uint64), np.empty(words, np.uint64)
    listed = np.empty(chains.of_u.shape[0], np.int64)
    topics = np.empty(chains.of_u.shape[0], np.int32)
    for v in range(nodes, 64 * words):
        _clear(open_nodes, v)
    links = 0
    for u in range(nodes):
        if ticks[1] != 0:
            break
        _copy(open_nodes, allowed)
        _clear(allowed, u)
        link = chains.last[u]
        while link >= 0:
            _clear(allowed, chains.source[link])
            link = chains.before[link]
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            found = 0
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    listed[found] = i
                    topics[found] = node_topics[i]
                    found += 1
            used = planes[: _planes(found)]
            if not by_chance:
                used[:] = 0
                _change_gains(used, bits, topics[:found], _NONE, one)
            while degree[u] < max_degree:
                if by_chance:
                    count = _any_of(bits, node_topics, covered, listed[:found], enough, allowed, one)
                    if count == 0:
                        break
                    chosen = _in_order(bits, node_topics, listed[:found], int(rng.random() * count), one, other)
                else:
                    chosen = _most(used, allowed, one, other)
                    if chosen < 0:
                        break
                common = chain_link(chains, links, node_start, node_topics, u, chosen)
                links += 1
                _clear(allowed, chosen)
                if degree[chosen] == max_degree:
                    _clear(open_nodes, chosen)
                if not by_chance:
                    met = 0
                    for k in range(common):
                        if covered[chains.of_u[k]] == enough:
                            topics[met] = node_topics[chains.of_u[k]]
                            met += 1
                    _change_gains(used, bits, topics[:met], _ALL, one)
        if degree[u] == max_degree:
            _clear(open_nodes, u)
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()


@inner_kernel()
def _planes(count):
    """Bits of a number up to `count`."""
    planes = 0
    while count >> planes:
        planes += 1
    return planes
