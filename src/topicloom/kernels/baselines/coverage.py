"""Coverage: nodes link to others until each of their topics is covered often enough.

A link covers every topic that both ends want, for both ends. What a candidate would cover is kept as a counter: up
by one for each topic in need, over all its members, and down again once the topic has enough. So the counters cost
a node twice the sizes of its topics, however many links it makes. Nodes that can take no more links leave the member
lists: with a small max_degree that is most of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.components import common_subscriptions
from topicloom.kernels.jit import inner_kernel, kernel


@inner_kernel()
def count_gains(
    node_start, node_topics, topic_start, open_nodes, open_end, covered, degree, gain, candidates, u, enough, max_degree
):
    """Count in `gain` how many topics of u in need a link with each other node would cover; list these nodes.

    Nodes that can take no more links leave the member lists on the way.
    """
    found = np.int64(0)
    for i in range(node_start[u], node_start[u + 1]):
        if covered[i] < enough:
            t = node_topics[i]
            kept = topic_start[t]
            for at in range(topic_start[t], open_end[t]):
                v = open_nodes[at]
                if degree[v] < max_degree:
                    open_nodes[kept] = v
                    kept += 1
                    if gain[v] == 0:
                        candidates[found] = v
                        found += 1
                    gain[v] += 1
            open_end[t] = kept
    return found


class LinkChains(NamedTuple):
    """Links so far. Those with a node whose turn is still to come form a chain from its last one back."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]  # by link: the one before it in the chain of its target
    last: npt.NDArray[np.int64]  # by node: the last one of its chain
    closed_to: npt.NDArray[np.int32]  # by node: the last one that may not link to it: a neighbour, or itself
    degree: npt.NDArray[np.int32]


@kernel()
def new_link_chains(nodes, room):
    """No links yet, and room for so many."""
    return LinkChains(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.int32),
    )


@kernel()
def close_neighbours(chains, u):
    """Begin the turn of u: it may link neither to itself nor to those that linked to it."""
    chains.closed_to[u] = u
    link = chains.last[u]
    while link >= 0:
        chains.closed_to[chains.source[link]] = u
        link = chains.before[link]


@kernel()
def chain_link(chains, links, u, chosen):
    """Write down the next link, of u whose turn it is; give how many there are then."""
    chains.source[links] = min(u, chosen)
    chains.target[links] = max(u, chosen)
    if u < chosen:
        chains.before[links] = chains.last[chosen]
        chains.last[chosen] = links
    chains.degree[u] += 1
    chains.degree[chosen] += 1
    chains.closed_to[chosen] = u
    return links + 1


@kernel()
def cover_topics(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which each node in turn covers its topics, first by gain, then by chance; at most `room` of them."""
    nodes = node_start.shape[0] - 1
    covered = np.zeros(node_topics.shape[0], np.int32)
    gain = np.zeros(nodes, np.int32)
    candidates = np.empty(nodes, np.int32)
    open_nodes = topic_nodes.copy()
    open_end = topic_start[1:].copy()
    chains = new_link_chains(nodes, room)
    degree = chains.degree
    links = 0
    longest = np.diff(node_start).max() if nodes > 0 else 0
    of_u = np.empty(longest, np.int64)
    of_v = np.empty(longest, np.int64)

    for u in range(nodes):
        if ticks[1] != 0:
            break
        close_neighbours(chains, u)
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            found = count_gains(
                node_start,
                node_topics,
                topic_start,
                open_nodes,
                open_end,
                covered,
                degree,
                gain,
                candidates,
                u,
                enough,
                max_degree,
            )
            while degree[u] < max_degree:
                found, chosen = sift(candidates[:found], u, gain, chains.closed_to)
                if found == 0:
                    break
                if by_chance:
                    chosen = candidates[int(rng.random() * found)]
                links = chain_link(chains, links, u, chosen)
                common = common_subscriptions(node_start, node_topics, u, chosen, of_u, of_v)
                for k in range(common):
                    covered[of_v[k]] += 1
                    covered[of_u[k]] += 1
                    if covered[of_u[k]] == enough:
                        t = node_topics[of_u[k]]
                        _lower(gain, open_nodes[topic_start[t] : open_end[t]])
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    t = node_topics[i]
                    _lower(gain, open_nodes[topic_start[t] : open_end[t]])
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()


@kernel()
def sift(candidates, u, gain, closed_to):
    """Keep the candidates that u may still link to; give their number and the one of highest gain, lowest id.

    One that drops out never comes back in this turn: gains only fall.
    """
    kept = 0
    best = -1
    for v in candidates:
        if gain[v] > 0 and closed_to[v] != u:
            candidates[kept] = v
            kept += 1
            if best < 0 or gain[v] > gain[best] or (gain[v] == gain[best] and v < best):
                best = v
    return kept, best


@kernel()
def _lower(gain, members):
    """Take one from the gain of every member."""
    for v in members:
        gain[v] -= 1
