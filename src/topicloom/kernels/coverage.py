"""SpiderCast: nodes link to others until each of their topics is covered often enough.

A link covers every topic that both ends want, for both ends. What a candidate would cover is its gain. Nodes that can
take no more links leave the lists of members; with a small max_degree that is most of them. Three ways give the same
links and draws:

- By lists: the gain goes up by one for each topic in need, over its members, and down again once the topic has enough.
  That costs a node twice the sizes of its topics, however many links it makes.
- By bits, if topics are large: under Zipf's law lists would take 200,000 steps a node at 10,000 nodes. A topic is a row
  of bits, one for each node, and gains are numbers down the planes: bit v of plane p is bit p of the gain of node v.
  Adding a topic takes a few operations on whole rows. Small topics would need nodes x topics / 8 bytes; their rows are
  written when they are used. Random links need no gains, only who wants a topic in need.
- In turns: every node makes one link in its turn. Gains are counted anew in every turn: with so few links a node,
  keeping them for all nodes would cost more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import common_subscriptions
from topicloom.kernels.jit import inner_kernel, kernel, step
from topicloom.kernels.simd import WORDS, lowest_bit, popcount


class OpenMembers(NamedTuple):
    """The nodes of each topic that can take links, and how many topics in need a link with each node would cover."""

    start: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    end: npt.NDArray[np.int64]
    gain: npt.NDArray[np.int32]  # by node; 0 between turns
    candidates: npt.NDArray[np.int32]  # nodes with a gain


@kernel()
def new_open_members(topic_start, topic_nodes, nodes):
    """All nodes can take links."""
    gain, candidates = np.zeros(nodes, np.int32), np.empty(nodes, np.int32)
    return OpenMembers(topic_start, topic_nodes.copy(), topic_start[1:].copy(), gain, candidates)


@inner_kernel()
def count_gains(members, node_start, node_topics, covered, degree, u, enough, max_degree):
    """Count how many topics of u in need a link with each other node would cover; list these nodes.

    Nodes that can take no more links leave the member lists on the way.
    """
    found = np.int64(0)
    for i in range(node_start[u], node_start[u + 1]):
        if covered[i] < enough:
            t = node_topics[i]
            kept = members.start[t]
            for at in range(members.start[t], members.end[t]):
                v = members.nodes[at]
                if degree[v] < max_degree:
                    members.nodes[kept] = v
                    kept += 1
                    if members.gain[v] == 0:
                        members.candidates[found] = v
                        found += 1
                    members.gain[v] += 1
            members.end[t] = kept
    return found


class LinkChains(NamedTuple):
    """Links so far. Those with a node whose turn is still to come form a chain from its last one back."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]  # by link: the one before it in the chain of its target
    last: npt.NDArray[np.int64]  # by node: the last one of its chain
    closed_to: npt.NDArray[np.int32]  # by node: the last one that may not link to it: a neighbour, or itself
    degree: npt.NDArray[np.int32]
    covered: npt.NDArray[np.int32]  # by subscription: how often
    of_u: npt.NDArray[np.int64]  # subscriptions that the last link covers, of the node whose turn it is
    of_v: npt.NDArray[np.int64]  # and of the other


@kernel()
def new_link_chains(node_start, subscriptions, room):
    """No links yet, and room for so many."""
    nodes = node_start.shape[0] - 1
    longest = np.int64(0)
    for u in range(nodes):
        longest = max(longest, node_start[u + 1] - node_start[u])
    return LinkChains(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.int32),
        np.zeros(subscriptions, np.int32),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )


@inner_kernel()
def close_neighbours(chains, u):
    """Begin the turn of u: it may link neither to itself nor to those that linked to it."""
    chains.closed_to[u] = u
    link = chains.last[u]
    while link >= 0:
        chains.closed_to[chains.source[link]] = u
        link = chains.before[link]


@inner_kernel()
def chain_link(chains, links, node_start, node_topics, u, chosen):
    """Write down the next link, of u whose turn it is, and what it covers; give how many topics that are."""
    chains.source[links] = min(u, chosen)
    chains.target[links] = max(u, chosen)
    if u < chosen:
        chains.before[links] = chains.last[chosen]
        chains.last[chosen] = links
    chains.degree[u] += 1
    chains.degree[chosen] += 1
    chains.closed_to[chosen] = u
    return cover_common(chains, node_start, node_topics, u, chosen)


@inner_kernel()
def cover_common(chains, node_start, node_topics, u, v):
    """Count that a link covers the common topics of two nodes; give how many these are."""
    common = common_subscriptions(node_start, node_topics, u, v, chains.of_u, chains.of_v)
    for k in range(common):
        chains.covered[chains.of_u[k]] += 1
        chains.covered[chains.of_v[k]] += 1
    return common


@kernel()
def cover_topics(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which each node in turn covers its topics, first by gain, then by chance; at most `room` of them."""
    members = new_open_members(topic_start, topic_nodes, node_start.shape[0] - 1)
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    covered, degree, gain, candidates = chains.covered, chains.degree, members.gain, members.candidates
    links = 0
    for u in range(degree.shape[0]):
        if ticks[1] != 0:
            break
        close_neighbours(chains, u)
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            found = count_gains(members, node_start, node_topics, covered, degree, u, enough, max_degree)
            while degree[u] < max_degree:
                found, chosen = sift(candidates[:found], u, gain, chains.closed_to)
                if found == 0:
                    break
                if by_chance:
                    chosen = candidates[int(rng.random() * found)]
                common = chain_link(chains, links, node_start, node_topics, u, chosen)
                links += 1
                for k in range(common):
                    if covered[chains.of_u[k]] == enough:
                        lower_gains(members, node_topics[chains.of_u[k]])
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    lower_gains(members, node_topics[i])
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()


@inner_kernel()
def sift(candidates, u, gain, closed_to):
    """Keep the candidates that u may still link to; give their number and the one of highest gain, lowest id.

    One that drops out never comes back in this turn: gains only fall.
    """
    kept = 0
    best = np.int64(-1)
    for k in range(candidates.shape[0]):
        v = np.int64(candidates[k])
        if gain[v] > 0 and closed_to[v] != u:
            candidates[kept] = v
            kept += 1
            if best < 0 or gain[v] > gain[best] or (gain[v] == gain[best] and v < best):
                best = v
    return kept, best


@inner_kernel()
def lower_gains(members, topic):
    """Take one from the gain of every member of a topic."""
    for at in range(members.start[topic], members.end[topic]):
        members.gain[members.nodes[at]] -= 1


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


@kernel()
def cover_in_turns(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which nodes cover their topics, one in each turn, by gain or else by chance; at most `room` of them.

    Once no node finds one, `greedy` is raised: to `max_degree`, where every topic of a node with room is in need.
    """
    members = new_open_members(topic_start, topic_nodes, node_start.shape[0] - 1)
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    degree, gain, candidates = chains.degree, members.gain, members.candidates
    neighbours = np.empty((degree.shape[0], max_degree), np.int32)
    links = 0
    before = -1
    while ticks[1] == 0 and (links > before or greedy < max_degree):
        greedy += links == before
        before = links
        for u in range(degree.shape[0]):
            if degree[u] == max_degree:
                continue
            chosen = -1
            for enough in (greedy, greedy + random):
                found = count_gains(members, node_start, node_topics, chains.covered, degree, u, enough, max_degree)
                gain[u] = 0
                for k in range(degree[u]):
                    gain[neighbours[u, k]] = 0
                possible = 0
                for k in range(found):
                    v = candidates[k]
                    if gain[v] > 0:
                        candidates[possible] = v
                        possible += 1
                        if chosen < 0 or gain[v] > gain[chosen] or (gain[v] == gain[chosen] and v < chosen):
                            chosen = v
                if enough > greedy and possible > 0:
                    chosen = candidates[int(rng.random() * possible)]
                for k in range(possible):
                    gain[candidates[k]] = 0
                if chosen >= 0:
                    break
            if chosen < 0:
                continue
            chains.source[links] = min(u, chosen)
            chains.target[links] = max(u, chosen)
            links += 1
            neighbours[u, degree[u]] = chosen
            neighbours[chosen, degree[chosen]] = u
            degree[u] += 1
            degree[chosen] += 1
            cover_common(chains, node_start, node_topics, u, chosen)
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()
