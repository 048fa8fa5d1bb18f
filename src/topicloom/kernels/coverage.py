"""SpiderCast: choose neighbours by how many topics they cover, 64 nodes and many words at a time.

Nodes link to others until each of their topics is covered often enough. A link covers every topic that both ends want,
for both ends. In a turn a node makes all of its links, or one, and then the turns go round: coverage rises until no
node can take another link.

What a link with each node would cover is its gain, a number written down planes: bit v of plane p is bit p of the gain
of node v. A large topic is a row of bits, one for each node, so adding it to all gains takes a few operations on whole
rows. A small topic has no row, or these would take nodes x topics / 8 bytes: its members are added one by one, each
with a carry that runs up the planes. A topic is taken from gains again once it is covered often enough. Random links
need no gains, only the nodes that want any topic in need.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import common_subscriptions
from topicloom.kernels.jit import inner_kernel, kernel, step
from topicloom.kernels.simd import WORDS, lowest_bit, popcount

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
    bits: npt.NDArray[np.uint64]  # by row


def topic_rows(topic_start: npt.NDArray[np.int64], topic_nodes: npt.NDArray[np.int32], words: int) -> TopicRows:
    """Rows for the topics that are large enough."""
    sizes = np.diff(topic_start)
    large = WORDS_A_MEMBER * sizes >= words
    row = np.where(large, np.cumsum(large) - 1, -1)
    bits = np.zeros((int(large.sum()), words), np.uint64)
    nodes = topic_nodes[np.repeat(large, sizes)]
    word = np.repeat(row[large] * words, sizes[large]) + (nodes >> 6)
    # As no bit is set twice, adding sets them.
    np.add.at(bits.reshape(-1), word, _ONE << (nodes & 63).astype(np.uint64))
    return TopicRows(topic_start, topic_nodes, row, bits)


class Covered(NamedTuple):
    """Links so far, those of each node in a chain from its last one back, and what they cover."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]  # (source, target) x link: the link before it in the chain of that end
    last: npt.NDArray[np.int64]  # by node: the last link of its chain; -1 without links
    degree: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32]  # by subscription: how often it is covered
    of_u: npt.NDArray[np.int64]  # subscriptions that the last link covers, of the node whose turn it is
    of_v: npt.NDArray[np.int64]  # and of the other


class Turn(NamedTuple):
    """Rows and lists of the node whose turn it is."""

    open: npt.NDArray[np.uint64]  # nodes that can take links
    allowed: npt.NDArray[np.uint64]  # those that it may link to
    one: npt.NDArray[np.uint64]
    other: npt.NDArray[np.uint64]
    planes: npt.NDArray[np.uint64]  # gains
    need: npt.NDArray[np.int64]  # its subscriptions in need
    topics: npt.NDArray[np.int32]


def new_covered(nodes: int, subscriptions: int, longest: int, capacity: int) -> Covered:
    """No links yet, and capacity for so many."""
    return Covered(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty((2, capacity), np.int64),
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int32),
        np.zeros(subscriptions, np.int32),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )


def new_turn(nodes: int, longest: int, words: int) -> Turn:
    """All nodes can take links."""
    can_take = np.zeros(64 * words, np.bool_)
    can_take[:nodes] = True
    open_nodes = np.packbits(can_take, bitorder="little").view("<u8").astype(np.uint64)
    rows = np.empty((3 + longest.bit_length(), words), np.uint64)
    return Turn(
        open_nodes, rows[0], rows[1], rows[2], rows[3:], np.empty(longest, np.int64), np.empty(longest, np.int32)
    )


@inner_kernel()
def _fill(row, word):
    for w in range(row.shape[0]):
        row[w] = word


@inner_kernel()
def _copy(row, into):
    for w in range(into.shape[0]):
        into[w] = row[w]


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
def _change_by_carry(planes, plane, flip, carry):
    """Add what is carried to the planes from one on, or take it."""
    carried = _ALL
    while carried:
        carried = _NONE
        row = planes[plane]
        for w in range(row.shape[0]):
            out = carry[w] & (row[w] ^ flip)
            row[w] ^= carry[w]
            carry[w] = out
            carried |= out
        plane += 1


@inner_kernel()
def _change_members(planes, rows, topic, flip):
    """Add one to the gains of the members of a topic, or take it."""
    for k in range(rows.start[topic], rows.start[topic + 1]):
        word, carry = rows.nodes[k] >> 6, _ONE << np.uint64(rows.nodes[k] & 63)
        plane = 0
        while carry:
            bits = planes[plane, word]
            planes[plane, word] = bits ^ carry
            carry &= bits ^ flip
            plane += 1


@inner_kernel()
def _change_gains(planes, rows, topics, flip, carry):
    """Add one to the gain of every node for each topic that it wants, or take it; two rows at a time."""
    waiting = np.int64(-1)  # the row of a topic that is added with the next one
    for k in range(topics.shape[0]):
        row = rows.row[topics[k]]
        if row < 0:
            _change_members(planes, rows, topics[k], flip)
        elif waiting < 0:
            waiting = row
        else:
            if _change_by_two(planes[0], rows.bits[waiting], rows.bits[row], flip, carry):
                _change_by_carry(planes, 1, flip, carry)
            waiting = np.int64(-1)
    if waiting >= 0:
        _copy(rows.bits[waiting], carry)
        _change_by_carry(planes, 0, flip, carry)


@inner_kernel()
def _keep_common(kept, row, common):
    """Write which bits two rows share; give whether there are any."""
    found = _NONE
    for w in range(common.shape[0]):
        common[w] = kept[w] & row[w]
        found |= common[w]
    return found != 0


@step()
def _most(gains, turn):
    """The allowed node of highest gain, lowest id first, and how many planes that takes; -1 where none has any."""
    best, trial, spare = turn.allowed, turn.one, turn.other
    depth = 0
    for plane in range(gains.shape[0] - 1, -1, -1):
        if _keep_common(best, gains[plane], trial):
            best, trial, spare = trial, spare, trial
            depth = max(depth, plane + 1)
    return (_bit_at(best, 0) if depth else np.int64(-1)), depth


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
def _add_members(rows, topic, into):
    for k in range(rows.start[topic], rows.start[topic + 1]):
        into[rows.nodes[k] >> 6] |= _ONE << np.uint64(rows.nodes[k] & 63)


@inner_kernel()
def _take(row, left, taken):
    """Take the bits of a row out of those that are left; give how many these were."""
    count = np.int64(0)
    for w in range(left.shape[0]):
        taken[w] = left[w] & row[w]
        left[w] &= ~row[w]
        count += np.int64(popcount(taken[w]))
    return count


@step()
def _still_wanting(rows, times, found, enough, turn):
    """Write to `one` the allowed nodes that want any of the topics found that is still in need; give their number."""
    left = turn.one
    _fill(left, _NONE)
    for k in range(found):
        if times[turn.need[k]] < enough:
            row = rows.row[turn.topics[k]]
            if row < 0:
                _add_members(rows, turn.topics[k], left)
            else:
                _add_row(rows.bits[row], left)
    count = np.int64(0)
    for w in range(left.shape[0]):
        left[w] &= turn.allowed[w]
        count += np.int64(popcount(left[w]))
    return count


@step()
def _in_order(rows, place, turn):
    """The node at a place among those left in `one`, as they come up in the topics found."""
    k = 0
    while True:
        topic = turn.topics[k]
        row = rows.row[topic]
        if row < 0:
            for m in range(rows.start[topic], rows.start[topic + 1]):
                word, bit = rows.nodes[m] >> 6, _ONE << np.uint64(rows.nodes[m] & 63)
                if turn.one[word] & bit:
                    if place == 0:
                        return np.int64(rows.nodes[m])
                    turn.one[word] ^= bit
                    place -= 1
        else:
            count = _take(rows.bits[row], turn.one, turn.other)
            if place < count:
                return _bit_at(turn.other, place)
            place -= count
        k += 1


@step()
def _by_chance(rows, times, found, enough, rng, turn):
    """A random one of the allowed nodes that want a topic in need; -1 where there is none."""
    count = _still_wanting(rows, times, found, enough, turn)
    return _in_order(rows, int(rng.random() * count), turn) if count > 0 else np.int64(-1)


@step()
def _begin_turn(covered, turn, u):
    """Node u may link to all that can take links but itself and its neighbours."""
    _copy(turn.open, turn.allowed)
    _clear(turn.allowed, u)
    link = covered.last[u]
    while link >= 0:
        if covered.source[link] == u:
            _clear(turn.allowed, covered.target[link])
            link = covered.before[0, link]
        else:
            _clear(turn.allowed, covered.source[link])
            link = covered.before[1, link]


@step()
def _list_need(node_start, node_topics, times, u, enough, turn):
    """List the topics of u in need, and its subscriptions to them; give their number."""
    found = 0
    for i in range(node_start[u], node_start[u + 1]):
        if times[i] < enough:
            turn.need[found] = i
            turn.topics[found] = node_topics[i]
            found += 1
    return found


@inner_kernel()
def _add_link(covered, turn, link, node_start, node_topics, max_degree, u, v):
    """Write down the next link, of u whose turn it is, and what it covers; give how many topics that are."""
    source, target = min(u, v), max(u, v)
    covered.source[link], covered.target[link] = source, target
    covered.before[0, link], covered.before[1, link] = covered.last[source], covered.last[target]
    covered.last[u] = covered.last[v] = link
    covered.degree[u] += 1
    covered.degree[v] += 1
    _clear(turn.allowed, v)
    if covered.degree[v] == max_degree:
        _clear(turn.open, v)
    if covered.degree[u] == max_degree:
        _clear(turn.open, u)
    common = common_subscriptions(node_start, node_topics, u, v, covered.of_u, covered.of_v)
    for k in range(common):
        covered.times[covered.of_u[k]] += 1
        covered.times[covered.of_v[k]] += 1
    return common


@step()
def _list_met(covered, node_topics, common, enough, topics):
    """List the topics that the last link covered often enough; give their number."""
    met = 0
    for k in range(common):
        if covered.times[covered.of_u[k]] == enough:
            topics[met] = node_topics[covered.of_u[k]]
            met += 1
    return met


@inner_kernel()
def _planes(count):
    """Bits of a number up to `count`."""
    planes = 0
    while count >> planes:
        planes += 1
    return planes


@kernel()
def cover_topics(node_start, node_topics, rows, covered, turn, greedy, random, max_degree, by_links, rng, ticks):
    """Add links by which nodes cover their topics, first by gain, then by chance; return their number.

    With `by_links` a node makes one link in its turn and the turns go round; once no node finds a link, `greedy` is
    raised: to `max_degree`, where every topic of a node with capacity is in need.
    """
    times, degree = covered.times, covered.degree
    links, before = 0, -1
    while links > before or (by_links and greedy < max_degree):
        greedy += links == before
        before = links
        for u in range(degree.shape[0]):
            if ticks[1] != 0:
                return links
            most = min(max_degree, degree[u] + 1) if by_links else max_degree
            if degree[u] >= most:
                continue
            _begin_turn(covered, turn, u)
            for by_chance in (False, True):
                if degree[u] >= most:
                    break
                enough = greedy + random if by_chance else greedy
                found = _list_need(node_start, node_topics, times, u, enough, turn)
                depth = 0 if by_chance else _planes(found)  # planes that the highest gain takes: gains only fall
                for plane in range(depth):
                    _fill(turn.planes[plane], _NONE)
                changed, flip = found, _NONE
                while degree[u] < most:
                    if by_chance:
                        chosen = _by_chance(rows, times, found, enough, rng, turn)
                    else:
                        _change_gains(turn.planes, rows, turn.topics[:changed], flip, turn.one)
                        chosen, depth = _most(turn.planes[:depth], turn)
                    if chosen < 0:
                        break
                    common = _add_link(covered, turn, links, node_start, node_topics, max_degree, u, chosen)
                    links += 1
                    if not by_chance:
                        changed, flip = _list_met(covered, node_topics, common, enough, turn.topics), _ALL
            ticks[0] = links
        if not by_links:
            break
    return links
