"""Coverage where nodes share much: what all nodes would cover is counted by bits, 64 topics and many nodes at a time.

Counting a node's topics over all their members, as `coverage` does, takes as many steps as these have members: under
Zipf's law 200,000 a node at 10,000 nodes. Counting common bits takes nodes x topics / 64, in whole vectors: 3 to 4
times as fast there. Links and draws are the same.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.baselines.coverage import chain_link, close_neighbours, new_link_chains, sift
from topicloom.kernels.greedy.lanes import lowest_bit, popcount
from topicloom.kernels.jit import inner_kernel, kernel

_ONE = np.uint64(1)
# Nodes whose counters stay in the fastest cache while all words are gone through.
_BLOCK = 2048
# The gain of a node that can take no link; far below all that is added to it.
_CLOSED = np.int64(-(1 << 40))


@kernel()
def topic_words(node_start, node_topics, topics):
    """For every 64 topics a row, with a word for each node: which of them it wants."""
    nodes = node_start.shape[0] - 1
    bits = np.zeros(((topics + 63) // 64, nodes), np.uint64)
    for node in range(nodes):
        for k in range(node_start[node], node_start[node + 1]):
            bits[node_topics[k] >> 6, node] |= _ONE << np.uint64(node_topics[k] & 63)
    return bits


@inner_kernel()
def _change_gains(words, mask, sign, gain):
    for v in range(gain.shape[0]):
        gain[v] += sign * np.int64(popcount(words[v] & mask))


@kernel()
def _count(bits, topics, sign, gain):
    """Change the gain of every node by how many of some topics it wants."""
    for begin in range(0, gain.shape[0], _BLOCK):
        end = min(begin + _BLOCK, gain.shape[0])
        for word in range(topics.shape[0]):
            if topics[word] != 0:
                _change_gains(bits[word, begin:end], topics[word], sign, gain[begin:end])


@inner_kernel()
def _most(gain):
    """The node of highest gain, lowest id first; -1 where none has any."""
    best = np.int64(0)
    for v in range(gain.shape[0]):
        best = max(best, gain[v])
    if best == 0:
        return np.int64(-1)
    place = np.int64(0)
    while gain[place] != best:
        place += np.int64(1)
    return place


@inner_kernel()
def _in_order(bits, need, gain, first, following, candidates):
    """List the nodes with a gain as they come up in the topics in need; give their number."""
    for v in range(first.shape[0]):
        first[v] = -1
    for word in range(need.shape[0]):
        if need[word] != 0:
            for v in range(gain.shape[0]):
                common = bits[word, v] & need[word]
                if common != 0 and first[v] < 0:
                    first[v] = 64 * word + lowest_bit(common)
    for topic in range(following.shape[0]):
        following[topic] = 0
    found = np.int64(0)
    for v in range(gain.shape[0]):
        if gain[v] > 0:
            following[first[v] + 1] += 1
            found += 1
    for topic in range(following.shape[0] - 1):
        following[topic + 1] += following[topic]
    for v in range(gain.shape[0]):
        if gain[v] > 0:
            candidates[following[first[v]]] = v
            following[first[v]] += 1
    return found


@kernel()
def cover_by_bits(node_start, node_topics, topic_start, bits, greedy, random, max_degree, room, rng, ticks):
    """The links of `cover_topics`, from the words of `topic_words`."""
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    covered, degree, nodes = chains.covered, chains.degree, chains.degree.shape[0]
    gain, candidates = np.empty(nodes, np.int64), np.empty(nodes, np.int32)
    need, met = np.zeros(bits.shape[0], np.uint64), np.zeros(bits.shape[0], np.uint64)
    first, following = np.empty(nodes, np.int32), np.empty(topic_start.shape[0], np.int64)
    links = 0
    for u in range(nodes):
        if ticks[1] != 0:
            break
        close_neighbours(chains, u)
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            need[:] = 0
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    need[node_topics[i] >> 6] |= _ONE << np.uint64(node_topics[i] & 63)
            for v in range(nodes):
                gain[v] = _CLOSED if chains.closed_to[v] == u or degree[v] >= max_degree else 0
            _count(bits, need, np.int64(1), gain)
            found = _in_order(bits, need, gain, first, following, candidates) if by_chance else np.int64(0)
            while degree[u] < max_degree:
                if by_chance:
                    found, _ = sift(candidates[:found], u, gain, chains.closed_to)
                    chosen = np.int64(candidates[int(rng.random() * found)]) if found > 0 else np.int64(-1)
                else:
                    chosen = _most(gain)
                if chosen < 0:
                    break
                common = chain_link(chains, links, node_start, node_topics, u, chosen)
                links += 1
                gain[chosen] = _CLOSED
                met[:] = 0
                for k in range(common):
                    if covered[chains.of_u[k]] == enough:
                        topic = node_topics[chains.of_u[k]]
                        met[topic >> 6] |= _ONE << np.uint64(topic & 63)
                _count(bits, met, np.int64(-1), gain)
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()
