"""Coverage where topics are large: what all nodes would cover is counted by bits, 64 nodes and many words at a time.

Counting a node's topics over all their members, as `coverage` does, takes as many steps as these have members: under
Zipf's law 200,000 a node at 10,000 nodes. Here a topic is a row of bits, one for each node, and a gain is a number
written down the planes: bit v of plane p is bit p of the gain of node v. Adding a topic to all gains takes a few
operations on whole rows. Random links need no gains, only who wants any topic in need. Links and draws are the same.

Small topics have no row of their own, or these would take nodes x topics / 8 bytes: theirs is written when it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.baselines.coverage import chain_link, new_link_chains
from topicloom.kernels.greedy.lanes import WORDS, lowest_bit, popcount
from topicloom.kernels.jit import inner_kernel, kernel, step

# A topic has a row if this many words of it come on a member at most: 8 bytes each.
WORDS_A_MEMBER = 4
_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


def row_words(nodes: int) -> int:
    """Words of a row with a bit for each node, padded to whole vectors."""
    return -(-nodes // (64 * WORDS)) * WORDS


class TopicRows(NamedTuple):
    """Which nodes want each topic: rows of bits for the large ones, lists for all."""

    start: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]  # by topic; -1 for small ones
    bits: npt.NDArray[np.uint64]  # by row; the last two are spare


def topic_rows(topic_start: npt.NDArray[np.int64], topic_nodes: npt.NDArray[np.int32], words: int) -> TopicRows:
    """Rows for the topics that are large enough."""
    sizes = np.diff(topic_start)
    large = WORDS_A_MEMBER * sizes >= words
    row = np.where(large, np.cumsum(large) - 1, -1)
    bits = np.zeros((int(large.sum()) + 2, words), np.uint64)
    nodes = topic_nodes[np.repeat(large, sizes)]
    word = np.repeat(row[large] * words, sizes[large]) + (nodes >> 6)
    # As no bit is set twice, adding sets them.
    np.add.at(bits.reshape(-1), word, np.uint64(1) << (nodes & 63).astype(np.uint64))
    return TopicRows(topic_start, topic_nodes, row, bits)


@inner_kernel()
def _row_of(rows, topic, spare):
    """The row of a topic: its own, or else the first or second spare one, to which it is written."""
    row = rows.row[topic]
    if row < 0:
        row = rows.bits.shape[0] - spare
        _fill(rows.bits[row], _NONE)
        for k in range(rows.start[topic], rows.start[topic + 1]):
            rows.bits[row, rows.nodes[k] >> 6] |= _ONE << np.uint64(rows.nodes[k] & 63)
    return row


@inner_kernel()
def _fill(row, word):
    for w in range(row.shape[0]):
        row[w] = word


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


@inner_kernel()
def _change_gains(planes, rows, topics, flip, carry):
    """Add one to the gain of every node for each topic that it wants, or take it; two topics at a time."""
    for k in range(0, topics.shape[0], 2):
        row = rows.bits[_row_of(rows, topics[k], 1)]
        if k + 1 < topics.shape[0]:
            carried = _change_by_two(planes[0], row, rows.bits[_row_of(rows, topics[k + 1], 2)], flip, carry)
        else:
            _copy(row, carry)
            carried = _change_by_carry(planes[0], flip, carry)
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


@step()
def _most(planes, turn):
    """The allowed node of highest gain, lowest id first; -1 where none has any."""
    best, trial = turn.one, turn.other
    _copy(turn.allowed, best)
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
def _take(row, left, taken):
    """Take the bits of a row out of those that are left; give how many these were."""
    count = np.int64(0)
    for w in range(left.shape[0]):
        taken[w] = left[w] & row[w]
        left[w] &= ~row[w]
        count += np.int64(popcount(taken[w]))
    return count


class TurnRows(NamedTuple):
    """Rows and lists of the node whose turn it is."""

    allowed: npt.NDArray[np.uint64]  # nodes that it may link to
    one: npt.NDArray[np.uint64]
    other: npt.NDArray[np.uint64]
    need: npt.NDArray[np.int64]  # its subscriptions in need
    topics: npt.NDArray[np.int32]


@step()
def _new_turn(words, longest):
    return TurnRows(
        np.empty(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int32),
    )


@step()
def _begin_turn(chains, open_nodes, allowed, u):
    """Node u may link to all that can take links but itself and those that linked to it."""
    _copy(open_nodes, allowed)
    _clear(allowed, u)
    link = chains.last[u]
    while link >= 0:
        _clear(allowed, chains.source[link])
        link = chains.before[link]


@step()
def _list_need(node_start, node_topics, covered, u, enough, turn):
    """List the topics of u in need, and its subscriptions to them; give their number."""
    found = 0
    for i in range(node_start[u], node_start[u + 1]):
        if covered[i] < enough:
            turn.need[found] = i
            turn.topics[found] = node_topics[i]
            found += 1
    return found


@step()
def _list_met(chains, node_topics, common, enough, topics):
    """List the topics that the last link covered often enough; give their number."""
    met = 0
    for k in range(common):
        if chains.covered[chains.of_u[k]] == enough:
            topics[met] = node_topics[chains.of_u[k]]
            met += 1
    return met


@inner_kernel()
def _planes(count):
    """Bits of a number up to `count`."""
    planes = 0
    while count >> planes:
        planes += 1
    return planes


@step()
def _still_wanting(rows, covered, found, enough, turn):
    """Write to `one` the allowed nodes that want any of the topics found that is still in need; give their number."""
    left = turn.one
    _fill(left, _NONE)
    for k in range(found):
        if covered[turn.need[k]] < enough:
            _add_row(rows.bits[_row_of(rows, turn.topics[k], 1)], left)
    count = np.int64(0)
    for w in range(left.shape[0]):
        left[w] &= turn.allowed[w]
        count += np.int64(popcount(left[w]))
    return count


@step()
def _in_order(rows, place, turn):
    """The node at a place among those left in `one`, as they come up in the topics found."""
    k, count = -1, np.int64(0)
    while place >= count:
        place -= count
        k += 1
        count = _take(rows.bits[_row_of(rows, turn.topics[k], 1)], turn.one, turn.other)
    return _bit_at(turn.other, place)


@step()
def _by_chance(rows, covered, found, enough, rng, turn):
    """A random one of the allowed nodes that want a topic in need; -1 where there is none."""
    count = _still_wanting(rows, covered, found, enough, turn)
    return _in_order(rows, int(rng.random() * count), turn) if count > 0 else np.int64(-1)


@step()
def _all_open(nodes, words):
    """A row of all nodes."""
    row = np.empty(words, np.uint64)
    _fill(row, _ALL)
    for v in range(nodes, 64 * words):
        _clear(row, v)
    return row


@kernel()
def cover_by_bits(node_start, node_topics, topic_start, rows, greedy, random, max_degree, room, rng, ticks):
    """The links of `cover_topics`, from the rows of `topic_rows`."""
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    covered, degree, nodes = chains.covered, chains.degree, chains.degree.shape[0]
    longest, words = chains.of_u.shape[0], rows.bits.shape[1]
    planes, turn = np.empty((_planes(longest), words), np.uint64), _new_turn(words, longest)
    open_nodes = _all_open(nodes, words)
    links = 0
    for u in range(nodes):
        if ticks[1] != 0:
            break
        _begin_turn(chains, open_nodes, turn.allowed, u)
        for by_chance in (False, True):
            if degree[u] >= max_degree:
                break
            enough = greedy + random if by_chance else greedy
            found = _list_need(node_start, node_topics, covered, u, enough, turn)
            gains = planes[: 0 if by_chance else _planes(found)]
            for plane in range(gains.shape[0]):
                _fill(gains[plane], _NONE)
            changed, flip = found, _NONE
            while degree[u] < max_degree:
                if by_chance:
                    chosen = _by_chance(rows, covered, found, enough, rng, turn)
                else:
                    _change_gains(gains, rows, turn.topics[:changed], flip, turn.one)
                    chosen = _most(gains, turn)
                if chosen < 0:
                    break
                common = chain_link(chains, links, node_start, node_topics, u, chosen)
                links += 1
                _clear(turn.allowed, chosen)
                if degree[chosen] >= max_degree:
                    _clear(open_nodes, chosen)
                if not by_chance:
                    changed, flip = _list_met(chains, node_topics, common, enough, turn.topics), _ALL
        if degree[u] >= max_degree:
            _clear(open_nodes, u)
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()
